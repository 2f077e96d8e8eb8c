//! The names of the staff, and other texts of one line that must show what they are.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::store_area::search_key;

/// The name with which a member of the staff signs in: one line of 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffName(String);

impl StaffName {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Returns the name without spaces around it; `None` if it is not allowed. See [`parse_line`].
    pub fn new(text: &str) -> Option<Self> {
        parse_line(text, Self::MAX_LENGTH).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name without regard to case and accents, which no two members share.
    pub fn key(&self) -> String {
        search_key(&self.0)
    }
}

/// Returns a line of 1 to `max_length` characters without spaces around it; `None` if it is empty, too long, or has
/// characters that nobody sees. Characters that change the direction of text could show one name as another.
pub fn parse_line(text: &str, max_length: usize) -> Option<String> {
    let line = text.trim();
    let has_valid_length = (1..=max_length).contains(&line.chars().count());
    let has_visible_key = !search_key(line).trim().is_empty();
    let is_allowed = has_valid_length && has_visible_key && !line.contains(is_hidden);
    is_allowed.then(|| line.to_owned())
}

/// Whether a character is a control character, or changes the direction or the breaks of text.
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
