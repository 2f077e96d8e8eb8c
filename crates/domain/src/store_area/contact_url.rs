//! The contact address that an operator configures for questions.

use std::str::FromStr;

use url::Url;

/// The characters that must be percent-encoded in a subject (RFC 6068, section 2).
const ESCAPED_IN_SUBJECT: &percent_encoding::AsciiSet = percent_encoding::NON_ALPHANUMERIC;

/// The contact address for questions about animals: an `https`, `mailto` or `tel` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactUrl(Url);

impl ContactUrl {
    /// The rule, as error messages state it.
    const RULE: &str = "a contact is an https, mailto or tel URL, such as \
                        https://shop.example/contact, mailto:hello@shop.example or \
                        tel:+49301234567";

    /// Returns the URL for a question about the animal with this name. In a `mailto` URL, the name
    /// becomes the subject.
    ///
    /// `mailto:hello@shop.example` becomes `mailto:hello@shop.example?subject=Lucky%20Luke`.
    pub fn question_url(&self, pet_name: &str) -> String {
        let mut url = self.0.clone();
        if url.scheme() == "mailto" && url.query().is_none() {
            let subject = percent_encoding::utf8_percent_encode(pet_name, ESCAPED_IN_SUBJECT);
            url.set_query(Some(&format!("subject={subject}")));
        }
        url.into()
    }

    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the address for display, without the scheme of e-mail addresses and telephone
    /// numbers: `+49301234567` for `tel:+49301234567`.
    pub fn display_text(&self) -> &str {
        let url = self.as_str();
        url.strip_prefix("mailto:")
            .or(url.strip_prefix("tel:"))
            .unwrap_or(url)
    }
}

impl FromStr for ContactUrl {
    type Err = String;

    /// Validates a contact address. The error is a message for the operator.
    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}; {}", Self::RULE))?;
        let is_valid = match url.scheme() {
            "https" => url.username().is_empty() && url.password().is_none(),
            "mailto" => is_mailbox(url.path()),
            "tel" => is_telephone_number(url.path()),
            _ => false,
        };
        if is_valid {
            Ok(Self(url))
        } else {
            Err(Self::RULE.to_owned())
        }
    }
}

/// Whether a text has an `@` between a name and a host. A list of several mailboxes also passes.
fn is_mailbox(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
}

/// Whether a text such as `+49-30-1234567` consists of at least three digits, `-.()`, and
/// optionally a plus sign at the beginning.
fn is_telephone_number(text: &str) -> bool {
    let number = text.strip_prefix('+').unwrap_or(text);
    let digit_count = number.bytes().filter(u8::is_ascii_digit).count();
    digit_count >= 3
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-.()".contains(&byte))
}
