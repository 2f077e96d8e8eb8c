//! Animals on the lines of a spreadsheet.

use crate::{
    console::{
        forms,
        markup::{self, SHORT},
        texts,
    },
    domain::{NewPet, PetStatus, store_area::Category},
    text,
};

/// How many animals can be added at once.
pub(super) const MAX_LINES: usize = 100;

/// A line: what it says, and the animal or what is wrong.
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    /// The name, the category and the status as they are on the line.
    pub(super) cells: [String; 3],
    pub(super) result: Result<NewPet, String>,
}

/// What was pasted.
pub(super) struct Pasted {
    pub(super) lines: Vec<Line>,
    /// The headings of the columns that are no name, category or status.
    pub(super) left_out: Vec<String>,
}

/// The columns of a line: which of its cells is the name, the category and the status.
type Columns = [usize; 3];

/// The columns without headings.
const USUAL: Columns = [0, 1, 2];

/// All cells, among them the categories.
pub(super) fn typed(text: &str) -> impl Iterator<Item = String> {
    let separator = separator(text);
    text.lines().flat_map(move |line| cells(line, separator))
}

/// What is between the cells of a line.
fn separator(text: &str) -> char {
    // A spreadsheet copies tabs; a file of comma-separated values has commas or semicolons.
    ['\t', ';', ','].into_iter().find(|&of| text.contains(of)).unwrap_or(',')
}

/// Reads the lines that are not empty. The first one may name the columns.
pub(super) fn read(text: &str, categories: &[Category]) -> Pasted {
    let separator = separator(text);
    let (mut columns, mut width, mut left_out) = (USUAL, None, Vec::new());
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let cells = cells(text, separator);
        if cells.iter().all(String::is_empty) {
            continue;
        }
        if lines.is_empty()
            && let Some(named) = header(&cells)
        {
            (columns, width) = (named, Some(cells.len()));
            let others = (0..).zip(&cells).filter(|(at, _)| !named.contains(at));
            left_out = others.map(|(at, heading)| texts::heading(at, heading)).collect();
            continue;
        }
        lines.push(line(number, &cells, columns, width, categories));
        if lines.len() > MAX_LINES {
            break;
        }
    }
    Pasted { lines, left_out }
}

/// The cells of a line, which may be quoted.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(u8::try_from(separator).unwrap_or(b','))
        .has_headers(false)
        .from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The columns that a line names, if it names at least those of the name and the category.
fn header(cells: &[String]) -> Option<Columns> {
    let place = |names: &[&str]| {
        cells.iter().position(|cell| names.contains(&text::heading(cell).as_str()))
    };
    let name = place(&["name", "animal"])?;
    let category = place(&["category", "categoryid"])?;
    Some([name, category, place(&["status"]).unwrap_or(usize::MAX)])
}

/// `width` is the number of headings, if there are any.
fn line(
    number: usize,
    cells: &[String],
    columns: Columns,
    width: Option<usize>,
    categories: &[Category],
) -> Line {
    let cell = |at: usize| cells.get(at).map_or("", String::as_str);
    let [name, category, status] = columns.map(cell);
    let result = if width.is_none() && cells.len() > USUAL.len() {
        Err(texts::too_many_columns(cells.len()))
    } else if width.is_some_and(|width| cells.iter().skip(width).any(|cell| !cell.is_empty())) {
        Err(texts::NO_HEADING.to_owned())
    } else if width.is_none() && cells.len() < 2 {
        Err(texts::columns_missing(cells.len()))
    } else {
        animal(name, category, status, categories)
    };
    let cells = [name, category, status].map(|cell| markup::readable(cell, SHORT));
    Line { number, cells, result }
}

/// An animal from what was typed.
pub(super) fn animal(
    name: &str,
    category: &str,
    status: &str,
    categories: &[Category],
) -> Result<NewPet, String> {
    Ok(NewPet {
        name: forms::name(name)?,
        category_id: forms::category(category, categories)?,
        status: if status.is_empty() { PetStatus::default() } else { forms::status(status)? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_line_too_many_is_read() {
        assert_eq!(read(&"Rex,4\n".repeat(500), &[]).lines.len(), MAX_LINES + 1);
    }
}
