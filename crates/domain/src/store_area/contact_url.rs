//! The address for questions that an operator chooses.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::str::FromStr;

use url::Url;

/// The address at which somebody asks for an animal: of a page, for mail, or of a telephone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactUrl(Url);

impl ContactUrl {
    /// Returns the address for a question about this animal. A mail gets a subject.
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

    /// Returns the address as people write it.
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
        let form = "a contact is an https, mailto or tel URL, such as https://shop.example/contact, \
                    mailto:hello@shop.example or tel:+49301234567";
        let url = Url::parse(text).map_err(|error| format!("{error}; {form}"))?;
        let is_valid = match url.scheme() {
            "https" => url.username().is_empty() && url.password().is_none(),
            "mailto" => url
                .path()
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
            "tel" => {
                let number = url.path().strip_prefix('+').unwrap_or(url.path());
                number.bytes().filter(u8::is_ascii_digit).count() >= 3
                    && number
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || b"-.()".contains(&byte))
            }
            _ => false,
        };
        if is_valid {
            Ok(Self(url))
        } else {
            Err(form.to_owned())
        }
    }
}
