//! The profile of a store, which the store says about itself.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    About, Address, Colour, ContactPage, ContractText, Currency, EmailAddress, Language, Links,
    Logo, Patch, StoreName, StoreTimeZone, TelephoneNumber,
};
use crate::words::words;

words! {
    /// The kind of a store, which decides the words of its pages: an animal of a shop is sold, and an animal of a shelter
    /// is adopted.
    pub enum StoreKind {
        Shop = "shop",
        Shelter = "shelter",
    }
}

words! {
    /// A first step of a new store that no other data shows to be done.
    pub enum FirstStep {
        Import = "import",
        Window = "window",
        /// All steps: somebody has hidden them.
        All = "all",
    }
}

/// Declares the members of a profile, each with its name in JSON and its type.
///
/// `about "about": About,` becomes the member `about: Option<About>` of [`Profile`] and the member `about: Patch<About>` of
/// [`ProfilePatch`]. [`Profile::with_patch`] applies it, and the audit trail names it `about` when it changes.
macro_rules! profile {
    ($($(#[$about:meta])* $member:ident $name:literal: $type:ty,)+) => {
        /// The profile of a store, which the store says about itself. A member without a value falls back to the option of
        /// `serve`, then to the default.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Profile {
            $($(#[$about])* pub $member: Option<$type>,)+
            pub logo: Option<Logo>,
            /// From 1, one higher with each change.
            pub version: i64,
        }

        /// A change of a profile (RFC 7396).
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct ProfilePatch {
            $(pub $member: Patch<$type>,)+
        }

        impl Profile {
            /// Whether no member has a value.
            pub fn is_empty(&self) -> bool {
                self.differences(&Self::default()).is_empty()
            }

            /// Returns the profile with this change, in the same version. An empty list of links becomes none.
            pub fn with_patch(&self, patch: &ProfilePatch) -> Self {
                let mut after = self.clone();
                $(patch.$member.apply(&mut after.$member);)+
                if after.links.as_ref().is_some_and(|links| links.all().is_empty()) {
                    after.links = None;
                }
                after
            }

            /// Returns the names of the members that differ.
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
    /// The time zone of the days of the store.
    time_zone "timeZone": StoreTimeZone,
    /// The text of the contract on the paper of an order, which is not public.
    contract "contract": ContractText,
}
