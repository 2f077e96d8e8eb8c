//! The search for entries of the audit trail. The search for an animal also finds the notes on it.

use std::cmp::Reverse;

use petstore_domain::{
    PetId,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalEntry, SubjectKind},
};

use crate::prelude::*;

/// The number of changes of an animal that one search for notes reads.
const MAX_READ_CHANGES: u32 = 200;

/// Reads a part of the audit trail, the newest entry first. Returns its entries, and the position after which it continues, if
/// it does.
pub(super) async fn list_entries(
    desk: &Desk<'_>,
    query: &AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError> {
    let (mut entries, next) = desk.store().list_audit(query).await?;
    let Some(pet) = searched_pet(query) else {
        return Ok((entries, next));
    };
    let (notes, next_note) = list_notes(desk, query, pet).await?;
    entries.extend(notes.into_iter().map(AuditEntry::Change));
    entries.sort_by_key(|entry| Reverse(position_of(entry)));
    // What comes after the shorter one of both lists was not read in both.
    let end = next.max(next_note);
    entries.retain(|entry| end.is_none_or(|end| position_of(entry) >= end));
    Ok((entries, end))
}

/// Returns the animal that a query is about.
fn searched_pet(query: &AuditQuery) -> Option<PetId> {
    let subject = query.subject.as_ref()?;
    if subject.kind != SubjectKind::Pet {
        return None;
    }
    PetId::new(subject.id?)
}

/// Reads the changes of the notes on an animal that a query selects, and the position after which they continue.
async fn list_notes(
    desk: &Desk<'_>,
    query: &AuditQuery,
    pet: PetId,
) -> Result<(Vec<JournalEntry>, Option<AuditPosition>), StoreError> {
    let before = query.after.map_or(i64::MAX, |position| {
        // The acts at a change are newer than the change.
        position.seq.saturating_add(i64::from(position.act > 0))
    });
    let mut changes = desk.store().history(pet, before, MAX_READ_CHANGES).await?;
    let mut next = None;
    if changes.len() >= MAX_READ_CHANGES as usize {
        next = changes.last().map(position_of_change);
    }
    changes.retain(|change| change.subject.kind == SubjectKind::Note && selects(query, change));
    Ok((changes, next))
}

/// Whether a query asks for changes of this type and time.
fn selects(query: &AuditQuery, change: &JournalEntry) -> bool {
    let has_kind = match query.kind {
        Some(AuditType::Change(kind)) => change.kind == kind,
        Some(AuditType::Act(_)) => false,
        None => true,
    };
    let is_late_enough = query.since.is_none_or(|since| change.at >= since);
    let is_early_enough = query.until.is_none_or(|until| change.at < until);
    has_kind && is_late_enough && is_early_enough
}

fn position_of_change(change: &JournalEntry) -> AuditPosition {
    AuditPosition {
        seq: change.seq,
        act: 0,
    }
}

/// Returns the position of an entry about an animal. No act is about one.
fn position_of(entry: &AuditEntry) -> AuditPosition {
    match entry {
        AuditEntry::Change(change) => position_of_change(change),
        AuditEntry::Act { id, .. } => AuditPosition { seq: 0, act: *id },
    }
}
