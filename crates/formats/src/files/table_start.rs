//! The beginning of a table: the character between its cells, and the place of its first row.

use super::{
    separator::{BYTE_ORDER_MARK, Separator},
    table_rows::{TableLimits, TableRow, TableStart, read_rows},
};

/// The number of rows whose cells are counted to find the separator.
const MAX_COUNTED_ROWS: usize = 20;

/// The number of cells of a row that can be known headings.
const MAX_HEADINGS: usize = 200;

/// The number of known headings that a row below a title must have.
const MIN_KNOWN_HEADINGS: usize = 2;

/// The number of rows with titles that can be above the headings.
const MAX_TITLE_ROWS: usize = 10;

const LIMITS: TableLimits = TableLimits {
    rows: MAX_COUNTED_ROWS,
    columns: MAX_HEADINGS,
};

/// Finds the separator of a table by the line with its headings, in which it is outside of quotes. A separator that was chosen
/// stays. Rows with titles above the headings are passed: see [`title_rows`].
///
/// If several separators are possible, the best one gives known headings, then rows with equally many cells, then the
/// most cells. `name,price (EUR; net)` is separated by a comma. The first line can name the separator: `sep=;`. Excel
/// reads and writes such a line.
pub(super) fn find_start(
    text: &str,
    chosen: Option<Separator>,
    is_heading: &dyn Fn(&str) -> bool,
) -> TableStart {
    let content = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut start = TableStart {
        separator: Separator::Comma,
        position: text.len() - content.len(),
        line: 1,
        titles: Vec::new(),
    };
    let mut named = None;
    if let Some((separator, length)) = separator_line(content) {
        named = Some(separator);
        start.position += length;
        start.line += 1;
    }
    let table = &text[start.position..];
    start.separator = chosen
        .or(named)
        .unwrap_or_else(|| detect(table, is_heading));
    start.pass_titles(table, is_heading);
    start
}

impl TableStart {
    /// Passes the titles at the beginning of a text.
    fn pass_titles(&mut self, table: &str, is_heading: &dyn Fn(&str) -> bool) {
        let mut rows = read_rows(table, self.separator, LIMITS);
        let title_count = title_rows(&rows, is_heading).len();
        if title_count == 0 {
            return;
        }
        rows.truncate(title_count + 1);
        if let Some(heading_row) = rows.pop() {
            self.position += heading_row.start;
            self.line += heading_row.line - 1;
        }
        self.titles = rows.iter().map(TableRow::content).collect();
    }
}

/// Returns the rows above the headings, such as the name of a list and its day. Each has fewer cells with content than there
/// are headings.
///
/// In `Our animals;;`, `As of today;;` and `Name;Breed;Sex`, the first two rows are titles. There are no titles unless two of
/// the headings are known.
fn title_rows<'r>(rows: &'r [TableRow], is_heading: &dyn Fn(&str) -> bool) -> &'r [TableRow] {
    let heading_row = rows
        .iter()
        .take(MAX_TITLE_ROWS + 1)
        .position(|row| known_heading_count(row, is_heading) >= MIN_KNOWN_HEADINGS);
    let Some(heading_row) = heading_row else {
        return &[];
    };
    let heading_count = rows[heading_row].filled_count();
    let titles = &rows[..heading_row];
    if titles.iter().all(|row| row.filled_count() < heading_count) {
        titles
    } else {
        &[]
    }
}

fn known_heading_count(row: &TableRow, is_heading: &dyn Fn(&str) -> bool) -> usize {
    row.cells.iter().filter(|cell| is_heading(cell)).count()
}

/// Returns the separator that the first line of a text names, and the length of the line with its end: `;` for `sep=;`.
fn separator_line(text: &str) -> Option<(Separator, usize)> {
    let line_length = text.find(['\r', '\n']).unwrap_or(text.len());
    let (line, after_line) = text.split_at(line_length);
    let line_end_length = match after_line.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    // A spreadsheet can put the line in quotes, or add separators for empty cells.
    let unquoted_line = line.trim_start_matches('"');
    let name = unquoted_line.get(..4)?;
    if !name.eq_ignore_ascii_case("sep=") {
        return None;
    }
    let named_byte = unquoted_line.as_bytes().get(4)?;
    let separator = Separator::ALL
        .into_iter()
        .find(|separator| separator.byte() == *named_byte)?;
    let rest = unquoted_line[5..].trim_end();
    let has_only_empty_cells = rest
        .bytes()
        .all(|byte| byte == b'"' || byte == separator.byte());
    has_only_empty_cells.then_some((separator, line_length + line_end_length))
}

/// The signs that a text is separated by a character. The greatest value is the best.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Evidence {
    known_headings: usize,
    has_equal_rows: bool,
    cells: usize,
}

/// Returns the separator of a text. A text without any separator is one column of a spreadsheet.
fn detect(text: &str, is_heading: &dyn Fn(&str) -> bool) -> Separator {
    let mut best_separator = None;
    let mut best_evidence = None;
    // Of equally good separators, the one that is rarer in texts is right.
    for separator in [Separator::Tab, Separator::Semicolon, Separator::Comma] {
        let evidence = find_evidence(text, separator, is_heading);
        if evidence > best_evidence {
            best_evidence = evidence;
            best_separator = Some(separator);
        }
    }
    best_separator.unwrap_or_else(|| detect_in_all_lines(text))
}

/// Returns the signs that a text is separated by a character; `None` if the first row below the titles has only one cell.
fn find_evidence(
    text: &str,
    separator: Separator,
    is_heading: &dyn Fn(&str) -> bool,
) -> Option<Evidence> {
    let rows = read_rows(text, separator, LIMITS);
    let table_rows = &rows[title_rows(&rows, is_heading).len()..];
    let first_row = table_rows.first()?;
    let cell_count = first_row.cells.len();
    if cell_count < 2 {
        return None;
    }
    Some(Evidence {
        known_headings: known_heading_count(first_row, is_heading),
        has_equal_rows: table_rows.iter().all(|row| row.cells.len() == cell_count),
        cells: cell_count,
    })
}

/// Returns the separator of a text whose first line has none.
fn detect_in_all_lines(text: &str) -> Separator {
    [Separator::Tab, Separator::Semicolon, Separator::Comma]
        .into_iter()
        .find(|separator| text.as_bytes().contains(&separator.byte()))
        .unwrap_or(Separator::Tab)
}
