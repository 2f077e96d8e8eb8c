//! Renders the history of an animal: the changes in the journal, and the notes.

use std::{cmp::Reverse, collections::BTreeSet};

use jiff::{Timestamp, ToSpan};
use petstore_domain::{
    NamedActor, PetId,
    store_area::{
        AuditEntry, AuditQuery, AuditType, ChangeType, JournalEntry, Order, PHOTO_RESTORE_WINDOW,
        PetNote, Resource, Reversal, StorePet, SubjectKind,
    },
};
use petstore_formats::json;
use serde_json::Value;

use super::{differences::show_differences, notes, parts::link, pet_schema::PetSchema};
use crate::{prelude::*, reply::CHANGE_FIELD};

/// The number of changes on each page of the history.
const MAX_ENTRIES: u32 = 20;

/// How many of the newest changes of an animal are searched for the one that placed an order.
const MAX_SEARCHED_CHANGES: u32 = 100;

/// Returns the newest change of an animal.
pub(super) async fn newest_change(
    desk: &Desk<'_>,
    id: PetId,
) -> Result<Option<JournalEntry>, StoreError> {
    Ok(desk.store().history(id, i64::MAX, 1).await?.pop())
}

/// Returns the actor who placed an order; `None` if its animal has changed more than
/// [`MAX_SEARCHED_CHANGES`] times since.
pub(super) async fn find_placing_actor(
    desk: &Desk<'_>,
    order: &Order,
) -> Result<Option<NamedActor>, StoreError> {
    let changes = desk
        .store()
        .history(order.pet_id, i64::MAX, MAX_SEARCHED_CHANGES)
        .await?;
    let placement = changes.into_iter().rfind(|change| {
        change.subject.kind == SubjectKind::Order
            && change.subject.id == Some(order.id.get())
            && change.before.is_none()
    });
    Ok(placement.map(|change| change.actor))
}

/// An item of the history.
enum Item {
    Change(JournalEntry),
    Note(PetNote),
}

impl Item {
    fn time(&self) -> Timestamp {
        match self {
            Self::Change(entry) => entry.at,
            Self::Note(note) => note.created_at,
        }
    }
}

/// Renders a page of the changes of an animal and of its orders, together with the notes on the
/// animal, the newest first.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    let mut changes = desk
        .store()
        .history(pet.id, before, MAX_ENTRIES + 1)
        .await?;
    let mut entries = changes_to_render(&changes);
    let is_complete = changes.len() <= MAX_ENTRIES as usize;
    changes.truncate(MAX_ENTRIES as usize);
    let is_added_here = changes
        .iter()
        .any(|change| change.kind == ChangeType::PetAdded);
    // The history of an imported animal begins with the import, which has one entry for all of its
    // animals.
    if is_complete && !is_added_here {
        entries.extend(load_import(desk, pet).await?);
    }

    let start = if is_complete {
        None
    } else {
        changes.last().map(|change| change.at)
    };
    let notes = load_notes(desk, pet.id, start, before).await?;
    let items = show_items(desk, pet, entries, notes, &changes).await?;
    let oldest = changes.last().map(|change| change.seq.to_string());
    Ok(html! {
        (items)
        @if let Some(oldest) = oldest {
            // The link has the whole path, because the page can also be the response to a form,
            // which has another path.
            @if !is_complete {
                a href=(link(&format!("/animals/{}", pet.id), &[("before", &oldest)])) { (texts().older) }
            }
        }
    })
}

/// Returns the changes among the first [`MAX_ENTRIES`] that are entries of the history. The others
/// are side effects of orders, or are rendered as notes. `changes` has one more change than the
/// page, to recognize a side effect at the end of the page.
fn changes_to_render(changes: &[JournalEntry]) -> Vec<JournalEntry> {
    let mut entries = Vec::new();
    for (index, change) in changes.iter().take(MAX_ENTRIES as usize).enumerate() {
        if !is_side_effect_of_order(change, changes.get(index + 1)) && !is_shown_by_note(change) {
            entries.push(change.clone());
        }
    }
    entries
}

