//! Renders the history of an animal: the changes of the animal and of its orders, and the notes.

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
    // A change without a state before it is the one that created the order.
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
    /// Returns the time by which the items are sorted.
    fn time(&self) -> Timestamp {
        match self {
            Self::Change(entry) => entry.at,
            Self::Note(note) => note.created_at,
        }
    }
}

/// Renders a page of the history of an animal, the newest item first. The query parameter `before`
/// is the number of the last change of the previous page.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    // The additional change tells whether a further page follows.
    let mut changes = desk
        .store()
        .history(pet.id, before, MAX_ENTRIES + 1)
        .await?;
    let mut entries = changes_to_render(&changes);
    let is_complete = changes.len() <= MAX_ENTRIES as usize;
    changes.truncate(MAX_ENTRIES as usize);
    let includes_addition = changes
        .iter()
        .any(|change| change.kind == ChangeType::PetAdded);
    // An imported animal has no change of its own for its addition: the import has one change for
    // all of its animals.
    if is_complete && !includes_addition {
        entries.extend(load_import(desk, pet).await?);
    }

    let last_change = if is_complete { None } else { changes.last() };
    let start = last_change.map(|change| change.at);
    let notes = load_notes(desk, pet.id, start, before).await?;
    let items = show_items(desk, pet, entries, notes, &changes).await?;
    Ok(html! {
        (items)
        @if let Some(last_change) = last_change {
            // A relative link would be wrong where this page is the response to a form, whose path
            // is another one.
            @let path = format!("/animals/{}", pet.id);
            a href=(link(&path, &[("before", &last_change.seq.to_string())])) { (texts().older) }
        }
    })
}

/// Returns the changes of the page, the first [`MAX_ENTRIES`], without side effects of orders and
/// without changes that are rendered as notes.
///
/// `changes` are sorted from newest to oldest. They include the first change of the next page, by
/// which a side effect at the end of this page is recognized.
fn changes_to_render(changes: &[JournalEntry]) -> Vec<JournalEntry> {
    let mut entries = Vec::new();
    for (index, change) in changes.iter().take(MAX_ENTRIES as usize).enumerate() {
        let previous_change = changes.get(index + 1);
        if !is_side_effect_of_order(change, previous_change) && !is_shown_by_note(change) {
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

/// Loads the notes for a page of the history of an animal: those created at or after `start`, and
/// earlier than the change with the number `before`, the last one of the previous page.
///
/// The page is selected by the creation time of the note and not by the change that added it,
/// because the journal may no longer have that change.
async fn load_notes(
    desk: &Desk<'_>,
    pet: PetId,
    start: Option<Timestamp>,
    before: i64,
) -> Result<Vec<PetNote>, StoreError> {
    let mut end = None;
    if before < i64::MAX {
        // The bound of `history` is exclusive, so this loads the change `before` itself.
        let last_of_previous_page = desk
            .store()
            .history(pet, before.saturating_add(1), 1)
            .await?;
        end = last_of_previous_page.first().map(|change| change.at);
    }
    let mut notes = desk.store().all_notes(pet).await?;
    notes.retain(|note| {
        let is_after_start = start.is_none_or(|start| note.created_at >= start);
        let is_before_end = end.is_none_or(|end| note.created_at < end);
        is_after_start && is_before_end
    });
    Ok(notes)
}

/// Merges changes and notes into items, sorted from newest to oldest. `entries` are sorted from
/// newest to oldest, and `notes` from oldest to newest. A note precedes a change of the same time.
fn merge_newest_first(entries: Vec<JournalEntry>, notes: Vec<PetNote>) -> Vec<Item> {
    let mut items: Vec<Item> = notes.into_iter().rev().map(Item::Note).collect();
    items.extend(entries.into_iter().map(Item::Change));
    // The sort is stable.
    items.sort_by_key(|item| Reverse(item.time()));
    items
}

/// Whether a change added or corrected a note. The history omits such a change, because the note is
/// an item of its own and shows both.
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
    if entry.kind == ChangeType::PetAdded {
        return addition_markup(desk, entry, &action, schema);
    }
    let is_about_order = entry.subject.kind == SubjectKind::Order;
    html! {
        div {
            strong { (action) }
            @if let Some(order) = entry.subject.id {
                @if is_about_order { ", " a href={ "/orders/" (order) } { (texts().this_order(order)) } }
            }
        }
        @if entry.kind != ChangeType::PetsImported { (show_differences(desk, entry, schema)) }
        @if can_restore_photo(desk, pet, entry) {
            form method="post" action={ "/animals/" (pet.id) "/photos/undo" } {
                (desk.key_field("put-back"))
                button name=(CHANGE_FIELD) value=(entry.seq) { (texts().put_back) }
            }
        }
        div.hint { (wording::actor(&entry.actor)) ", " (markup::time(entry.at, desk.visit.now)) }
    }
}

/// Renders the change that added the animal: one line, which expands to the initial values.
fn addition_markup(
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
fn can_restore_photo(desk: &Desk<'_>, pet: &StorePet, entry: &JournalEntry) -> bool {
    let is_late = desk.visit.now.duration_since(entry.at) >= PHOTO_RESTORE_WINDOW;
    if is_late || !desk.may_write() || pet.withdrawal.is_some() {
        return false;
    }
    let Some(change) = json::read_change(entry) else {
        return false;
    };
    // The last argument is the new end of a reopened reservation, which restoring a photo never is.
    let reversals = Reversal::from_act(&[change], entry.at, Timestamp::UNIX_EPOCH);
    reversals.unwrap_or_default().iter().any(|reversal| {
        let Reversal::Pet(reversal) = reversal else {
            return false;
        };
        reversal
            .lost_photos
            .iter()
            .any(|lost| pet.photos.position(lost.photo.id).is_none())
    })
}

/// Returns a wording for a change that is more specific than the wording for its type, such as
/// "extended" for an order whose end was moved to a later time; `None` if there is none.
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
        // A margin of one second, in case the import has a slightly earlier time than its animals.
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

/// Whether a change is only a side effect of `previous_change`: that change gave an order its status,
/// and this one gives the animal the status that follows from it. The history omits such a change.
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
