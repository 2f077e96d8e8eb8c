//! Parses the text that a member pasted into a form, such as the cells of a spreadsheet, as a
//! table.

use std::sync::Arc;

use petstore_formats::files::{
    KnownHeadings, Separator, Table, TableLimits, TableProblem, TableRow, read_table,
};
use petstore_languages::{language, table_words};
use petstore_web::edge::Reader;

use crate::prelude::*;

/// The maximum number of animals that one form can add.
pub(super) const MAX_ANIMALS: usize = 100;

/// The limits for parsing a pasted table.
///
/// The rows are the headings, the animals that one form adds, and one more row, at which the text
/// of the next form begins.
const LIMITS: TableLimits = TableLimits {
    rows: MAX_ANIMALS + 2,
    columns: 100,
};

/// The name of the input with the pasted lines.
pub(super) const LINES_INPUT: &str = "lines";

/// The name of the input that chooses the separator.
pub(super) const SEPARATOR_INPUT: &str = "separator";

/// The name of the input that says whether the first line has headings.
pub(super) const HEADINGS_INPUT: &str = "headings";

/// The value of [`HEADINGS_INPUT`] if the first line has headings.
pub(super) const WITH_HEADINGS: &str = "yes";

/// The value of [`HEADINGS_INPUT`] if the first line is an animal.
pub(super) const NO_HEADINGS: &str = "no";

/// The checkbox that confirms that columns with content are left out.
pub(super) const LEFT_OUT_INPUT: &str = "left-out";

/// The characters of a line break.
pub(super) const LINE_END: [char; 2] = ['\r', '\n'];

/// The text that was pasted into a form, and the table parsed from it.
pub(super) struct PastedText {
    text: Arc<str>,
    table: Result<Table, TableProblem>,
}

impl PastedText {
    /// Parses the pasted lines of a form. This happens on another thread, because a megabyte takes
    /// some milliseconds.
    pub(super) async fn read(desk: &Desk<'_>, form: &Form) -> Result<Self, ApiError> {
        let text: Arc<str> = form.raw(LINES_INPUT).into();
        let shared_text = Arc::clone(&text);
        // Without a valid choice, the separator is detected.
        let chosen_separator = form.raw(SEPARATOR_INPUT).parse().ok();
        let fields = desk.store().fields().await?;
        let has_no_headings = form.raw(HEADINGS_INPUT) == NO_HEADINGS;
        let known_headings = KnownHeadings::new(fields.all(), table_words(language()));
        let heavy_work = &desk.visit.console.heavy_work;
        let table = heavy_work
            .run(Reader::Known, move || {
                let is_heading = |cell: &str| !has_no_headings && known_headings.is_known(cell);
                read_table(&shared_text, LIMITS, chosen_separator, &is_heading)
            })
            .await?;
        Ok(Self { text, table })
    }

    /// Returns the first rows, up to the limit. They include the headings if the text has any.
    ///
    /// If the text cannot be read, this and the other methods return a default, and
    /// [`Self::problem`] says why.
    pub(super) fn rows(&self) -> &[TableRow] {
        match &self.table {
            Ok(table) => &table.rows,
            Err(_) => &[],
        }
    }

    /// Returns the number of rows in the whole text, which can exceed the number of [`Self::rows`].
    pub(super) fn row_count(&self) -> usize {
        match &self.table {
            Ok(table) => table.row_count,
            Err(_) => 0,
        }
    }

    /// Returns the titles above the headings, one for each row.
    pub(super) fn titles(&self) -> &[String] {
        match &self.table {
            Ok(table) => &table.titles,
            Err(_) => &[],
        }
    }

    /// Returns the separator between the cells.
    pub(super) fn separator(&self) -> Separator {
        match &self.table {
            Ok(table) => table.separator,
            Err(_) => Separator::Tab,
        }
    }

    /// Returns the cells of [`Self::rows`].
    pub(super) fn cells(&self) -> impl Iterator<Item = &String> {
        self.rows().iter().flat_map(|row| &row.cells)
    }

    /// Returns the message that explains why the text cannot be read: the text is empty, or a quote
    /// in it is not closed. Returns `None` if the text can be read.
    pub(super) fn problem(&self) -> Option<String> {
        match &self.table {
            Ok(table) if table.rows.is_empty() => Some(texts().nothing_pasted.to_owned()),
            Ok(_) => None,
            Err(TableProblem::InvalidQuote { line }) => {
                Some(texts().on_line(*line, texts().quote_not_closed))
            }
        }
    }

    /// Returns the text for the next form; empty if no lines are left.
    ///
    /// The text has the lines after the first [`MAX_ANIMALS`] of `pet_rows`. If the pasted text has
    /// headings, the headings and the [`titles`](Self::titles) above them precede these lines.
    pub(super) fn text_after_first_lines(
        &self,
        has_headings: bool,
        pet_rows: &[TableRow],
    ) -> String {
        let Some(next_row) = pet_rows.get(MAX_ANIMALS) else {
            return String::new();
        };
        // `start` is the offset of a row in the text, in bytes.
        let next_lines = self.text[next_row.start..].trim_matches(LINE_END);
        if has_headings && let Some(first_row) = pet_rows.first() {
            let heading_lines = self.text[..first_row.start].trim_matches(LINE_END);
            return format!("{heading_lines}\n{next_lines}");
        }
        next_lines.to_owned()
    }
}
