//! Reads the rows of a text that is a table.
//!
//! A spreadsheet puts tabs between the cells that it copies. It quotes a copied cell only if the
//! cell contains a tab, a line end, or a quote, which it doubles; many programs do not even double
//! quotes. A quote at the beginning of a cell is therefore usually text: `"Lucky" Luke⇥Dogs` has
//! the cells `"Lucky" Luke` and `Dogs`. With any other separator, quotes follow RFC 4180, as in an
//! import.

use super::separator::Separator;
use crate::cells::trim_cell;

const TAB: u8 = Separator::Tab.byte();

/// The limits for the part of a table that is kept.
#[derive(Debug, Clone, Copy)]
pub struct TableLimits {
    /// The maximum number of rows that are kept.
    pub rows: usize,
    /// The maximum number of cells that are kept of each row.
    pub columns: usize,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// The position of its first byte in the text.
    pub start: usize,
    /// The number of its first line, from 1.
    pub line: usize,
    /// Its first cells, without whitespace around them, up to the number that [`TableLimits`]
    /// allows.
    pub cells: Vec<String>,
    /// Whether a cell that was not kept has content.
    pub has_more_cells: bool,
    /// Whether the row could also be several rows with quotes as text. For example, the lines
    /// `A⇥"Shy` and `B⇥Loud"` are either one row, whose second cell is quoted and has two lines, or
    /// two rows of two cells.
    pub is_ambiguous: bool,
}

/// The reason why a text is not a valid table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableProblem {
    /// A quote is not closed, or is inside an unquoted cell. The row with this quote begins on
    /// `line`.
    InvalidQuote {
        /// The number of the line, from 1.
        line: usize,
    },
}

/// The beginning of a table: its separator, and where its first row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableStart {
    /// The separator of the cells.
    pub(super) separator: Separator,
    /// The position of the first row, in bytes: after a byte order mark, a line such as `sep=;`,
    /// and titles.
    pub(super) position: usize,
    /// The number of the line of the first row, from 1.
    pub(super) line: usize,
    /// The content of each title above the header.
    pub(super) titles: Vec<String>,
}

/// Returns the first rows of a text with this separator, without empty rows. Stops before a row
/// with invalid quotes.
pub(super) fn read_rows(text: &str, separator: Separator, limits: TableLimits) -> Vec<TableRow> {
    let mut reader = TableReader {
        text,
        separator: separator.byte(),
        position: 0,
        line: 1,
    };
    let mut rows = Vec::new();
    while rows.len() < limits.rows {
        match reader.read_row(limits.columns) {
            Ok(Some(row)) if row.is_empty() => {}
            Ok(Some(row)) => rows.push(row),
            // `read_table` reports invalid quotes, when it reads the whole table.
            Ok(None) | Err(_) => break,
        }
    }
    rows
}

impl TableRow {
    /// Adds the next cell of the row, unless `max_cells` are kept already.
    fn add_cell(&mut self, cell: &RawCell<'_>, max_cells: usize) {
        if self.cells.len() < max_cells {
            self.cells.push(cell.value());
        } else {
            self.has_more_cells |= !trim_cell(cell.content).is_empty();
        }
    }

    /// Whether all cells of the row are empty.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_more_cells && self.cells.iter().all(String::is_empty)
    }

    /// Returns the number of kept cells that have content.
    pub(super) fn filled_count(&self) -> usize {
        self.cells.iter().filter(|cell| !cell.is_empty()).count()
    }

    /// Joins the cells that have content with spaces.
    pub(super) fn content(&self) -> String {
        let mut content = String::new();
        for cell in self.cells.iter().filter(|cell| !cell.is_empty()) {
            if !content.is_empty() {
                content.push(' ');
            }
            content.push_str(cell);
        }
        content
    }
}

/// A cell exactly as it is in the text.
struct RawCell<'t> {
    /// The text between the quotes of the cell, or all of its text if it is unquoted.
    content: &'t str,
    is_quoted: bool,
    /// Its length in the text, including quotes, in bytes.
    length: usize,
}

/// A reader of rows, from the beginning of a text to its end.
pub(super) struct TableReader<'t> {
    text: &'t str,
    separator: u8,
    /// The position of the next byte.
    position: usize,
    /// The number of the line with the next byte, from 1.
    line: usize,
}

impl<'t> TableReader<'t> {
    pub(super) fn new(text: &'t str, start: &TableStart) -> Self {
        Self {
            text,
            separator: start.separator.byte(),
            position: start.position,
            line: start.line,
        }
    }