/// Renders these changes and notes, the newest first. `changes` are all changes of the page,
/// including those that are rendered as notes.
async fn show_items(
    desk: &Desk<'_>,
    pet: &StorePet,
    entries: Vec<JournalEntry>,
    notes: Vec<PetNote>,
    changes: &[JournalEntry],
) -> Result<Markup, StoreError> {
    let category_ids: BTreeSet<i64> = entries.iter().flat_map(categories_in).collect();
    let categories = desk.load_categories(category_ids).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let items = merge_newest_first(entries, notes);
    Ok(html! {
        @if items.is_empty() { p.muted { (texts().no_history) } }
        ol.history {
            @for item in &items {
                li {
                    @match item {
                        Item::Change(entry) => { (entry_markup(desk, pet, entry, schema)) }
                        Item::Note(note) => { (notes::entry(desk, note, changes)) }
                    }
                }
            }
        }
    })
}

/// Loads the notes on an animal that belong on one page of its history: those created at or after
/// `start`, and earlier than the change with the number `before`, with which the previous page
/// ended.
///
/// A note appears at the time of its creation, even if the journal no longer has the change that
/// added it.
async fn load_notes(
    desk: &Desk<'_>,
    pet: PetId,
    start: Option<Timestamp>,
    before: i64,
) -> Result<Vec<PetNote>, StoreError> {
    let mut end = None;
    if before < i64::MAX {
        let last_changes = desk
            .store()
            .history(pet, before.saturating_add(1), 1)
            .await?;
        end = last_changes.first().map(|change| change.at);
    }
    let mut notes = desk.store().all_notes(pet).await?;
    notes.retain(|note| {
        let is_before_end = end.is_none_or(|end| note.created_at < end);
        start.is_none_or(|start| note.created_at >= start) && is_before_end
    });
    Ok(notes)
}

/// Merges changes, sorted from newest to oldest, with notes, sorted from oldest to newest. The
/// result is sorted from newest to oldest. A note precedes a change of the same time.
fn merge_newest_first(entries: Vec<JournalEntry>, notes: Vec<PetNote>) -> Vec<Item> {
    let mut items: Vec<Item> = notes.into_iter().rev().map(Item::Note).collect();
    items.extend(entries.into_iter().map(Item::Change));
    items.sort_by_key(|item| Reverse(item.time()));
    items
}

/// Whether a change added or corrected a note. The note itself is an item of the history and says
/// so.
fn is_shown_by_note(change: &JournalEntry) -> bool {
    change.kind == ChangeType::NoteAdded || change.kind == ChangeType::NoteChanged
}

/// Renders a change of the history, with a button that restores a photo if the change deleted one.
fn entry_markup(
    desk: &Desk<'_>,
    pet: &StorePet,
    entry: &JournalEntry,
    schema: PetSchema<'_>,
) -> Markup {
    let action = match specific_wording(entry) {
        Some(action) => action.to_owned(),
        None => wording::change_type(&entry.kind),
    };
    let is_about_order = entry.subject.kind == SubjectKind::Order;
    if entry.kind == ChangeType::PetAdded {
        return first_entry(desk, entry, &action, schema);
    }
    html! {
        div {
            strong { (action) }
            @if let Some(order) = entry.subject.id {
                @if is_about_order { ", " a href={ "/orders/" (order) } { (texts().this_order(order)) } }
            }
        }
        @if entry.kind != ChangeType::PetsImported { (show_differences(desk, entry, schema)) }
        @if can_put_back(desk, pet, entry) {
            form method="post" action={ "/animals/" (pet.id) "/photos/undo" } {
                (desk.key("put-back"))
                button name=(CHANGE_FIELD) value=(entry.seq) { (texts().put_back) }
            }
        }
        div.hint { (wording::actor(&entry.actor)) ", " (markup::time(entry.at, desk.visit.now)) }
    }
}

/// Renders the change that added the animal: one line, which expands to the initial values.
fn first_entry(
    desk: &Desk<'_>,
    entry: &JournalEntry,
    action: &str,
    schema: PetSchema<'_>,
) -> Markup {
    html! {
        details {
            summary {
                strong { (action) } " "
                span.hint { (wording::actor(&entry.actor)) ", " (markup::time(entry.at, desk.visit.now)) }
            }
            (show_differences(desk, entry, schema))
        }
    }
}

