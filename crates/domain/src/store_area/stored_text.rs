//! Free text of limited length in animals, orders and notes, some of it private.

use std::fmt;

/// Unicode text of `MIN` to `MAX` characters (code points) without U+0000, which PostgreSQL cannot
/// store. `MIN` is 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MAX: usize, const MIN: usize = 0>(String);

impl<const MAX: usize, const MIN: usize> Text<MAX, MIN> {
    /// Validates a text; `None` if it is too short or too long, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        // `MIN` is at most 1, so the length in bytes is sufficient for the lower bound.
        let is_valid = text.len() >= MIN && text.chars().nth(MAX).is_none() && !text.contains('\0');
        is_valid.then_some(Self(text))
    }

    /// Returns the rule, phrased to follow "a string of": `1 to 500 characters without U+0000`.
    pub fn rule() -> String {
        if MIN == 0 {
            format!("at most {MAX} characters without U+0000")
        } else {
            format!("{MIN} to {MAX} characters without U+0000")
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that can contain personal data: 1 to `MAX` characters without U+0000.
///
/// Such a text is erased after some time. It must therefore never be copied to anything that is
/// kept longer, such as the journal, a remembered response or the log output of the service.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateText<const MAX: usize>(Text<MAX, 1>);

impl<const MAX: usize> PrivateText<MAX> {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = MAX;

    /// Validates a text; `None` if it is empty or too long, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        Text::new(text).map(Self)
    }

    /// Returns the rule, phrased to follow "a string of".
    pub fn rule() -> String {
        Text::<MAX, 1>::rule()
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl<const MAX: usize> fmt::Debug for PrivateText<MAX> {
    /// Hides the text, so that it cannot end up in the log output of the service.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PrivateText(..)")
    }
}
