//! Tables that a person pastes: the copied cells of a spreadsheet, or the text of a file with commas or semicolons.
//!
//! A spreadsheet puts tabs between cells. It quotes a copied cell only if the cell has a tab, a line end or a quote
//! that it doubles, and many programs do not even double quotes. So a quote at the beginning of a cell is mostly text:
//! `"Lucky" Luke⇥Dogs` has the cells `"Lucky" Luke` and `Dogs`. In a file with another separator, quotes follow RFC
//! 4180, as in an import.

/// The characters that can separate cells, besides a tab.
const FILE_SEPARATORS: [u8; 2] = [b';', b','];

const TAB: u8 = b'\t';

/// A byte order mark, which some programs write at the beginning of a text.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// The most that is kept of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableLimits {
    /// The rows that are kept, from the first one on.
    pub rows: usize,
    /// The cells of a row that are kept.
    pub columns: usize,
}

/// A table, without its empty rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The first rows, as [`TableLimits`] allows.
    pub rows: Vec<TableRow>,
    /// The number of all rows.
    pub row_count: usize,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// The position of its first byte in the text.
    pub start: usize,
    /// The number of its first line, from 1.
    pub line: usize,
    /// Its first cells, without space around them, as [`TableLimits`] allows.
    pub cells: Vec<String>,
    /// Whether a cell that is not kept has content.
    pub has_more_cells: bool,
    /// Whether a quoted cell can as well be several rows that begin and end with quotes. For example, the second line
    /// of `A⇥"Shy` and `B⇥Loud"` is in a cell of the first one, or is a row.
    pub is_ambiguous: bool,
}

/// The reason why a text is no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableProblem {
    /// A quote that is not closed, or that is inside a cell that is not quoted, in the row that begins with this line.
    Quote {
        /// The number of the line, from 1.
        line: usize,
    },
}

/// Returns the rows of a pasted text. All of it is read, but only what `limits` allow is kept.
pub fn read_table(text: &str, limits: TableLimits) -> Result<Table, TableProblem> {
    let mut reader = TableReader::new(text);
    let mut table = Table {
        rows: Vec::new(),
        row_count: 0,
    };

    while let Some(row) = reader.read_row(limits.columns)? {
        let is_empty = row.cells.iter().all(String::is_empty) && !row.has_more_cells;
        if is_empty {
            continue;
        }
        table.row_count += 1;
        if table.rows.len() < limits.rows {
            table.rows.push(row);
        }
    }
    Ok(table)
}

/// Returns the character between the cells: a tab if there is one; otherwise the character that the first line has
/// outside of quotes. A text without any of them is one column of a spreadsheet.
fn separator_of(text: &str) -> u8 {
    if text.as_bytes().contains(&TAB) {
        return TAB;
    }

    let mut is_quoted = false;
    let mut unquoted = Vec::new();
    for byte in text.trim_start().bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\r' | b'\n' if !is_quoted => break,
            _ if !is_quoted => unquoted.push(byte),
            _ => {}
        }
    }

    let in_first_line = FILE_SEPARATORS
        .into_iter()
        .find(|byte| unquoted.contains(byte));
    let anywhere = || {
        FILE_SEPARATORS
            .into_iter()
            .find(|byte| text.as_bytes().contains(byte))
    };
    in_first_line.or_else(anywhere).unwrap_or(TAB)
}

/// A cell as it is in the text.
struct RawCell<'t> {
    /// What is between its quotes, or all of it.
    content: &'t str,
    is_quoted: bool,
    /// Its length in the text, in bytes.
    length: usize,
}

/// Reads a text from its beginning to its end.
struct TableReader<'t> {
    text: &'t str,
    separator: u8,
    /// The next byte.
    position: usize,
    /// The number of its line, from 1.
    line: usize,
}