    fn unread_text(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Reads the next row, even if it is empty, and keeps its first cells. Returns `None` at the
    /// end of the text.
    pub(super) fn read_row(&mut self, max_cells: usize) -> Result<Option<TableRow>, TableProblem> {
        if self.unread_text().is_empty() {
            return Ok(None);
        }
        let mut row = TableRow {
            start: self.position,
            line: self.line,
            cells: Vec::new(),
            has_more_cells: false,
            is_ambiguous: false,
        };
        let mut has_quoted_tab = false;

        loop {
            let cell = self
                .parse_cell()
                .ok_or(TableProblem::InvalidQuote { line: row.line })?;
            self.position += cell.length;
            if cell.is_quoted {
                self.line += count_line_ends(cell.content);
                has_quoted_tab |= cell.content.as_bytes().contains(&TAB);
            }
            row.add_cell(&cell, max_cells);
            match self.unread_text().as_bytes().first() {
                Some(&byte) if byte == self.separator => self.position += 1,
                _ => break,
            }
        }

        let row_text = &self.text[row.start..self.position];
        // If no tab is quoted, the quoted line end is likely to be part of a cell.
        row.is_ambiguous = self.separator == TAB && has_quoted_tab && has_equal_lines(row_text);
        self.skip_line_end();
        Ok(Some(row))
    }

    /// Parses the cell at the current position. Returns `None` if its quotes are invalid.
    fn parse_cell(&self) -> Option<RawCell<'t>> {
        if let Some(cell) = self.parse_quoted_cell() {
            return Some(cell);
        }
        let unread_text = self.unread_text();
        let length = unread_text
            .bytes()
            .position(|byte| self.ends_cell(byte))
            .unwrap_or(unread_text.len());
        let content = &unread_text[..length];
        let has_invalid_quote = self.separator != TAB && content.contains('"');
        if has_invalid_quote {
            return None;
        }
        Some(RawCell {
            content,
            is_quoted: false,
            length,
        })
    }

    /// Parses the cell at the current position if it is quoted. Returns `None` if its quotes are
    /// text: between tabs, a cell is only quoted if it could not be written without quotes.
    fn parse_quoted_cell(&self) -> Option<RawCell<'t>> {
        let after_quote = self.unread_text().strip_prefix('"')?;
        let content = &after_quote[..find_closing_quote(after_quote)?];
        // The content and its two quotes.
        let length = content.len() + 2;
        let is_closed = match self.unread_text().as_bytes().get(length) {
            Some(&byte) => self.ends_cell(byte),
            None => true,
        };
        let needs_quotes = content.contains(['\t', '\r', '\n', '"']);
        let is_quoted = is_closed && (needs_quotes || self.separator != TAB);
        if !is_quoted {
            return None;
        }
        Some(RawCell {
            content,
            is_quoted,
            length,
        })
    }

    fn ends_cell(&self, byte: u8) -> bool {
        byte == self.separator || is_line_end(byte)
    }

    /// Skips a line end, if it is next: LF, CR LF or CR.
    fn skip_line_end(&mut self) {
        let length = match self.unread_text().as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => return,
        };
        self.position += length;
        self.line += 1;
    }
}

impl RawCell<'_> {
    /// Returns the value of the cell: without quotes, and trimmed.
    fn value(&self) -> String {
        if self.is_quoted {
            trim_cell(&self.content.replace("\"\"", "\"")).to_owned()
        } else {
            trim_cell(self.content).to_owned()
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Finds the first quote that is not doubled. Its position is 4 in `5""x"`.
fn find_closing_quote(text: &str) -> Option<usize> {
    let mut quotes = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'"')
        .peekable();
    while let Some((position, _)) = quotes.next() {
        // Skips the second quote of a pair.
        let is_doubled = quotes.next_if(|(next, _)| *next == position + 1).is_some();
        if !is_doubled {
            return Some(position);
        }
    }
    None
}

/// Counts the line ends in a text: LF, CR LF or CR.
fn count_line_ends(text: &str) -> usize {
    let crlf_count = text.matches("\r\n").count();
    // The two bytes of CR LF are one line end.
    text.bytes().filter(|byte| is_line_end(*byte)).count() - crlf_count
}

/// Whether a row has several lines that all have the same number of tabs, at least one. Each line
/// could then be a row of its own.
fn has_equal_lines(row: &str) -> bool {
    let tab_counts: Vec<usize> = row
        .split(['\r', '\n'])
        .filter(|line| !line.is_empty())
        .map(|line| line.matches('\t').count())
        .collect();
    let [first_count, other_counts @ ..] = &tab_counts[..] else {
        return false;
    };
    *first_count > 0
        && !other_counts.is_empty()
        && other_counts.iter().all(|count| count == first_count)
}
