//! The customer's contact data in an order.

use std::fmt;

/// The customer's contact data, as the staff write it: 1 to 500 characters without U+0000, such as
/// "Anna Miller, 0171 555 01 23".
///
/// This is personal data, which is erased some time after the order closed. So what stays longer must
/// not have it: the log of changes, responses that are remembered, lines of the log.
#[derive(Clone, PartialEq, Eq)]
pub struct Contact(String);

impl Contact {
    /// The maximum length in characters.
    pub const MAX_LENGTH: usize = 500;

    /// `None` if the text is empty or too long, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        let is_valid = !text.is_empty()
            && text.chars().nth(Self::MAX_LENGTH).is_none()
            && !text.contains('\0');
        is_valid.then_some(Self(text))
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Without the text, so that no line of the log gets it.
impl fmt::Debug for Contact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Contact(..)")
    }
}
