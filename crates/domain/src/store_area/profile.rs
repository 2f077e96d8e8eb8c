//! What a store says about itself: its profile, and the changes of it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use url::Url;

use super::{
    Act, ActType, Currency, JournalSubject, Logo, NewLogo, Patch, Preconditions, SubjectKind,
    kind::is_visible,
};
use crate::words::words;

/// The languages of the window and the console (BCP 47), each with the folder of its texts.
#[macro_export]
macro_rules! each_language {
    ($with:ident) => {
        $with! {
            English = "en" in en,
            German = "de" in de,
            French = "fr" in fr,
            Spanish = "es" in es,
        }
    };
}
pub use each_language;

macro_rules! language {
    ($($language:ident = $code:literal in $folder:ident,)+) => {
        words! {
            /// A language of the window and the console.
            pub enum Language {
                $($language = $code,)+
            }
        }
    };
}
each_language!(language);

words! {
    /// What a sale is called, and a customer.
    pub enum StoreKind {
        Shop = "shop",
        Shelter = "shelter",
    }
}

words! {
    /// A first step of a new store whose end nothing else shows.
    pub enum FirstStep {
        Import = "import",
        Window = "window",
        /// Somebody wants to see none any more.
        All = "all",
    }
}

/// Declares texts with a rule.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident: $is:literal, |$text:ident| $is_valid:expr;)+) => {
        $($(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The rule, as in "must be …".
            pub const RULE: &'static str = $is;

            /// `None` if the text does not follow the rule.
            pub fn new(text: String) -> Option<Self> {
                let $text = text.as_str();
                $is_valid.then_some(Self(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        })+
    };
}

texts! {
    StoreName: "a string of 1 to 120 characters, one of them visible, without control characters",
        |text| is_line(text, 120);
    LinkLabel: "a string of 1 to 60 characters, one of them visible, without control characters",
        |text| is_line(text, 60);
    /// Without a test whether it exists.
    EmailAddress: "an e-mail address of at most 254 characters, with one @ and without white space",
        |text| is_line(text, 254) && !text.contains(char::is_whitespace) && is_mailbox(text);
    TelephoneNumber: "a telephone number of 3 to 40 characters: at least 3 digits, spaces, and + - ( ) / .",
        |text| {
            text.len() <= 40
                && text.bytes().filter(u8::is_ascii_digit).count() >= 3
                && text.bytes().all(|byte| byte.is_ascii_digit() || b" +-()/.".contains(&byte))
        };
    /// `{id}` in it becomes the number of the animal.
    ContactPage: "an https URL of at most 500 characters; {id} in its path or its query becomes the number of the animal",
        // No server and no port has this character.
        |text| is_https(&text.replace("{id}", "^"), text);
    LinkUrl: "an https URL of at most 500 characters", |text| is_https(text, text);
    Address: "a string of 1 to 500 characters, one of them visible, without control characters other than line breaks",
        |text| is_paragraph(text, 500);
    About: "a string of 1 to 2000 characters, one of them visible, without control characters other than line breaks",
        |text| is_paragraph(text, About::MAX);
    Colour: "a colour of the form #rrggbb, such as #2f6f4f",
        |text| text.strip_prefix('#').is_some_and(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
}

impl About {
    /// In characters.
    pub const MAX: usize = 2_000;
}

/// An imprint, a page about privacy, how to adopt an animal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub label: LinkLabel,
    pub url: LinkUrl,
}

/// At most [`Links::MAX`] of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links(Vec<Link>);

impl Links {
    pub const MAX: usize = 8;

    /// `None` if there are too many.
    pub fn new(links: Vec<Link>) -> Option<Self> {
        (links.len() <= Self::MAX).then_some(Self(links))
    }

    pub fn all(&self) -> &[Link] {
        &self.0
    }
}

/// Declares the members of a profile, each with its name in JSON.
macro_rules! profile {
    ($($(#[$about:meta])* $member:ident $name:literal: $type:ty,)+) => {
        /// What a store says about itself. A member without a value falls back to the option of
        /// `serve`, then to the default.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Profile {
            $($(#[$about])* pub $member: Option<$type>,)+
            pub logo: Option<Logo>,
            /// From 1, one higher with each change.
            pub version: i64,
        }

        /// A change of it (RFC 7396).
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct ProfilePatch {
            $(pub $member: Patch<$type>,)+
        }

        impl Profile {
            /// Whether it says nothing.
            pub fn is_empty(&self) -> bool {
                self.differences(&Self::default()).is_empty()
            }

            /// Returns the profile with this change, and the same version.
            pub fn with_patch(&self, patch: &ProfilePatch) -> Self {
                let mut after = self.clone();
                $(patch.$member.apply(&mut after.$member);)+
                after.links = after.links.filter(|links| !links.all().is_empty());
                after
            }

            /// Returns the names of the members that differ.
            fn differences(&self, other: &Self) -> Vec<&'static str> {
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
    /// The accent of the window.
    colour "colour": Colour,
    kind "kind": StoreKind,
}

/// A change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChange {
    Patch(Box<ProfilePatch>),
    /// Another logo, or none.
    Logo(Option<NewLogo>),
}

/// What follows from a change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileDecision {
    /// The profile after the change.
    pub profile: Profile,
    /// The file of a new logo.
    pub png: Option<Vec<u8>>,
    /// `None` if nothing changes. It names the members and not their values, because the audit trail
    /// would keep a telephone number for longer than the store wants.
    pub act: Option<Act>,
}

/// Why the profile is not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileRefusal {
    PreconditionRequired,
    /// It has another version. This is the present one.
    PreconditionFailed(Box<Profile>),
}

/// Decides about a change of the profile.
pub fn decide_profile(
    change: &ProfileChange,
    preconditions: &Preconditions,
    present: &Profile,
) -> Result<ProfileDecision, ProfileRefusal> {
    match (change, preconditions.are_given()) {
        (ProfileChange::Patch(_), false) => return Err(ProfileRefusal::PreconditionRequired),
        (_, true) if !preconditions.hold_for(Some(present.version)) => {
            return Err(ProfileRefusal::PreconditionFailed(Box::new(
                present.clone(),
            )));
        }
        _ => {}
    }
    let (mut profile, png) = match change {
        ProfileChange::Patch(patch) => (present.with_patch(patch), None),
        ProfileChange::Logo(new) => {
            let logo = new.as_ref().map(|new| new.logo);
            (
                Profile {
                    logo,
                    ..present.clone()
                },
                new.as_ref().map(|new| new.png.clone()),
            )
        }
    };
    let different = present.differences(&profile);
    if different.is_empty() {
        return Ok(ProfileDecision {
            profile,
            png: None,
            act: None,
        });
    }
    profile.version += 1;
    let subject = JournalSubject {
        kind: SubjectKind::Profile.into(),
        id: None,
    };
    let details = vec![("members".into(), different.join(", "))];
    let act = Act {
        kind: ActType::ProfileChanged.into(),
        subject,
        details,
    };
    Ok(ProfileDecision {
        profile,
        png,
        act: Some(act),
    })
}

fn is_line(text: &str, max: usize) -> bool {
    is_paragraph(text, max) && !text.contains(['\n', '\r'])
}

fn is_paragraph(text: &str, max: usize) -> bool {
    let is_wrong = |character: char| character.is_control() && !matches!(character, '\n' | '\r');
    text.chars().nth(max).is_none() && text.chars().any(is_visible) && !text.contains(is_wrong)
}

fn is_mailbox(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
}

/// Whether it is an address without credentials. `written`: as the store wrote it.
fn is_https(address: &str, written: &str) -> bool {
    let is_short = written.chars().nth(500).is_none();
    is_short
        && !written.contains(|character: char| character.is_control() || character.is_whitespace())
        && Url::parse(address).is_ok_and(|url| {
            url.scheme() == "https" && url.username().is_empty() && url.password().is_none()
        })
}
