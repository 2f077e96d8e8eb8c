//! The export of the audit trail as CSV for a spreadsheet.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use petstore_domain::{store_area::AuditEntry, text::formulas::without_formulas};
use petstore_formats::files::spreadsheet_writer;
use petstore_languages::{language, spreadsheet_separator};

use super::{
    activity::{EntryCells, parse_search},
    parts,
};
use crate::{prelude::*, zone};

/// The length after which an export ends, in bytes. It ends after the present part of the log.
const MAX_EXPORTED_BYTES: usize = 4 << 20;

/// The number of parts of the log after which an export ends.
const MAX_EXPORTED_PARTS: usize = 400;

/// The number of entries that an export reads at once.
const ENTRIES_PER_READ: u32 = 100;

/// Exports the entries that the search selects as CSV.
pub(super) async fn export(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut query = parse_search(desk);
    query.limit = ENTRIES_PER_READ;
    let mut writer = spreadsheet_writer(Vec::new(), spreadsheet_separator(language()))
        .map_err(|error| StoreError::Internal(Arc::new(error)))?;
    let mut length = 0;
    write_row(
        &mut writer,
        [&*time_heading(), "who", "what", "about", "before", "after"],
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
    let name = format!("petstore-activity-{}.csv", parts::today(desk));
    Ok(Reply::Csv(name, writer.into_inner().unwrap_or_default()))
}

/// Returns the heading of the times: `time`, and the time zone of the store if it has one.
fn time_heading() -> String {
    match zone::store_zone() {
        Some(zone) => format!("time ({})", zone.as_str()),
        None => "time".to_owned(),
    }
}

/// Returns a time as a spreadsheet reads it, in the time zone of the store: `2026-11-28 05:35:50`. If the store has none,
/// the time is in UTC: `2026-11-28T04:35:50.1Z`.
fn time_cell(time: Timestamp) -> String {
    let Some(zone) = zone::store_zone() else {
        return time.to_string();
    };
    let local_time = zone.as_zone().to_datetime(time);
    local_time.strftime("%F %T").to_string()
}

/// Writes an entry as a row, and returns the number of its bytes.
fn write_entry(writer: &mut csv::Writer<Vec<u8>>, entry: &AuditEntry) -> usize {
    let cells = EntryCells::new(entry);
    let time = time_cell(cells.time);
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
