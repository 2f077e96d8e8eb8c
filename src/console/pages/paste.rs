//! Animals on the lines of a spreadsheet.

use crate::{
    console::{
        forms,
        markup::{self, SHORT},
        texts,
    },
    domain::{NewPet, PetStatus, store_area::Category},
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
        cells.iter().position(|cell| names.contains(&cell.to_lowercase().as_str()))
    };
    let name = place(&["name", "animal"])?;
    let category = place(&["category", "categoryid", "category id"])?;
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
    use crate::domain::store_area::Label;

    fn shown(text: &str) -> Vec<String> {
        let label = Label::new("Dogs".to_owned()).unwrap();
        let categories = [Category { id: 4, label, version: 1 }];
        let show = |line: Line| match line.result {
            Ok(pet) => {
                format!("{} {} {} {}", line.number, pet.name.as_str(), pet.category_id, pet.status)
            }
            Err(error) => format!("{} {error}", line.number),
        };
        read(text, &categories).lines.into_iter().map(show).collect()
    }

    #[test]
    fn lines_of_a_spreadsheet_have_tabs_and_those_of_a_file_commas_or_semicolons() {
        let animals = ["1 Rex 4 available", "2 Max, the 2nd 7 sold"];
        assert_eq!(shown("Rex\tdogs\r\nMax, the 2nd\t7\tSold\r\n"), animals);
        assert_eq!(shown("Rex,4\n\"Max, the 2nd\",7,sold"), animals);
        assert_eq!(shown("Rex;dogs;\nMax, the 2nd;7;Sold"), animals);
    }

    #[test]
    fn the_first_line_may_name_the_columns_in_another_order() {
        let text = "Status\tBreed\tCategory\tName\nreserved\tPug\tDogs\tRex\n\n\tPug\t7\tMax";
        assert_eq!(shown(text), ["2 Rex 4 pending", "4 Max 7 available"]);
    }

    #[test]
    fn columns_with_other_headings_are_left_out_and_named() {
        let left_out = |text: &str| read(text, &[]).left_out;
        assert_eq!(left_out("Name,Category,Status\nRex,4,sold"), [""; 0]);
        assert_eq!(left_out("Rex,4,sold"), [""; 0]);
        let text = "Name\tBreed\tCategory\t\tname\nRex\tPug\t4\t7\tR";
        assert_eq!(left_out(text), ["Breed", "column 4", "name"]);
        assert_eq!(shown("Name,Category,Age\nRex,4,7"), ["2 Rex 4 available"]);
        // A cell without a heading is not lost.
        let lines = shown("Category,Name\n4,Rex,Pug\n4,Max,");
        assert_eq!(lines, [format!("2 {}", texts::NO_HEADING), "3 Max 4 available".to_owned()]);
    }

    #[test]
    fn each_wrong_line_has_its_number_and_its_error() {
        let lines = shown("Rex,Cats\n\n,4\nMax,4,lost\nMax\nMax,4,sold,x");
        assert_eq!(
            lines,
            [
                format!("1 {}", texts::unknown_category("Cats")),
                format!("3 {}", texts::NAME_MISSING),
                format!("4 {}", texts::STATUS_INVALID),
                format!("5 {}", texts::columns_missing(1)),
                format!("6 {}", texts::too_many_columns(4)),
            ]
        );
    }

    #[test]
    fn at_most_one_line_too_many_is_read() {
        assert_eq!(shown(&"Rex,4\n".repeat(500)).len(), MAX_LINES + 1);
    }
}
