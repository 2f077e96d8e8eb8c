//! Protection against formula injection. A spreadsheet executes a cell of a CSV file that begins
//! like a formula, so a text from a stranger must not begin a cell in this way.

use std::borrow::Cow;

/// Returns the text with a `'` before each formula, so that a spreadsheet shows it as text.
///
/// A formula is escaped wherever a spreadsheet might start a cell: at the beginning, and after any
/// common separator, because not every spreadsheet splits at commas. Whitespace before the formula
/// is skipped.
///
/// ```
/// use petstore_domain::text::formulas::without_formulas;
///
/// assert_eq!(without_formulas("=1+1; -2"), "'=1+1; '-2");
/// assert_eq!(without_formulas("Anna-Lena"), "Anna-Lena");
/// ```
pub fn without_formulas(text: &str) -> Cow<'_, str> {
    let mut safe_text = String::new();
    // How much of `text` has been copied to `safe_text`, in bytes.
    let mut copied_length = 0;
    let mut is_cell_start = true;
    for (position, character) in text.char_indices() {
        if is_cell_start && begins_formula(character) {
            safe_text.push_str(&text[copied_length..position]);
            safe_text.push('\'');
            copied_length = position;
        }
        is_cell_start = separates_cells(character) || (is_cell_start && character.is_whitespace());
    }

    if safe_text.is_empty() {
        return text.into();
    }
    safe_text.push_str(&text[copied_length..]);
    safe_text.into()
}

/// Whether a cell that begins with this character is a formula. Spreadsheets also accept the
/// full-width forms.
fn begins_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
}

/// Whether a spreadsheet might start a new cell after this character.
fn separates_cells(character: char) -> bool {
    matches!(character, ',' | ';' | '|' | '"') || character.is_control()
}
