//! The text types of a store's profile, each with its validation rule.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use url::Url;

use super::valid_text::is_paragraph;

/// Declares text types, each with its rule and the function that validates it.
///
/// For example, `Colour: "a colour of the form #rrggbb, such as #2f6f4f", is_colour;` declares a
/// struct `Colour` with `Colour::RULE`, `Colour::new` and `Colour::as_str`. `Colour::new` returns
/// `None` unless `is_colour` accepts the text.
macro_rules! text_types {
    ($($(#[$attribute:meta])* $name:ident: $rule:literal, $is_valid:expr;)+) => {
        $($(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The rule, phrased to follow "… must be".
            pub const RULE: &'static str = $rule;

            /// Validates the text; `None` if it does not follow the rule.
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
    /// An e-mail address. Only its form is validated.
    EmailAddress: "an e-mail address of at most 254 characters, with one @ and without white space",
        is_email_address;
    TelephoneNumber: "a telephone number of 3 to 40 characters: at least 3 digits, spaces, and + - ( ) / .",
        is_telephone_number;
    /// The URL of the store's contact page. `{id}` is replaced by the number of the animal.
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

/// A link to a page of the store, such as its imprint or its adoption procedure.
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

/// The maximum length of an e-mail address, in characters (RFC 3696, erratum 1690).
const MAX_EMAIL_LENGTH: usize = 254;

/// The maximum length of a telephone number, in characters.
const MAX_TELEPHONE_LENGTH: usize = 40;

/// The maximum length of a URL, in characters.
const MAX_URL_LENGTH: usize = 500;

/// Whether a text is a single line of at most `max` characters, one of them visible, without
/// control characters.
fn is_line(text: &str, max: usize) -> bool {
    is_paragraph(text, max) && !text.contains(['\n', '\r'])
}

/// Whether a text has the form of an e-mail address: a name and a host, separated by the only `@`.
fn is_email_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    is_line(text, MAX_EMAIL_LENGTH)
        && !text.contains(char::is_whitespace)
        && !name.is_empty()
        && !host.is_empty()
        && !host.contains('@')
}

/// Whether a text consists of at least three digits, and of characters that people write between
/// them.
fn is_telephone_number(text: &str) -> bool {
    let digit_count = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() <= MAX_TELEPHONE_LENGTH
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

/// Whether a text is an https URL in which `{id}` occurs only in the path or query, if at all.
fn is_contact_page(text: &str) -> bool {
    // A URL parser rejects `^` in a host or a port, but not in the path or the query.
    is_short_url_text(text) && is_https_without_credentials(&text.replace("{id}", "^"))
}

/// Whether a text has at most 500 characters, and no whitespace or control characters.
fn is_short_url_text(text: &str) -> bool {
    text.chars().nth(MAX_URL_LENGTH).is_none()
        && !text.contains(|character: char| character.is_control() || character.is_whitespace())
}

/// Whether a text is an https URL without a user name and a password.
fn is_https_without_credentials(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        url.scheme() == "https" && url.username().is_empty() && url.password().is_none()
    })
}
