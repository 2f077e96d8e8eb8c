//! The beginning of a table: the character between its cells, and the place of its first row.

use super::{
    separator::{BYTE_ORDER_MARK, Separator},
    table_rows::{TableLimits, TableStart, read_rows},
};

/// The number of rows whose cells are counted to find the separator.
const MAX_COUNTED_ROWS: usize = 20;

/// The number of cells of a row that can be known headings.
const MAX_HEADINGS: usize = 200;

/// Finds the separator of a table by its first line, in which it is outside of quotes. A separator that was chosen stays.
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
    };
    let mut named = None;
    if let Some((separator, length)) = separator_line(content) {
        named = Some(separator);
        start.position += length;
        start.line += 1;
    }
    start.separator = chosen
        .or(named)
        .unwrap_or_else(|| detect(&text[start.position..], is_heading));
    start
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

/// Returns the signs that a text is separated by a character; `None` if the first row has only one cell.
fn find_evidence(
    text: &str,
    separator: Separator,
    is_heading: &dyn Fn(&str) -> bool,
) -> Option<Evidence> {
    let limits = TableLimits {
        rows: MAX_COUNTED_ROWS,
        columns: MAX_HEADINGS,
    };
    let rows = read_rows(text, separator, limits);
    let first_row = rows.first()?;
    let cell_count = first_row.cells.len();
    if cell_count < 2 {
        return None;
    }
    Some(Evidence {
        known_headings: first_row
            .cells
            .iter()
            .filter(|cell| is_heading(cell))
            .count(),
        has_equal_rows: rows.iter().all(|row| row.cells.len() == cell_count),
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
