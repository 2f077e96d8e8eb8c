//! The character between the cells of a table. Spreadsheets choose it by the language of their
//! user.

use petstore_domain::named_enum::named_enum;

named_enum! {
    /// The character between the cells of a table.
    pub enum Separator {
        /// The separator of RFC 4180.
        Comma = "comma",
        /// The separator of files that Excel saves in a language with a decimal comma.
        Semicolon = "semicolon",
        /// The separator of cells that are copied from a spreadsheet.
        Tab = "tab",
    }
}

impl Separator {
    /// Returns the character as a byte of UTF-8.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// The byte order mark, which some programs write at the beginning of a file.
pub(super) const BYTE_ORDER_MARK: &str = "\u{FEFF}";
