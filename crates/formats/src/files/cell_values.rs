//! Parses the values of fields in the cells of a file.

use jiff::Timestamp;
use petstore_domain::store_area::{FieldDefinition, FieldValue};

use super::pet_columns::quote_beginning;
use crate::cells::{AmbiguousNumber, CellProblem, CellReader};

/// Parses the value of a field in a cell. Returns `None` for an empty cell. Does not reject dates
/// in the future, which the import checks later.
pub(super) fn parse_value(
    field: &FieldDefinition,
    cell: &str,
    reader: CellReader<'_>,
) -> Result<Option<FieldValue>, String> {
    let text = reader
        .read_cell(field, cell)
        .map_err(|problem| describe_problem(&problem, field, cell))?;
    if text.is_empty() {
        return Ok(None);
    }
    let requested = field.resolve_choice(field.parse_cell(&text));
    match field.validate(&requested, Timestamp::MAX) {
        Some(value) => Ok(Some(value)),
        None => Err(describe_invalid(field, cell)),
    }
}

/// Describes the problem of a cell that does not follow the rule of its field.
fn describe_invalid(field: &FieldDefinition, cell: &str) -> String {
    format!("{}, but was {}", field.rule(), quote_beginning(cell))
}

/// Describes the reason why a cell has no clear value.
fn describe_problem(problem: &CellProblem, field: &FieldDefinition, cell: &str) -> String {
    let quoted_cell = quote_beginning(cell);
    match problem {
        CellProblem::NoChoice => describe_invalid(field, cell),
        CellProblem::Date([first, second]) => {
            format!("{quoted_cell} can mean {first} or {second}; write the right one")
        }
        CellProblem::Number(AmbiguousNumber {
            whole,
            exact,
            exact_spelling,
        }) => {
            format!("{quoted_cell} can mean {whole} or {exact}; write {whole} or {exact_spelling}")
        }
        CellProblem::SpreadsheetError => describe_spreadsheet_error(cell),
        CellProblem::Shortened => format!(
            "has a number that a spreadsheet has shortened, so that its last digits are lost: \
             {quoted_cell}; in the spreadsheet, format the column as a number without decimals, and save \
             the file again"
        ),
    }
}

/// Describes the problem of a cell with an error value of a spreadsheet.
pub(super) fn describe_spreadsheet_error(cell: &str) -> String {
    format!(
        "has an error of the spreadsheet in place of a value: {}; correct its formula, widen the column if it shows #### \
         there, or empty the cell, and save the file again",
        quote_beginning(cell)
    )
}
