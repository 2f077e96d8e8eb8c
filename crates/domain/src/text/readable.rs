//! Texts of others, as people can read them.

/// How many characters of a name a list shows.
pub const SHORT_LENGTH: usize = 60;

/// How many characters of a text its own page shows.
pub const LONG_LENGTH: usize = 1000;

/// Returns a text as people can read it: without control characters, which could hide or reorder
/// what follows, and at most so many characters.
pub fn readable(text: &str, longest: usize) -> String {
    // Most texts. All bytes of one, because processors look at 16 at once if none ends the search.
    let is_plain = |text: &&str| {
        text.bytes()
            .fold(true, |is, byte| is & matches!(byte, b' '..=b'~'))
    };
    if let Some(begin) = text.get(..text.len().min(longest)).filter(is_plain) {
        let is_whole = begin.len() == text.len();
        return if is_whole {
            text.to_owned()
        } else {
            [begin, "…"].concat()
        };
    }
    let visible = |character: char| match character {
        '\t' | '\n' | '\r' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other if other.is_control() => '\u{fffd}',
        other => other,
    };
    let mut shown: String = text.chars().take(longest).map(visible).collect();
    if text.chars().nth(longest).is_some() {
        shown.push('…');
    }
    shown
}

/// Whether people see anything of a text: a character that is neither a space nor ignored by fonts
/// (`Default_Ignorable_Code_Point` of Unicode).
pub fn is_visible(text: &str) -> bool {
    text.chars().any(|character| {
        !character.is_whitespace()
            && !matches!(
                character,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                    | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
                    | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}'
            )
    })
}
