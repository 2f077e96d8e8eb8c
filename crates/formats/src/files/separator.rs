//! The character between the cells of a table, which a spreadsheet chooses by the language of its user.

use petstore_domain::words::words;

words! {
    /// The character between the cells of a table.
    pub enum Separator {
        /// Between the cells of a file by RFC 4180.
        Comma = "comma",
        /// Between the cells of a file that Excel saves in a language with a decimal comma.
        Semicolon = "semicolon",
        /// Between the cells that a spreadsheet copies.
        Tab = "tab",
    }
}

impl Separator {
    /// Returns the character.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// The byte order mark, which some programs write at the beginning of a text.
pub(super) const BYTE_ORDER_MARK: &str = "\u{FEFF}";
