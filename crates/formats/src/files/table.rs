//! Tables that a person pastes: the copied cells of a spreadsheet, or the text of a file.

use super::{
    separator::Separator,
    table_rows::{TableLimits, TableProblem, TableReader, TableRow},
    table_start::find_start,
};

/// A table, without its empty rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The first rows, as [`TableLimits`] allows.
    pub rows: Vec<TableRow>,
    /// The number of all rows.
    pub row_count: usize,
    /// The character between the cells.
    pub separator: Separator,
    /// The content of each row above the headings that is a title, such as the name of a list.
    pub titles: Vec<String>,
}

/// Reads the rows of a pasted text. All of the text is read, but only the rows and cells that `limits` allow are kept.
///
/// `name,age` and `"Luke, Lucky",3` on the next line are two rows with two cells each. One cell is `Luke, Lucky`.
/// `chosen` is the separator that somebody chose; `is_heading` helps to find it otherwise: see `find_start`.
pub fn read_table(
    text: &str,
    limits: TableLimits,
    chosen: Option<Separator>,
    is_heading: &dyn Fn(&str) -> bool,
) -> Result<Table, TableProblem> {
    let start = find_start(text, chosen, is_heading);
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
