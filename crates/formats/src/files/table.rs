//! Tables that a person pastes: cells that were copied from a spreadsheet, or the text of a file.

use super::{
    separator::Separator,
    table_rows::{TableLimits, TableProblem, TableReader, TableRow},
    table_start::find_start,
};

/// A table, without its empty rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The first rows, up to the number that [`TableLimits`] allows.
    pub rows: Vec<TableRow>,
    /// The number of all rows.
    pub row_count: usize,
    /// The character that separates the cells.
    pub separator: Separator,
    /// The content of each title above the header, such as the name of a list.
    pub titles: Vec<String>,
}

/// Reads a pasted table. Reads the whole text, but keeps only the rows and cells that `limits`
/// allow.
///
/// `name,age` and `"Luke, Lucky",3` on the next line are two rows with two cells each. One cell is
/// `Luke, Lucky`.
///
/// `chosen_separator` is the separator that a person chose. If it is `None`, the separator is
/// detected with the help of `is_heading`, which says whether a cell is a known heading: see
/// `find_start`.
pub fn read_table(
    text: &str,
    limits: TableLimits,
    chosen_separator: Option<Separator>,
    is_heading: &dyn Fn(&str) -> bool,
) -> Result<Table, TableProblem> {
    let start = find_start(text, chosen_separator, is_heading);
    let mut reader = TableReader::new(text, &start);
    let mut table = Table {
        rows: Vec::new(),
        row_count: 0,
        separator: start.separator,
        titles: start.titles,
    };

    while let Some(row) = reader.read_row(limits.columns)? {
        if row.is_empty() {
            continue;
        }
        table.row_count += 1;
        if table.rows.len() < limits.rows {
            table.rows.push(row);
        }
    }
    Ok(table)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