impl<'t> TableReader<'t> {
    fn new(text: &'t str) -> Self {
        let content = text.trim_start_matches(BYTE_ORDER_MARK);
        let position = text.len() - content.len();
        Self {
            text,
            separator: separator_of(content),
            position,
            line: 1,
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Reads the next row, also an empty one, and keeps its first cells.
    fn read_row(&mut self, most_cells: usize) -> Result<Option<TableRow>, TableProblem> {
        if self.rest().is_empty() {
            return Ok(None);
        }
        let mut row = TableRow {
            start: self.position,
            line: self.line,
            cells: Vec::new(),
            has_more_cells: false,
            is_ambiguous: false,
        };
        let mut has_wide_cell = false;

        loop {
            let cell = self
                .raw_cell()
                .ok_or(TableProblem::Quote { line: row.line })?;
            self.position += cell.length;
            if cell.is_quoted {
                self.line += line_ends(cell.content);
                has_wide_cell |= cell.content.as_bytes().contains(&self.separator);
            }
            if row.cells.len() < most_cells {
                row.cells.push(cell.text());
            } else {
                row.has_more_cells |= !cell.content.trim().is_empty();
            }
            match self.rest().as_bytes().first() {
                Some(&byte) if byte == self.separator => self.position += 1,
                _ => break,
            }
        }

        let row_text = &self.text[row.start..self.position];
        row.is_ambiguous = self.separator == TAB && has_wide_cell && has_equal_lines(row_text);
        self.pass_line_end();
        Ok(Some(row))
    }

    /// Returns the next cell; `None` if its quotes are wrong.
    fn raw_cell(&self) -> Option<RawCell<'t>> {
        if let Some(cell) = self.quoted_cell() {
            return Some(cell);
        }
        let rest = self.rest();
        let is_end = |byte: u8| byte == self.separator || is_line_end(byte);
        let length = rest.bytes().position(is_end).unwrap_or(rest.len());
        let content = &rest[..length];
        let is_text = self.separator == TAB || !content.contains('"');
        is_text.then_some(RawCell {
            content,
            is_quoted: false,
            length,
        })
    }

    /// Returns the next cell if it is quoted.
    fn quoted_cell(&self) -> Option<RawCell<'t>> {
        let inner = self.rest().strip_prefix('"')?;
        let content = &inner[..closing_quote(inner)?];
        let length = content.len() + 2;
        let ends = match self.rest().as_bytes().get(length) {
            Some(&byte) => byte == self.separator || is_line_end(byte),
            None => true,
        };
        let needs_quotes = content.contains(['\t', '\r', '\n', '"']);
        let is_quoted = ends && (needs_quotes || self.separator != TAB);
        is_quoted.then_some(RawCell {
            content,
            is_quoted,
            length,
        })
    }

    fn pass_line_end(&mut self) {
        let rest = self.rest().as_bytes();
        let length = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        self.position += length;
        self.line += length.min(1);
    }
}

