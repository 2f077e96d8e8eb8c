//! The address for questions that an operator chooses.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::str::FromStr;

use url::Url;

/// The address at which somebody asks for an animal: the URL of a page, a mail address or a telephone number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactUrl(Url);

impl ContactUrl {
    /// Returns the address for a question about this animal. A mail gets the animal as its subject:
    /// `mailto:hello@shop.example` becomes `mailto:hello@shop.example?subject=Lucky%20Luke`.
    pub fn question_url(&self, animal: &str) -> String {
        let mut url = self.0.clone();
        if url.scheme() == "mailto" && url.query().is_none() {
            let subject = percent_encoding::utf8_percent_encode(animal, SUBJECT);
            url.set_query(Some(&format!("subject={subject}")));
        }
        url.into()
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the address as people write it: `+49301234567` for `tel:+49301234567`.
    pub fn display_text(&self) -> &str {
        let url = self.as_str();
        url.strip_prefix("mailto:")
            .or(url.strip_prefix("tel:"))
            .unwrap_or(url)
    }
}

/// Characters that a subject contains only percent-encoded (RFC 6068, section 2).
const SUBJECT: &percent_encoding::AsciiSet = percent_encoding::NON_ALPHANUMERIC;

impl FromStr for ContactUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = "a contact is an https, mailto or tel URL, such as https://shop.example/contact, \
                    mailto:hello@shop.example or tel:+49301234567";
        let url = Url::parse(text).map_err(|error| format!("{error}; {rule}"))?;
        let is_valid = match url.scheme() {
            "https" => url.username().is_empty() && url.password().is_none(),
            "mailto" => is_mailbox(url.path()),
            "tel" => is_telephone_number(url.path()),
            _ => false,
        };
        if is_valid {
            Ok(Self(url))
        } else {
            Err(rule.to_owned())
        }
    }
}

fn is_mailbox(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
}

/// Whether a text such as `+49-30-1234567` has at least three digits, and else only a plus at its beginning and `-.()`.
fn is_telephone_number(text: &str) -> bool {
    let number = text.strip_prefix('+').unwrap_or(text);
    let digit_count = number.bytes().filter(u8::is_ascii_digit).count();
    digit_count >= 3
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-.()".contains(&byte))
}
