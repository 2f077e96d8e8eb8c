//! Writes tables as CSV files for spreadsheets, with headings in the language of the member and
//! times in the time zone of the store.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::text::formulas::without_formulas;
use petstore_formats::files::spreadsheet_writer;
use petstore_languages::{language, spreadsheet_separator};

use super::parts;
use crate::{prelude::*, zone};

/// The size at which a table is cut off, in bytes. It is checked after each read, so a table can
/// exceed it by the rows of one read.
const MAX_BYTES: usize = 4 << 20;

/// The number of reads at which a table is cut off, which limits how long an export takes.
const MAX_READS: usize = 400;

/// The value of a cell.
pub(super) enum SheetCell {
    /// A text. It is escaped if a spreadsheet would otherwise interpret it as a formula.
    Text(String),
    /// A number, formatted for the language.
    Number(String),
}

/// A table that is being written.
pub(super) struct Spreadsheet {
    writer: csv::Writer<Vec<u8>>,
    /// The total length of the cells so far, in bytes.
    length: usize,
    /// How often [`Self::continue_unless_full`] was called.
    read_count: usize,
    column_count: usize,
}

impl Spreadsheet {
    /// Starts a table with these column headings.
    pub(super) fn new(headings: Vec<String>) -> Result<Self, StoreError> {
        let writer = spreadsheet_writer(Vec::new(), spreadsheet_separator(language()))
            .map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let mut sheet = Self {
            writer,
            length: 0,
            read_count: 0,
            column_count: headings.len(),
        };
        sheet.write_row(headings.into_iter().map(SheetCell::Text));
        Ok(sheet)
    }

    /// Writes a row, which must have a cell for each heading.
    pub(super) fn write_row(&mut self, cells: impl IntoIterator<Item = SheetCell>) {
        let mut record = csv::StringRecord::new();
        for cell in cells {
            let text = match cell {
                SheetCell::Text(text) => without_formulas(&text).into_owned(),
                SheetCell::Number(number) => number,
            };
            self.length += text.len();
            record.push_field(&text);
        }
        // The error is ignored: writing to memory fails only for a row with another number of
        // cells, which no caller writes.
        let _ = self.writer.write_record(&record);
    }

    /// Counts a read after which more rows follow. Returns whether the table has room for more
    /// rows.
    ///
    /// If it has no room, appends a last row with `cut_message`, which says that rows are missing.
    pub(super) fn continue_unless_full(&mut self, cut_message: &str) -> bool {
        self.read_count += 1;
        if self.length < MAX_BYTES && self.read_count < MAX_READS {
            return true;
        }
        // Every row must have the same number of cells, so the message is followed by empty ones.
        let mut cells = vec![SheetCell::Text(cut_message.to_owned())];
        cells.resize_with(self.column_count, || SheetCell::Text(String::new()));
        self.write_row(cells);
        false
    }

    /// Returns the table as a file to download, such as `petstore-orders-2026-11-28.csv`. `content`
    /// is the middle part of its name, such as `orders`.
    pub(super) fn into_reply(self, desk: &Desk<'_>, content: &str) -> Reply {
        let name = format!("petstore-{content}-{}.csv", parts::today(desk));
        // Flushing to memory cannot fail.
        Reply::Csv(name, self.writer.into_inner().unwrap_or_default())
    }
}

/// Returns the heading of a column with times: the label, followed by the time zone of the store if
/// the store has one.
pub(super) fn time_heading(label: &str) -> String {
    match zone::store_zone() {
        Some(zone) => format!("{label} ({})", zone.as_str()),
        None => label.to_owned(),
    }
}

/// Formats a time in the time zone of the store, in a format that spreadsheets recognize, such as
/// `2026-11-28 05:35:50`.
///
/// If the store has no time zone, the time is in UTC, such as `2026-11-28T04:35:50.1Z`.
pub(super) fn time_text(time: Timestamp) -> String {
    let Some(zone) = zone::store_zone() else {
        return time.to_string();
    };
    let local_time = zone.as_zone().to_datetime(time);
    local_time.strftime("%F %T").to_string()
}

/// Returns the cell for an optional time, in the format of [`time_text`].
pub(super) fn time_cell(time: Option<Timestamp>) -> SheetCell {
    SheetCell::Text(time.map(time_text).unwrap_or_default())
}

/// Returns the cell for an optional text.
pub(super) fn text_cell(text: Option<&str>) -> SheetCell {
    SheetCell::Text(text.unwrap_or_default().to_owned())
}

/// Returns the cell for an optional decimal number, formatted for the language, such as `249,00` in
/// German.
pub(super) fn decimal_cell(number: Option<&str>) -> SheetCell {
    let text = number.map(|number| numbers().plain(number));
    SheetCell::Number(text.unwrap_or_default())
}
