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

/// A part of the audit trail.
pub(super) struct AuditPage {
    /// The matching entries, the newest first.
    pub(super) entries: Vec<AuditEntry>,
    /// The position after which the next part begins; `None` at the end of the trail.
    pub(super) next_position: Option<AuditPosition>,
}

/// A part of the changes of the notes on an animal.
struct NoteChanges {
    /// The matching changes, the newest first.
    changes: Vec<JournalEntry>,
    /// The position after which the next part begins; `None` if the animal has no older changes.
    next_position: Option<AuditPosition>,
}

/// Reads a part of the audit trail that matches the query.
pub(super) async fn list_entries(
    desk: &Desk<'_>,
    query: &AuditQuery,
) -> Result<AuditPage, StoreError> {
    let (mut entries, next_position) = desk.store().list_audit(query).await?;
    let Some(pet) = find_searched_pet(query) else {
        return Ok(AuditPage {
            entries,
            next_position,
        });
    };
    let note_changes = list_note_changes(desk, query, pet).await?;
    entries.extend(note_changes.changes.into_iter().map(AuditEntry::Change));
    entries.sort_by_key(|entry| Reverse(position_of(entry)));
    // The two lists can end at different positions. The page ends at the newer position, which is
    // the larger one, and the next call reads the older entries of both lists. A complete list has
    // `None`, which is less than any position.
    let end = next_position.max(note_changes.next_position);
    if let Some(end) = end {
        entries.retain(|entry| position_of(entry) >= end);
    }
    Ok(AuditPage {
        entries,
        next_position: end,
    })
}

/// Returns the animal that a query searches for. Returns `None` if the query is for another subject
/// or for all subjects.
fn find_searched_pet(query: &AuditQuery) -> Option<PetId> {
    let subject = query.subject.as_ref()?;
    if subject.kind != SubjectKind::Pet {
        return None;
    }
    PetId::new(subject.id?)
}

/// Reads a part of the changes of the notes on an animal that match the query.
async fn list_note_changes(
    desk: &Desk<'_>,
    query: &AuditQuery,
    pet: PetId,
) -> Result<NoteChanges, StoreError> {
    let before = history_bound(query.after);
    let mut changes = desk.store().history(pet, before, MAX_READ_CHANGES).await?;
    let mut next_position = None;
    if changes.len() >= MAX_READ_CHANGES as usize {
        next_position = changes.last().map(position_of_change);
    }
    changes.retain(|change| change.subject.kind == SubjectKind::Note && is_match(query, change));
    Ok(NoteChanges {
        changes,
        next_position,
    })
}

/// Returns the bound with which `history` reads the changes after this position of the audit trail.
/// These are the changes with numbers below the bound.
fn history_bound(after: Option<AuditPosition>) -> i64 {
    match after {
        None => i64::MAX,
        // The previous page ended with an act. The change with the same number is older than the
        // act, so it belongs to this page.
        Some(AuditPosition { seq, act }) if act > 0 => seq.saturating_add(1),
        Some(AuditPosition { seq, .. }) => seq,
    }
}

/// Whether a change has the type and the time that the query asks for.
fn is_match(query: &AuditQuery, change: &JournalEntry) -> bool {
    let has_type = match query.kind {
        Some(AuditType::Change(kind)) => change.kind == kind,
        Some(AuditType::Act(_)) => false,
        None => true,
    };
    let is_after_start = query.since.is_none_or(|since| change.at >= since);
    let is_before_end = query.until.is_none_or(|until| change.at < until);
    has_type && is_after_start && is_before_end
}

/// Returns the position of a change in the audit trail.
fn position_of_change(change: &JournalEntry) -> AuditPosition {
    AuditPosition {
        seq: change.seq,
        // Only acts of administration have a number here.
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
