//! Text validation that several types share.

use jiff::civil::Date;

use crate::text::readable::is_ignored_by_fonts;

/// Whether a text is an existing date in the form YYYY-MM-DD, such as `2024-02-29`.
pub fn is_date(text: &str) -> bool {
    // The length excludes years before 0, which are written with more digits.
    text.len() == 10
        && text
            .parse::<Date>()
            .is_ok_and(|date| date.to_string() == text)
}

/// Whether a text can be the value of a choice: it has at most 64 characters, one of them visible,
/// and no U+0000.
pub(super) fn is_choice(text: &str) -> bool {
    is_text(text, 64)
}

/// Whether a text has at most `max` characters, one of them visible, and no U+0000.
pub(super) fn is_text(text: &str, max: usize) -> bool {
    text.chars().nth(max).is_none()
        && !text.contains('\0')
        && text.chars().any(is_visible_character)
}

/// Whether a text has at most `max` characters, one of them visible, and no control characters
/// except line breaks.
pub(super) fn is_paragraph(text: &str, max: usize) -> bool {
    let has_control_character = text
        .chars()
        .any(|character| character.is_control() && !matches!(character, '\n' | '\r'));
    text.chars().nth(max).is_none()
        && text.chars().any(is_visible_character)
        && !has_control_character
}

/// Whether a character is visible on its own: neither whitespace, nor a control character, nor
/// ignored by fonts.
pub(super) fn is_visible_character(character: char) -> bool {
    !is_ignored_by_fonts(character) && !character.is_whitespace() && !character.is_control()
}
