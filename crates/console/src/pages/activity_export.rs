//! Exports the audit trail as CSV for a spreadsheet.

use petstore_domain::store_area::AuditEntry;

use super::{
    activity::parse_search,
    activity_search::list_entries,
    activity_table::EntryCells,
    spreadsheet::{SheetCell, Spreadsheet, text_cell, time_heading, time_text},
};
use crate::prelude::*;

/// The number of entries that an export reads from the store at a time.
const ENTRIES_PER_READ: u32 = 100;

/// Handles `GET /activity/export`: exports all entries that match the search, the newest first.
///
/// The file ends early with a message if it becomes too long.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut query = parse_search(desk);
    query.limit = ENTRIES_PER_READ;
    let mut headings = vec![time_heading("time")];
    headings.extend(["who", "what", "about", "before", "after"].map(str::to_owned));
    let mut sheet = Spreadsheet::new(headings)?;
    loop {
        let page = list_entries(desk, &query).await?;
        for entry in &page.entries {
            sheet.write_row(entry_row(entry));
        }
        if page.next_position.is_none() {
            break;
        }
        // A full sheet gets a last row, which says that entries are missing.
        if !sheet.continue_unless_full(texts().export_cut) {
            break;
        }
        query.after = page.next_position;
    }
    Ok(sheet.into_reply(desk, "activity"))
}

/// Returns the row of an entry.
///
/// The last two cells hold the values before and after a change. They are empty for an act of
/// administration, which has no such values.
fn entry_row(entry: &AuditEntry) -> [SheetCell; 6] {
    let cells = EntryCells::new(entry);
    let (before, after) = match entry {
        AuditEntry::Change(change) => (change.before.as_deref(), change.after.as_deref()),
        AuditEntry::Act { .. } => (None, None),
    };
    [
        SheetCell::Text(time_text(cells.time)),
        SheetCell::Text(wording::actor(cells.actor)),
        SheetCell::Text(cells.action),
        SheetCell::Text(cells.subject.to_string()),
        text_cell(before),
        text_cell(after),
    ]
}
