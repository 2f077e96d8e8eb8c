//! Detects the beginning of a table: the character between its cells, and its first row.

use super::{
    separator::{BYTE_ORDER_MARK, Separator},
    table_rows::{TableLimits, TableRow, TableStart, read_rows},
};

/// The maximum number of rows whose cells are counted to detect the separator.
const MAX_COUNTED_ROWS: usize = 20;

/// The maximum number of cells of a row that are considered as headings.
const MAX_HEADINGS: usize = 200;

/// The beginning of a first line that names the separator, in lower case.
const SEPARATOR_LINE_START: &str = "sep=";

/// How many known headings a row below titles must have.
const MIN_KNOWN_HEADINGS: usize = 2;

/// The maximum number of title rows above the header.
const MAX_TITLE_ROWS: usize = 10;

/// The separators, beginning with the one that is rarest in ordinary text.
const SEPARATORS_BY_RARITY: [Separator; 3] =
    [Separator::Tab, Separator::Semicolon, Separator::Comma];

/// The limits for the rows that are read to find the beginning of a table.
const LIMITS: TableLimits = TableLimits {
    rows: MAX_COUNTED_ROWS,
    columns: MAX_HEADINGS,
};

/// A first line that names the separator.
struct SeparatorLine {
    separator: Separator,
    /// The length of the line including its end, in bytes.
    length: usize,
}

/// The evidence that a separator is the right one. The greatest value, compared field by field, is
/// the best.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Evidence {
    /// The number of known headings in the first row below the titles.
    known_headings: usize,
    /// Whether all rows have the same number of cells.
    has_equal_rows: bool,
    /// The number of cells of the first row below the titles.
    cells: usize,
}

/// Finds the first row of a table, below titles: see [`find_titles`]. Detects the separator, unless
/// a person chose one.
///
/// The first line can name the separator, as in `sep=;`, which Excel reads and writes. Otherwise,
/// each separator is judged by how it would split the header: see [`Evidence`]. For example,
/// `name,price (EUR; net)` is separated by a comma.
///
/// `is_heading` says whether a cell is a known heading.
pub(super) fn find_start(
    text: &str,
    chosen_separator: Option<Separator>,
    is_heading: &dyn Fn(&str) -> bool,
) -> TableStart {
    let content = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut start = TableStart {
        separator: Separator::Comma,
        position: text.len() - content.len(),
        line: 1,
        titles: Vec::new(),
    };
    let separator_line = parse_separator_line(content);
    if let Some(line) = &separator_line {
        start.position += line.length;
        start.line += 1;
    }
    let table = &text[start.position..];
    start.separator = chosen_separator
        .or(separator_line.map(|line| line.separator))
        .unwrap_or_else(|| detect_separator(table, is_heading));
    start.skip_titles(table, is_heading);
    start
}

impl TableStart {
    /// Skips the titles at the beginning of a table.
    fn skip_titles(&mut self, table: &str, is_heading: &dyn Fn(&str) -> bool) {
        let rows = read_rows(table, self.separator, LIMITS);
        let titles = find_titles(&rows, is_heading);
        if titles.is_empty() {
            return;
        }
        let heading_row = &rows[titles.len()];
        self.position += heading_row.start;
        self.line += heading_row.line - 1;
        self.titles = titles.iter().map(TableRow::content).collect();
    }
}

/// Finds the titles above the header, such as the name of a list and its date. Each has fewer
/// cells with content than the header.
///
/// In `Our animals;;`, `As of today;;` and `Name;Breed;Sex`, the first two rows are titles. There
/// are no titles unless the header has at least two known headings.
fn find_titles<'r>(rows: &'r [TableRow], is_heading: &dyn Fn(&str) -> bool) -> &'r [TableRow] {
    let title_count = rows
        .iter()
        .take(MAX_TITLE_ROWS + 1)
        .position(|row| count_known_headings(row, is_heading) >= MIN_KNOWN_HEADINGS);
    let Some(title_count) = title_count else {
        return &[];
    };
    let heading_count = rows[title_count].filled_count();
    let titles = &rows[..title_count];
    if titles.iter().all(|row| row.filled_count() < heading_count) {
        titles
    } else {
        &[]
    }
}

/// Counts the cells of a row that are known headings.
fn count_known_headings(row: &TableRow, is_heading: &dyn Fn(&str) -> bool) -> usize {
    row.cells.iter().filter(|cell| is_heading(cell)).count()
}

/// Parses a first line that names the separator, such as `sep=;`. Returns `None` if the first line
/// is any other line.
fn parse_separator_line(text: &str) -> Option<SeparatorLine> {
    let line_length = text.find(['\r', '\n']).unwrap_or(text.len());
    let (line, after_line) = text.split_at(line_length);
    let line_end_length = match after_line.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    // A spreadsheet may quote the line, or append separators for empty cells.
    let unquoted_line = line.trim_start_matches('"');
    let (line_start, after_start) = unquoted_line.split_at_checked(SEPARATOR_LINE_START.len())?;
    if !line_start.eq_ignore_ascii_case(SEPARATOR_LINE_START) {
        return None;
    }
    let separator = Separator::ALL
        .into_iter()
        .find(|separator| after_start.as_bytes().first() == Some(&separator.byte()))?;
    let has_only_empty_cells = after_start
        .trim_end()
        .bytes()
        .all(|byte| byte == b'"' || byte == separator.byte());
    has_only_empty_cells.then_some(SeparatorLine {
        separator,
        length: line_length + line_end_length,
    })
}

/// Detects the separator of a table. A text without any separator is a single column of a
/// spreadsheet.
fn detect_separator(text: &str, is_heading: &dyn Fn(&str) -> bool) -> Separator {
    let mut best_separator = None;
    let mut best_evidence = None;
    // Of equally good separators, the first one wins.
    for separator in SEPARATORS_BY_RARITY {
        let evidence = find_evidence(text, separator, is_heading);
        // `None`, for a separator that does not occur, is less than any evidence.
        if evidence > best_evidence {
            best_evidence = evidence;
            best_separator = Some(separator);
        }
    }
    best_separator.unwrap_or_else(|| detect_in_all_lines(text))
}

/// Finds the evidence for a separator. Returns `None` if the separator gives the first row below
/// the titles only one cell.
fn find_evidence(
    text: &str,
    separator: Separator,
    is_heading: &dyn Fn(&str) -> bool,
) -> Option<Evidence> {
    let rows = read_rows(text, separator, LIMITS);
    let table_rows = &rows[find_titles(&rows, is_heading).len()..];
    let first_row = table_rows.first()?;
    let cell_count = first_row.cells.len();
    if cell_count < 2 {
        return None;
    }
    Some(Evidence {
        known_headings: count_known_headings(first_row, is_heading),
        has_equal_rows: table_rows.iter().all(|row| row.cells.len() == cell_count),
        cells: cell_count,
    })
}

/// Detects the separator of a text whose first row has none, by the first separator that occurs
/// anywhere.
fn detect_in_all_lines(text: &str) -> Separator {
    SEPARATORS_BY_RARITY
        .into_iter()
        .find(|separator| text.as_bytes().contains(&separator.byte()))
        .unwrap_or(Separator::Tab)
}
