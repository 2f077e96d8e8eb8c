//! The profile of a store: its name, contact data, language and appearance.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use super::{
    About, Address, Colour, ContactPage, ContractText, Currency, EmailAddress, Language, Links,
    Logo, Patch, StoreName, StoreTimeZone, TelephoneNumber,
};
use crate::named_enum::named_enum;

named_enum! {
    /// The kind of a store, which determines the wording of its pages: a shop sells animals, and a
    /// shelter places them for adoption.
    pub enum StoreKind {
        Shop = "shop",
        Shelter = "shelter",
    }
}

named_enum! {
    /// A setup step of a new store whose completion must be recorded, because no other data shows
    /// it.
    pub enum FirstStep {
        Import = "import",
        Window = "window",
        /// All steps. Recorded when somebody hides the list of steps.
        All = "all",
    }
}

/// Declares the members of a profile, each with its JSON name and its type.
///
/// For example, `about "about": About,` declares `about: Option<About>` in [`Profile`] and
/// `about: Patch<About>` in [`ProfilePatch`]. [`Profile::with_patch`] applies the patch, and the
/// audit trail lists the member as `about` when it changes.
macro_rules! profile {
    ($($(#[$attribute:meta])* $member:ident $name:literal: $type:ty,)+) => {
        /// The profile of a store, as the store presents itself. A member without a value falls
        /// back to the corresponding option of `petstore serve`, and then to the default.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Profile {
            $($(#[$attribute])* pub $member: Option<$type>,)+
            pub logo: Option<Logo>,
            /// Starts at 1 and increases by one with each change.
            pub version: i64,
        }

        /// A merge patch of a profile (RFC 7396).
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct ProfilePatch {
            $(pub $member: Patch<$type>,)+
        }

        impl Profile {
            /// Whether no member has a value.
            pub fn is_empty(&self) -> bool {
                self.differences(&Self::default()).is_empty()
            }

            /// Returns the patched profile. Its version does not increase yet. An empty list of
            /// links becomes `None`.
            pub fn with_patch(&self, patch: &ProfilePatch) -> Self {
                let mut after = self.clone();
                $(patch.$member.apply(&mut after.$member);)+
                if after.links.as_ref().is_some_and(|links| links.all().is_empty()) {
                    after.links = None;
                }
                after
            }

            /// Returns the JSON names of the members that differ.
            pub(super) fn differences(&self, other: &Self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$member != other.$member {
                    names.push($name);
                })+
                if self.logo != other.logo {
                    names.push("logo");
                }
                names
            }
        }
    };
}

profile! {
    name "name": StoreName,
    language "language": Language,
    currency "currency": Currency,
    email "email": EmailAddress,
    telephone "telephone": TelephoneNumber,
    contact_page "contactPage": ContactPage,
    address "address": Address,
    hours "hours": Address,
    about "about": About,
    links "links": Links,
    /// The accent colour of the window.
    colour "colour": Colour,
    kind "kind": StoreKind,
    /// The time zone that determines when a day begins and ends.
    time_zone "timeZone": StoreTimeZone,
    /// The text of the contract that is printed for an order. Not public.
    contract "contract": ContractText,
}
