//! Cells without a value: they have a word such as `N/A`, or an error value of a spreadsheet such
//! as `#REF!`.

use petstore_domain::store_area::{FieldKind, letters_and_digits};

use super::words::TableWords;

/// The error values of spreadsheets in English, German, French and Spanish, in capital letters.
/// Excel, Numbers, Sheets and Calc write them in place of a value.
#[rustfmt::skip]
const SPREADSHEET_ERRORS: &[&str] = &[
    "#N/A", "#NV", "#N/D",
    "#REF!", "#BEZUG!", "#¡REF!",
    "#NAME?", "#NOM?", "#¿NOMBRE?",
    "#VALUE!", "#WERT!", "#VALEUR!", "#¡VALOR!",
    "#DIV/0!", "#¡DIV/0!",
    "#NUM!", "#ZAHL!", "#NOMBRE!", "#¡NUM!",
    "#NULL!", "#NUL!", "#¡NULO!",
    "#SPILL!", "#ÜBERLAUF!", "#PROPAGATION!", "#EPARS!", "#¡DESBORDAMIENTO!",
    "#CALC!", "#KALK!", "#¡CALC!",
    "#FIELD!", "#FELD!", "#CHAMP!", "#¡CAMPO!",
    "#BLOCKED!", "#BLOCKIERT!", "#BLOQUE!", "#¡BLOQUEADO!",
    "#CONNECT!", "#VERBINDEN!", "#CONNEXION!", "#¡CONECTAR!",
    "#UNKNOWN!", "#UNBEKANNT!", "#INCONNU!", "#¡DESCONOCIDO!",
    "#BUSY!", "#ERROR!", "#GETTING_DATA",
];

/// The texts that programs write for a missing value, as keys by [`letters_and_digits`]: `NA`,
/// `N/A` and `<NA>` have the key `na`.
const MISSING_VALUES: [&str; 6] = ["na", "nan", "nat", "null", "none", "nil"];

/// The characters that people write for a missing value, once or repeatedly: `-`, `--`, `???`,
/// `./.`.
const SIGNS_FOR_NOTHING: &str = "-–—?.…/_";

/// The dashes that Excel can display in place of zero.
const DASHES: [&str; 3] = ["-", "–", "—"];

/// Whether a cell is an error value of a spreadsheet, such as `#REF!`, `#WERT!` or `Err:502`, or
/// `####` in place of a value that was wider than its column.
pub fn is_spreadsheet_error(cell: &str) -> bool {
    // All error values begin with `#` or `E`.
    if !cell.starts_with(['#', 'E']) {
        return false;
    }
    let is_too_wide = cell.len() >= 3 && cell.bytes().all(|byte| byte == b'#');
    if is_too_wide || is_calc_error(cell) {
        return true;
    }
    let upper_case = cell.to_uppercase();
    SPREADSHEET_ERRORS.contains(&upper_case.as_str())
}

/// Whether a cell is a numbered error of Calc, such as `Err:502`.
fn is_calc_error(cell: &str) -> bool {
    cell.strip_prefix("Err:")
        .is_some_and(|number| number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a cell is empty, or says that there is no value: `N/A`, `null`, `k. A.`, `unknown`, `-`
/// or `?`.
///
/// In a column of numbers, a dash does not count, because Excel can display zero as a dash.
pub(super) fn is_missing(kind: FieldKind, cell: &str, words: &TableWords) -> bool {
    let is_number = matches!(kind, FieldKind::Integer | FieldKind::Decimal);
    if is_number && DASHES.contains(&cell) {
        return false;
    }
    // This is also true for an empty cell.
    let has_only_signs = cell
        .chars()
        .all(|character| SIGNS_FOR_NOTHING.contains(character));
    if has_only_signs {
        return true;
    }
    let key = letters_and_digits(cell);
    // In a field for yes or no, a word such as `keiner` means no.
    let can_mean_no = kind == FieldKind::Boolean;
    MISSING_VALUES.contains(&key.as_str())
        || words.no_values.contains(&key)
        || (!can_mean_no && words.none_values.contains(&key))
}
