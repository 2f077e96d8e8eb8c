//! The profile of a store, which the store says about itself, and its changes.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use url::Url;

use super::{
    Act, ActType, ContractText, Currency, JournalSubject, Logo, NewLogo, Patch, Preconditions,
    StoreTimeZone, SubjectKind, valid_text::is_paragraph,
};
use crate::words::words;

/// Passes the languages of the window and the console to the macro `with`: the name of each, its code (BCP 47), and the
/// folder of its texts.
///
/// `each_language!(language)` becomes `language! { English = "en" in en, German = "de" in de, … }`. So a new language is
/// one line here.
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

/// Declares the enumeration of the languages. Used only with [`each_language!`].
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

/// Declares types of texts, each with the rule for its text, and the function that checks the rule.
///
/// `Colour: "a colour of the form #rrggbb, such as #2f6f4f", is_colour;` becomes a struct `Colour` with a private text, the
/// constant `Colour::RULE` with the rule, `Colour::new`, which returns `None` unless `is_colour` returns true, and
/// `Colour::as_str`.
macro_rules! text_types {
    ($($(#[$about:meta])* $name:ident: $rule:literal, $is_valid:expr;)+) => {
        $($(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The rule, which completes the sentence "… must be".
            pub const RULE: &'static str = $rule;

            /// Returns the text; `None` if it does not follow the rule.
            pub fn new(text: String) -> Option<Self> {
                let is_valid: fn(&str) -> bool = $is_valid;
                is_valid(&text).then_some(Self(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        })+
    };
}

text_types! {
    StoreName: "a string of 1 to 120 characters, one of them visible, without control characters",
        |text| is_line(text, 120);
    LinkLabel: "a string of 1 to 60 characters, one of them visible, without control characters",
        |text| is_line(text, 60);
    /// An e-mail address. Nothing tests whether it exists.
    EmailAddress: "an e-mail address of at most 254 characters, with one @ and without white space",
        is_email_address;
    TelephoneNumber: "a telephone number of 3 to 40 characters: at least 3 digits, spaces, and + - ( ) / .",
        is_telephone_number;
    /// The URL of a page for questions. `{id}` in it becomes the number of the animal.
    ContactPage: "an https URL of at most 500 characters; {id} in its path or its query becomes the number of the animal",
        is_contact_page;
    LinkUrl: "an https URL of at most 500 characters", is_https_url;
    Address: "a string of 1 to 500 characters, one of them visible, without control characters other than line breaks",
        |text| is_paragraph(text, 500);
    About: "a string of 1 to 2000 characters, one of them visible, without control characters other than line breaks",
        |text| is_paragraph(text, About::MAX);
    Colour: "a colour of the form #rrggbb, such as #2f6f4f", is_colour;
}

impl About {
    /// The maximum length, in characters.
    pub const MAX: usize = 2_000;
}

/// A link to a page of the store, such as its imprint, or how to adopt an animal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub label: LinkLabel,
    pub url: LinkUrl,
}

/// The links of a store, at most [`Links::MAX`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links(Vec<Link>);

impl Links {
    pub const MAX: usize = 8;

    /// Returns the links; `None` if there are too many.
    pub fn new(links: Vec<Link>) -> Option<Self> {
        (links.len() <= Self::MAX).then_some(Self(links))
    }

    pub fn all(&self) -> &[Link] {
        &self.0
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
    /// The accent colour of the window.
    colour "colour": Colour,
    kind "kind": StoreKind,
    /// The time zone of the days of the store.
    time_zone "timeZone": StoreTimeZone,
    /// The text of the contract on the paper of an order, which is not public.
    contract "contract": ContractText,
}

/// A change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChange {
    Patch(Box<ProfilePatch>),
    /// Replaces the logo, or removes it.
    Logo(Option<NewLogo>),
}

impl ProfileChange {
    /// Returns the profile with this change, in the same version.
    fn apply(&self, present: &Profile) -> Profile {
        match self {
            Self::Patch(patch) => present.with_patch(patch),
            Self::Logo(new_logo) => Profile {
                logo: new_logo.as_ref().map(|new_logo| new_logo.logo),
                ..present.clone()
            },
        }
    }

    /// Returns the content of the file of a new logo.
    fn new_png(&self) -> Option<Vec<u8>> {
        match self {
            Self::Logo(Some(new_logo)) => Some(new_logo.png.clone()),
            Self::Logo(None) | Self::Patch(_) => None,
        }
    }
}

/// The result of a change of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileDecision {
    /// The profile after the change.
    pub profile: Profile,
    /// The file of a new logo.
    pub png: Option<Vec<u8>>,
    /// The act for the audit trail; `None` if nothing changes. It names the members and not their values, because the
    /// audit trail would keep a telephone number for longer than the store wants.
    pub act: Option<Act>,
}

/// The reason why a profile is not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileRefusal {
    PreconditionRequired,
    /// The profile has another version than the change requires. This is the present profile.
    PreconditionFailed(Box<Profile>),
}

/// Decides what a change of the profile makes of it. A new logo needs no precondition.
pub fn decide_profile(
    change: &ProfileChange,
    preconditions: &Preconditions,
    present: &Profile,
) -> Result<ProfileDecision, ProfileRefusal> {
    let needs_preconditions = matches!(change, ProfileChange::Patch(_));
    if needs_preconditions && !preconditions.are_given() {
        return Err(ProfileRefusal::PreconditionRequired);
    }
    if !preconditions.hold_for(Some(present.version)) {
        let current = Box::new(present.clone());
        return Err(ProfileRefusal::PreconditionFailed(current));
    }

    let mut profile = change.apply(present);
    let changed_members = present.differences(&profile);
    if changed_members.is_empty() {
        return Ok(ProfileDecision {
            profile,
            png: None,
            act: None,
        });
    }

    profile.version += 1;
    Ok(ProfileDecision {
        profile,
        png: change.new_png(),
        act: Some(profile_act(&changed_members)),
    })
}

/// Returns the act for the audit trail, which names the changed members.
fn profile_act(changed_members: &[&str]) -> Act {
    Act {
        kind: ActType::ProfileChanged.into(),
        subject: JournalSubject {
            kind: SubjectKind::Profile.into(),
            id: None,
        },
        details: vec![("members".into(), changed_members.join(", "))],
    }
}

/// Whether a text is one line of at most `max` characters, one of them visible, without control characters.
fn is_line(text: &str, max: usize) -> bool {
    is_paragraph(text, max) && !text.contains(['\n', '\r'])
}

fn is_email_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    is_line(text, 254)
        && !text.contains(char::is_whitespace)
        && !name.is_empty()
        && !host.is_empty()
        && !host.contains('@')
}

fn is_telephone_number(text: &str) -> bool {
    let digit_count = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() <= 40
        && digit_count >= 3
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b" +-()/.".contains(&byte))
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

fn is_https_url(text: &str) -> bool {
    is_short_url_text(text) && is_https_without_credentials(text)
}

/// Whether a text is an https URL, if `{id}` stands in its path or its query.
fn is_contact_page(text: &str) -> bool {
    // No server and no port has the character `^`, so `{id}` in their place is rejected.
    is_short_url_text(text) && is_https_without_credentials(&text.replace("{id}", "^"))
}

fn is_short_url_text(text: &str) -> bool {
    text.chars().nth(500).is_none()
        && !text.contains(|character: char| character.is_control() || character.is_whitespace())
}

fn is_https_without_credentials(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        url.scheme() == "https" && url.username().is_empty() && url.password().is_none()
    })
}
