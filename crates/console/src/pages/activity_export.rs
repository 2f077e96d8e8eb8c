//! The export of the audit trail as CSV.

use std::borrow::Cow;

use petstore_domain::{store_area::AuditEntry, text::formulas::without_formulas};

use super::activity::{EntryCells, parse_search};
use crate::prelude::*;

/// The length after which an export ends, in bytes. It ends after the present part of the log.
const MAX_EXPORTED_BYTES: usize = 4 << 20;

/// The number of parts of the log after which an export ends.
const MAX_EXPORTED_PARTS: usize = 400;

/// The number of entries that an export reads at once.
const ENTRIES_PER_READ: u32 = 100;

/// Exports the entries that the search selects as CSV.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut query = parse_search(&desk.visit.query);
    query.limit = ENTRIES_PER_READ;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut length = 0;
    write_row(
        &mut writer,
        ["time", "who", "what", "about", "before", "after"],
    );
    for part in 1.. {
        let (entries, next) = desk.store().list_audit(&query).await?;
        for entry in &entries {
            length += write_entry(&mut writer, entry);
        }
        query.after = next;
        if next.is_none() {
            break;
        }
        if length >= MAX_EXPORTED_BYTES || part == MAX_EXPORTED_PARTS {
            write_row(&mut writer, [texts().export_cut, "", "", "", "", ""]);
            break;
        }
    }
    let name = format!("petstore-activity-{}.csv", desk.visit.now.strftime("%F"));
    Ok(Reply::Csv(name, writer.into_inner().unwrap_or_default()))
}

/// Writes an entry as a row, and returns the number of its bytes.
fn write_entry(writer: &mut csv::Writer<Vec<u8>>, entry: &AuditEntry) -> usize {
    let cells = EntryCells::new(entry);
    let time = cells.time.to_string();
    let actor = wording::actor(cells.actor);
    let subject = cells.subject.to_string();
    let (before, after) = match entry {
        AuditEntry::Change(change) => (change.before.as_deref(), change.after.as_deref()),
        AuditEntry::Act { .. } => (None, None),
    };
    let row = [
        &*time,
        &*actor,
        &*cells.action,
        &*subject,
        before.unwrap_or(""),
        after.unwrap_or(""),
    ];
    write_row(writer, row);
    row.iter().map(|cell| cell.len()).sum()
}

/// Writes a row whose cells no spreadsheet takes for formulas.
fn write_row(writer: &mut csv::Writer<Vec<u8>>, cells: [&str; 6]) {
    // A write to memory cannot fail.
    let _ = writer.write_record(cells.map(without_formulas).map(Cow::into_owned));
}
