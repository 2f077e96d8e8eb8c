//! Display of untrusted text, without characters that could mislead the reader.

/// The maximum length of a name in a list, in characters.
pub const SHORT_LENGTH: usize = 60;

/// The maximum length of a text on its own page, in characters.
pub const LONG_LENGTH: usize = 1000;

/// Returns a text in a form that is safe to display: on one line, and with at most `max_length` of
/// its characters, then an ellipsis if this is not the whole text. U+FFFD replaces each character
/// that could hide or reorder the text after it.
///
/// ```
/// use petstore_domain::text::readable::readable;
///
/// assert_eq!(readable("Lucky\nLuke", 60), "Lucky Luke");
/// assert_eq!(readable("Lucky Luke", 5), "Lucky…");
/// ```
pub fn readable(text: &str, max_length: usize) -> String {
    // Fast path: in printable ASCII, which most texts are, each byte is one character.
    if let Some(beginning) = text.get(..text.len().min(max_length))
        && is_printable_ascii(beginning)
    {
        let is_cut = beginning.len() < text.len();
        return if is_cut {
            [beginning, "…"].concat()
        } else {
            text.to_owned()
        };
    }

    let mut readable_text: String = text
        .chars()
        .take(max_length)
        .map(readable_character)
        .collect();
    if text.chars().nth(max_length).is_some() {
        readable_text.push('…');
    }
    readable_text
}

/// Whether all characters of a text are printable ASCII.
fn is_printable_ascii(text: &str) -> bool {
    // Unlike `all`, a fold has no early exit, so the compiler can vectorize it.
    text.bytes().fold(true, |are_plain, byte| {
        are_plain & matches!(byte, b' '..=b'~')
    })
}

/// Returns a space for a line break or a tab, and U+FFFD for any other control character and for
/// characters that change the direction of text.
fn readable_character(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        control if control.is_control() => '\u{fffd}',
        visible => visible,
    }
}

/// Whether a text contains a visible character, which is neither whitespace nor ignored by fonts.
pub fn is_visible(text: &str) -> bool {
    text.chars()
        .any(|character| !character.is_whitespace() && !is_ignored_by_fonts(character))
}

/// Whether a character is rendered as nothing: it is a `Default_Ignorable_Code_Point` of Unicode,
/// or the empty braille pattern.
pub(crate) fn is_ignored_by_fonts(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}