impl RawCell<'_> {
    /// Returns the value of the cell.
    fn text(&self) -> String {
        if self.is_quoted {
            self.content.replace("\"\"", "\"").trim().to_owned()
        } else {
            self.content.trim().to_owned()
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the position of the first quote that is not doubled.
fn closing_quote(text: &str) -> Option<usize> {
    let mut quotes = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'"')
        .peekable();
    while let Some((position, _)) = quotes.next() {
        if quotes.next_if(|(next, _)| *next == position + 1).is_none() {
            return Some(position);
        }
    }
    None
}

/// Returns the number of line ends of a text: LF, CR LF or CR.
fn line_ends(text: &str) -> usize {
    let pairs = text.matches("\r\n").count();
    text.bytes().filter(|byte| is_line_end(*byte)).count() - pairs
}

/// Whether a row has several lines, each with the same number of tabs, which is not 0: each can be a row.
fn has_equal_lines(row: &str) -> bool {
    let mut tabs = row
        .split(['\r', '\n'])
        .filter(|line| !line.is_empty())
        .map(|line| line.matches('\t').count());
    let first = tabs.next().unwrap_or_default();
    let mut others = tabs.peekable();
    first > 0 && others.peek().is_some() && others.all(|count| count == first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: TableLimits = TableLimits {
        rows: 10,
        columns: 5,
    };

    fn cells(text: &str) -> Vec<Vec<String>> {
        let table = read_table(text, LIMITS).unwrap();
        table.rows.into_iter().map(|row| row.cells).collect()
    }

    #[test]
    fn between_tabs_a_quote_is_text_unless_a_spreadsheet_must_quote_the_cell() {
        for (text, first_cell) in [
            ("\"Smokey - gentle\tx\nB\tx", "\"Smokey - gentle"),
            ("\"Lucky\" Luke\tx\nB\tx", "\"Lucky\" Luke"),
            ("\"Rex\"\tx\nB\tx", "\"Rex\""),
            ("\"\tx\nB\tx", "\""),
            ("\"one\ntwo\"\tx\nB\tx", "one\ntwo"),
            ("\"one\ttwo\"\tx\nB\tx", "one\ttwo"),
            ("\"5\"\" tall\"\tx\nB\tx", "5\" tall"),
            ("\"one\ntwo\" three\tx\nB\tx", "\"one"),
        ] {
            let rows = cells(text);
            assert_eq!(rows[0][0], first_cell, "{text:?}");
            assert_eq!(rows.last().unwrap(), &["B", "x"], "{text:?}");
        }
    }

    #[test]
    fn between_commas_quotes_follow_rfc_4180_or_the_line_is_named() {
        assert_eq!(
            cells("\"A, \"\"x\"\"\",1\r\n\"B\n2\",3"),
            [["A, \"x\"", "1"], ["B\n2", "3"]]
        );
        for (text, line) in [
            ("A,1\nB,\"two\nC,3", 2),
            ("A,1\n\n\"Lucky\" Luke,2", 3),
            ("A,5\" tall", 1),
            ("A;\"b\"c", 1),
            ("A,\"\n\"\nB,\"", 3),
        ] {
            assert_eq!(
                read_table(text, LIMITS),
                Err(TableProblem::Quote { line }),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_first_line_decides_between_a_comma_and_a_semicolon() {
        let rows = cells("name,description\nRex,\"Sweet; loves kids\"");
        assert_eq!(
            rows,
            [["name", "description"], ["Rex", "Sweet; loves kids"]]
        );
        assert_eq!(cells("\"a,b\";c\nd;e"), [["a,b", "c"], ["d", "e"]]);
        assert_eq!(
            cells("one column\nof \"a\" list"),
            [["one column"], ["of \"a\" list"]]
        );
    }

    #[test]
    fn a_quoted_cell_that_can_be_several_rows_is_ambiguous() {
        for (text, is_ambiguous) in [
            ("A\t\"Shy\nB\tLoud\"", true),
            ("A\t\"Shy\nB\tx\nC\tLoud\"\n", true),
            ("A\t\"one\ntwo\"\tx", false),
            ("A\t\"one\ttwo\"", false),
            ("A\t\"one\ttwo\nthree\"", false),
        ] {
            let table = read_table(text, LIMITS).unwrap();
            assert_eq!(table.rows[0].is_ambiguous, is_ambiguous, "{text:?}");
        }
    }

    #[test]
    fn a_text_without_content_has_no_row() {
        for text in [
            "",
            "\u{FEFF}",
            " \n\t\n",
            ",,,\n,",
            "\t\t",
            "\r\n",
            "\u{FEFF}\u{FEFF}\n",
        ] {
            let table = read_table(text, LIMITS).unwrap();
            assert_eq!(
                table,
                Table {
                    rows: Vec::new(),
                    row_count: 0
                },
                "{text:?}"
            );
        }
    }

    #[test]
    fn each_row_knows_its_first_line_and_byte() {
        let text = "\u{FEFF}a\tb\r\n\r\n\"c\nd\"\te\rf\tg";
        let table = read_table(text, LIMITS).unwrap();
        let places: Vec<_> = table
            .rows
            .iter()
            .map(|row| (row.line, &text[row.start..][..1]))
            .collect();
        assert_eq!(places, [(1, "a"), (3, "\""), (5, "f")]);
    }

    #[test]
    fn what_is_above_the_limits_is_counted_and_not_kept() {
        let text = format!(
            "{}x{}\n{}",
            "\t".repeat(9),
            "\t".repeat(9),
            "a\tb\n".repeat(30)
        );
        let table = read_table(&text, LIMITS).unwrap();
        assert_eq!((table.rows.len(), table.row_count), (10, 31));
        assert_eq!(
            (table.rows[0].cells.len(), table.rows[0].has_more_cells),
            (5, true)
        );
    }

    proptest! {
        #[test]
        fn cells_that_a_spreadsheet_copies_are_read_as_they_were(
            rows in proptest::collection::vec(proptest::array::uniform3("[a\"\t\n ]{0,6}"), 1..6),
        ) {
            let mut text = String::new();
            for row in &rows {
                let copied = row.each_ref().map(|cell| {
                    if cell.contains(['\t', '\n', '"']) {
                        format!("\"{}\"", cell.replace('"', "\"\""))
                    } else {
                        cell.clone()
                    }
                });
                text.push_str(&copied.join("\t"));
                text.push('\n');
            }
            let trimmed = rows.iter().map(|row| row.each_ref().map(|cell| cell.trim()));
            let filled: Vec<_> = trimmed.filter(|row| row.concat() != "").collect();
            prop_assert_eq!(cells(&text), filled);
        }
    }
}
