//! The history of an animal, from the journal of changes.

use std::{cmp::Reverse, collections::BTreeSet};

use jiff::{Timestamp, ToSpan};
use petstore_domain::{
    NamedActor, PetId,
    store_area::{
        AuditEntry, AuditQuery, AuditType, ChangeType, JournalEntry, Order,
        PHOTOS_COME_BACK_WITHIN, PetNote, Resource, Reversal, StorePet, SubjectKind,
    },
};
use petstore_formats::json;
use serde_json::Value;

use super::{differences::show_differences, notes, parts::link, pet_schema::PetSchema};
use crate::{prelude::*, reply::CHANGE};

/// The number of entries that a page shows.
const MAX_ENTRIES: u32 = 20;

/// The number of changes of an animal that are searched for the one that placed an order.
const MAX_SEARCHED_CHANGES: u32 = 100;

/// Returns the newest change of an animal.
pub(super) async fn last(desk: &Desk<'_>, id: PetId) -> Result<Option<JournalEntry>, StoreError> {
    Ok(desk.store().history(id, i64::MAX, 1).await?.pop())
}

/// Returns who placed an order. `None` if its animal has changed too often since.
pub(super) async fn placed_by(
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

/// Shows the changes of an animal and of its orders, and the notes on the animal, the newest first.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    let mut changes = desk
        .store()
        .history(pet.id, before, MAX_ENTRIES + 1)
        .await?;
    let mut entries: Vec<JournalEntry> = Vec::new();
    for (index, change) in changes.iter().take(MAX_ENTRIES as usize).enumerate() {
        if !follows_from_order(change, changes.get(index + 1)) && !is_shown_by_note(change) {
            entries.push(change.clone());
        }
    }

    let is_complete = changes.len() <= MAX_ENTRIES as usize;
    changes.truncate(MAX_ENTRIES as usize);
    let is_added_here = changes
        .iter()
        .any(|change| change.kind == ChangeType::PetAdded);
    // An animal that was imported begins with the import, which is one entry for all its animals.
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
            // Also on the page that follows a form, which has another path.
            @if !is_complete {
                a href=(link(&format!("/animals/{}", pet.id), &[("before", &oldest)])) { (texts().older) }
            }
        }
    })
}

/// Shows these changes and notes, the newest first. `changes` are all changes on the page, also those that notes show.
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
    let items = in_order(entries, notes);
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

/// Loads the notes on an animal for a page of its history: those from `start` on, and before the change `before`, with
/// which the page before ended. A note is shown at its time, whether the journal still has its change or not.
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

/// Returns changes, which begin with the newest, and notes as items, the newest first. At the same time, a note comes
/// after the change that it is about.
fn in_order(entries: Vec<JournalEntry>, notes: Vec<PetNote>) -> Vec<Item> {
    let mut items: Vec<Item> = notes.into_iter().rev().map(Item::Note).collect();
    items.extend(entries.into_iter().map(Item::Change));
    items.sort_by_key(|item| Reverse(item.time()));
    items
}

/// Whether the note of a change shows it: that it was added or corrected.
fn is_shown_by_note(change: &JournalEntry) -> bool {
    change.kind == ChangeType::NoteAdded || change.kind == ChangeType::NoteChanged
}

/// Shows an entry of the history, with a button if it took a photo that can come back.
fn entry_markup(
    desk: &Desk<'_>,
    pet: &StorePet,
    entry: &JournalEntry,
    schema: PetSchema<'_>,
) -> Markup {
    let action = match replaced(entry) {
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
                button name=(CHANGE) value=(entry.seq) { (texts().put_back) }
            }
        }
        div.hint { (wording::actor(&entry.actor)) ", " (markup::time(entry.at, desk.visit.now)) }
    }
}

/// Shows the entry of an added animal on one line, which opens the values that the animal had at first.
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

/// Whether the member can give the animal a photo back that this change took.
fn can_put_back(desk: &Desk<'_>, pet: &StorePet, entry: &JournalEntry) -> bool {
    let is_late = desk.visit.now.duration_since(entry.at) >= PHOTOS_COME_BACK_WITHIN;
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

/// Returns the words for a change, if its type does not say that it replaced something.
pub(super) fn replaced(entry: &JournalEntry) -> Option<&'static str> {
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

/// Returns the name of the animal that an entry is about, at that time.
pub(super) fn name(entry: &AuditEntry) -> Option<String> {
    let AuditEntry::Change(entry) = entry else {
        return None;
    };
    let after = json::read_change(entry)?.after?;
    Some(after.pet()?.name.as_str().to_owned())
}

/// Loads the import that added an animal, from the first imports since the animal exists.
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

/// Whether an import added this animal. The journal has the first and the last number, such as
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

/// Whether a change only gives the animal the status of the order that was changed right before.
fn follows_from_order(change: &JournalEntry, change_before: Option<&JournalEntry>) -> bool {
    let Some(change_before) = change_before else {
        return false;
    };
    change.kind == ChangeType::PetChanged
        && change_before.subject.kind == SubjectKind::Order
        && change_before.kind != ChangeType::OrderChanged
        && change_before.seq + 1 == change.seq
        && change_before.at == change.at
}

/// Returns the categories that an animal had before and after a change.
pub(super) fn categories_in(entry: &JournalEntry) -> Vec<i64> {
    let Some(change) = json::read_change(entry) else {
        return Vec::new();
    };
    let resources = [change.before, change.after].into_iter().flatten();
    resources
        .filter_map(|resource| Some(resource.pet()?.category_id))
        .collect()
}