/// Whether the member can restore a photo that this change deleted from the animal.
fn can_put_back(desk: &Desk<'_>, pet: &StorePet, entry: &JournalEntry) -> bool {
    let is_late = desk.visit.now.duration_since(entry.at) >= PHOTO_RESTORE_WINDOW;
    if is_late || !desk.may_write() || pet.withdrawal.is_some() {
        return false;
    }
    let Some(change) = json::read_change(entry) else {
        return false;
    };
    let reversals = Reversal::from_act(&[change], entry.at, Timestamp::UNIX_EPOCH);
    reversals.unwrap_or_default().iter().any(|reversal| {
        let Reversal::Pet(reversal) = reversal else {
            return false;
        };
        let mut lost_photos = reversal.lost_photos.iter();
        lost_photos.any(|lost| pet.photos.position(lost.photo.id).is_none())
    })
}

/// Returns a more specific wording for a change than its type gives, such as "extended" for an
/// order whose end was moved to a later time; `None` if the type says enough.
pub(super) fn specific_wording(entry: &JournalEntry) -> Option<&'static str> {
    let change = json::read_change(entry)?;
    match (change.kind, change.before?, change.after?) {
        (ChangeType::OrderChanged, Resource::Order(before), Resource::Order(after))
            if before.expires_at < after.expires_at =>
        {
            Some(texts().extended)
        }
        (ChangeType::CategoryChanged, _, _) => Some(texts().renamed),
        _ => None,
    }
}

/// Returns the name that the animal of an entry had after the change.
pub(super) fn pet_name(entry: &AuditEntry) -> Option<String> {
    let AuditEntry::Change(entry) = entry else {
        return None;
    };
    let after = json::read_change(entry)?.after?;
    Some(after.pet()?.name.as_str().to_owned())
}

/// Loads the import that added an animal, if it is among the first [`MAX_ENTRIES`] imports since
/// the animal was added.
async fn load_import(desk: &Desk<'_>, pet: &StorePet) -> Result<Option<JournalEntry>, StoreError> {
    let query = AuditQuery {
        kind: Some(AuditType::Change(ChangeType::PetsImported)),
        since: pet
            .created_at
            .and_then(|added_at| added_at.checked_sub(1.second()).ok()),
        limit: MAX_ENTRIES,
        ..AuditQuery::default()
    };
    let (entries, _) = desk.store().list_audit(&query).await?;
    for entry in entries {
        if let AuditEntry::Change(change) = entry
            && has_imported(&change, pet.id)
        {
            return Ok(Some(change));
        }
    }
    Ok(None)
}

/// Whether an import added this animal. The journal stores the range of ids of an import, such as
/// `{"firstId":1,"lastId":20,"count":20}`.
fn has_imported(import: &JournalEntry, id: PetId) -> bool {
    let numbers: Value = import
        .after
        .as_deref()
        .and_then(|after| serde_json::from_str(after).ok())
        .unwrap_or_default();
    let (Some(first), Some(last)) = (numbers["firstId"].as_i64(), numbers["lastId"].as_i64())
    else {
        return false;
    };
    (first..=last).contains(&id.get())
}

/// Whether a change is a side effect of the change of an order right before it, which gave the
/// animal its new status. The history omits such a change.
fn is_side_effect_of_order(change: &JournalEntry, previous_change: Option<&JournalEntry>) -> bool {
    let Some(previous_change) = previous_change else {
        return false;
    };
    change.kind == ChangeType::PetChanged
        && previous_change.subject.kind == SubjectKind::Order
        && previous_change.kind != ChangeType::OrderChanged
        && previous_change.seq + 1 == change.seq
        && previous_change.at == change.at
}

/// Returns the ids of the categories that an animal had before and after a change.
pub(super) fn categories_in(entry: &JournalEntry) -> Vec<i64> {
    let Some(change) = json::read_change(entry) else {
        return Vec::new();
    };
    let resources = [change.before, change.after].into_iter().flatten();
    resources
        .filter_map(|resource| Some(resource.pet()?.category_id))
        .collect()
}
