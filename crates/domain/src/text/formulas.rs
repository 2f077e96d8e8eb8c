//! Cells of CSV files that a spreadsheet would read as formulas.

use std::borrow::Cow;

/// Puts `'` before each character that begins a formula, wherever a cell may begin: a spreadsheet
/// may use another separator than the comma, and skip whitespace.
pub fn without_formulas(text: &str) -> Cow<'_, str> {
    let mut at_start = true;
    let mut changed = String::new();
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        if at_start && matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') {
            changed.push_str(&text[copied..at]);
            changed.push('\'');
            copied = at;
        }
        let separates = matches!(c, ',' | ';' | '|' | '"') || c.is_control();
        at_start = separates || (at_start && c.is_whitespace());
    }
    if copied == 0 && changed.is_empty() {
        return text.into();
    }
    changed.push_str(&text[copied..]);
    changed.into()
}
