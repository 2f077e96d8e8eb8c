//! Protection against formula injection: cells of a CSV file that a spreadsheet would execute as
//! formulas.

use std::borrow::Cow;

/// Escapes formulas with a leading `'`, at every position where a spreadsheet might start a cell:
/// at the beginning, and after any common separator, because not every spreadsheet splits at
/// commas. Whitespace before the formula is skipped.
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
