//! Cells of CSV files that a spreadsheet would read as formulas.

use std::borrow::Cow;

/// Puts `'` before each character that begins a formula, wherever a cell may begin: a spreadsheet
/// may use another separator than the comma, and skip whitespace.
///
/// ```
/// use petstore_domain::text::formulas::without_formulas;
///
/// assert_eq!(without_formulas("=1+1; -2"), "'=1+1; '-2");
/// assert_eq!(without_formulas("Anna-Lena"), "Anna-Lena");
/// ```
pub fn without_formulas(text: &str) -> Cow<'_, str> {
    let mut safe_text = String::new();
    // The length of the part of `text` that `safe_text` has.
    let mut copied_length = 0;
    let mut is_cell_start = true;
    for (position, character) in text.char_indices() {
        let begins_formula = matches!(character, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠');
        if is_cell_start && begins_formula {
            safe_text.push_str(&text[copied_length..position]);
            safe_text.push('\'');
            copied_length = position;
        }
        let is_separator = matches!(character, ',' | ';' | '|' | '"') || character.is_control();
        is_cell_start = is_separator || (is_cell_start && character.is_whitespace());
    }

    if safe_text.is_empty() {
        return text.into();
    }
    safe_text.push_str(&text[copied_length..]);
    safe_text.into()
}
