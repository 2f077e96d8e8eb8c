//! Text that somebody pasted from a spreadsheet, as a table.

use std::sync::Arc;

use petstore_formats::files::{
    KnownHeadings, Separator, Table, TableLimits, TableProblem, TableRow, read_table,
};
use petstore_languages::{language, table_words};
use petstore_web::edge::Reader;

use crate::prelude::*;

/// The number of animals that can be added at once.
pub(super) const MAX_ANIMALS: usize = 100;

/// The limits for a pasted table: the headings, the animals that can be added at once, and the line after them.
const LIMITS: TableLimits = TableLimits {
    rows: MAX_ANIMALS + 2,
    columns: 100,
};

/// The name of the input that chooses the separator.
pub(super) const SEPARATOR_INPUT: &str = "separator";

/// The name of the input that says whether the first line has headings.
pub(super) const HEADINGS_INPUT: &str = "headings";

/// The value of [`HEADINGS_INPUT`] with which the first line is an animal.
pub(super) const NO_HEADINGS: &str = "no";

/// The characters at the end of a line.
pub(super) const LINE_END: [char; 2] = ['\r', '\n'];

/// The text that was pasted into a form.
pub(super) struct PastedText {
    text: Arc<str>,
    table: Result<Table, TableProblem>,
}

impl PastedText {
    /// Reads the lines of a form on another thread, because a megabyte takes some milliseconds.
    pub(super) async fn read(desk: &Desk<'_>, form: &Form) -> Result<Self, ApiError> {
        let text: Arc<str> = form.raw("lines").into();
        let shared_text = Arc::clone(&text);
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

    /// Returns the first rows, among them the headings if the text has any.
    pub(super) fn rows(&self) -> &[TableRow] {
        match &self.table {
            Ok(table) => &table.rows,
            Err(_) => &[],
        }
    }

    /// Returns the number of all rows, which can be more than [`Self::rows`] has.
    pub(super) fn row_count(&self) -> usize {
        match &self.table {
            Ok(table) => table.row_count,
            Err(_) => 0,
        }
    }

    /// Returns the content of each row above the headings that is a title.
    pub(super) fn titles(&self) -> &[String] {
        match &self.table {
            Ok(table) => &table.titles,
            Err(_) => &[],
        }
    }

    /// Returns the character between the cells.
    pub(super) fn separator(&self) -> Separator {
        match &self.table {
            Ok(table) => table.separator,
            Err(_) => Separator::Tab,
        }
    }

    /// Returns the cells of the first rows.
    pub(super) fn cells(&self) -> impl Iterator<Item = &String> {
        self.rows().iter().flat_map(|row| &row.cells)
    }

    /// Returns the reason why no line can be added, for people; `None` if there are lines.
    pub(super) fn problem(&self) -> Option<String> {
        match &self.table {
            Ok(table) if table.rows.is_empty() => Some(texts().nothing_pasted.to_owned()),
            Ok(_) => None,
            Err(TableProblem::Quote { line }) => {
                Some(texts().on_line(*line, texts().quote_not_closed))
            }
        }
    }

    /// Returns the text for the next form: the line with the headings, if there is one, and the lines after the first
    /// [`MAX_ANIMALS`] of `pet_rows`.
    pub(super) fn text_after_first_lines(
        &self,
        has_headings: bool,
        pet_rows: &[TableRow],
    ) -> String {
        let Some(next_row) = pet_rows.get(MAX_ANIMALS) else {
            return String::new();
        };
        let next_lines = self.text[next_row.start..].trim_matches(LINE_END);
        if has_headings && let Some(first_row) = pet_rows.first() {
            let heading_line = self.text[..first_row.start].trim_matches(LINE_END);
            return format!("{heading_line}\n{next_lines}");
        }
        next_lines.to_owned()
    }
}
