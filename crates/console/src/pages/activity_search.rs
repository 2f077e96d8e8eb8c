//! The search in the audit trail.
//!
//! If a member searches for an animal, the store finds the entries whose subject is the animal. The
//! console also shows the changes of the notes on the animal, whose subjects are the notes. This
//! module merges both lists.

use std::cmp::Reverse;

use petstore_domain::{
    PetId,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalEntry, SubjectKind},
};

use crate::prelude::*;

/// The maximum number of changes of an animal that one call of [`list_note_changes`] reads.
const MAX_READ_CHANGES: u32 = 200;

/// Reads a part of the audit trail that matches the query, the newest entry first.
///
/// Returns the entries, and the position after which the next part begins; `None` at the end of the
/// trail.
pub(super) async fn list_entries(
    desk: &Desk<'_>,
    query: &AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError> {
    let (mut entries, next) = desk.store().list_audit(query).await?;
    let Some(pet) = searched_pet(query) else {
        return Ok((entries, next));
    };
    let (note_changes, next_note_change) = list_note_changes(desk, query, pet).await?;
    entries.extend(note_changes.into_iter().map(AuditEntry::Change));
    entries.sort_by_key(|entry| Reverse(position_of(entry)));
    // One list can stop at a newer, that is larger, position than the other. This part of the trail
    // ends there: the next call reads the older entries of both lists. `None` means that a list is
    // complete, and is less than any position.
    let end = next.max(next_note_change);
    entries.retain(|entry| end.is_none_or(|end| position_of(entry) >= end));
    Ok((entries, end))
}

/// Returns the animal that a query searches for; `None` if the query is for another subject or for
/// all subjects.
fn searched_pet(query: &AuditQuery) -> Option<PetId> {
    let subject = query.subject.as_ref()?;
    if subject.kind != SubjectKind::Pet {
        return None;
    }
    PetId::new(subject.id?)
}

/// Reads the changes of the notes on an animal that match the query, the newest first.
///
/// Also returns the position after which the next call continues; `None` if the animal has no older
/// changes.
async fn list_note_changes(
    desk: &Desk<'_>,
    query: &AuditQuery,
    pet: PetId,
) -> Result<(Vec<JournalEntry>, Option<AuditPosition>), StoreError> {
    let before = query.after.map_or(i64::MAX, |position| {
        // `history` reads the changes below this number. If the last page ended with an act, the
        // change with the same number is older than the act, so this call must include it.
        position.seq.saturating_add(i64::from(position.act > 0))
    });
    let mut changes = desk.store().history(pet, before, MAX_READ_CHANGES).await?;
    let mut next = None;
    if changes.len() >= MAX_READ_CHANGES as usize {
        next = changes.last().map(position_of_change);
    }
    changes.retain(|change| change.subject.kind == SubjectKind::Note && matches(query, change));
    Ok((changes, next))
}

/// Whether a change has the type and the time that the query asks for.
fn matches(query: &AuditQuery, change: &JournalEntry) -> bool {
    let is_of_kind = match query.kind {
        Some(AuditType::Change(kind)) => change.kind == kind,
        Some(AuditType::Act(_)) => false,
        None => true,
    };
    let is_after_start = query.since.is_none_or(|since| change.at >= since);
    let is_before_end = query.until.is_none_or(|until| change.at < until);
    is_of_kind && is_after_start && is_before_end
}

/// Returns the position of a change in the audit trail. Its `act` is 0, as for every change.
fn position_of_change(change: &JournalEntry) -> AuditPosition {
    AuditPosition {
        seq: change.seq,
        act: 0,
    }
}

/// Returns the position of an entry that a search for an animal found.
///
/// Such a search finds no acts, because an animal is never the subject of an act. The position of
/// an act is therefore only a placeholder.
fn position_of(entry: &AuditEntry) -> AuditPosition {
    match entry {
        AuditEntry::Change(change) => position_of_change(change),
        AuditEntry::Act { id, .. } => AuditPosition { seq: 0, act: *id },
    }
}
