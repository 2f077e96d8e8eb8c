//! Names of the staff, and other single-line texts that must not contain deceptive characters.

use crate::store_area::search_key;

/// The name with which a member of the staff signs in: a single line of 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffName(String);

impl StaffName {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Validates and trims a name; `None` if it is not allowed. See [`parse_line`].
    pub fn new(text: &str) -> Option<Self> {
        parse_line(text, Self::MAX_LENGTH).map(Self)
    }

    /// Returns the name as the member sees it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name without case and accents. It is unique among the staff.
    pub fn key(&self) -> String {
        search_key(&self.0)
    }
}

/// Validates and trims a single line; `None` if it is not allowed.
///
/// A line must have 1 to `max_length` characters, at least one of them visible. Hidden characters
/// are not allowed, because they could make one name look like another.
pub fn parse_line(text: &str, max_length: usize) -> Option<String> {
    let line = text.trim();
    let has_valid_length = (1..=max_length).contains(&line.chars().count());
    // The key of a text that consists only of accents is empty.
    let has_visible_key = !search_key(line).trim().is_empty();
    let is_allowed = has_valid_length && has_visible_key && !line.contains(is_hidden);
    is_allowed.then(|| line.to_owned())
}

/// Whether a character is a control character, or an invisible character that affects the direction
/// or the breaking of text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
        )
}
