//! Renders the history of an animal: the changes of the animal and of its orders, and the notes.

use std::{cmp::Reverse, collections::BTreeSet};

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{
        ChangeType, JournalEntry, PHOTO_RESTORE_WINDOW, PetNote, PetReversal, Reversal, StorePet,
        SubjectKind,
    },
};
use petstore_formats::json;

use super::{
    differences::show_differences,
    journal_changes::{categories_in, load_import, specific_wording},
    notes,
    parts::link,
    pet_schema::PetSchema,
};
use crate::{prelude::*, reply::CHANGE_FIELD};

/// The number of changes on each page of the history.
const MAX_CHANGES: u32 = 20;

/// An item of the history.
enum Item {
    Change(JournalEntry),
    Note(PetNote),
}

impl Item {
    /// Returns the time by which the items are sorted.
    fn time(&self) -> Timestamp {
        match self {
            Self::Change(change) => change.at,
            Self::Note(note) => note.created_at,
        }
    }
}

/// A page of the history.
struct HistoryPage {
    /// The changes and notes to render, from newest to oldest.
    items: Vec<Item>,
    /// All changes of the page, including those without an item of their own.
    changes: Vec<JournalEntry>,
    /// The number of the last change of the page; `None` if no page follows.
    next_position: Option<i64>,
}

/// Renders a page of the history of an animal, the newest item first.
///
/// The query parameter `before` is the number of the last change of the previous page.
pub(super) async fn show(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, StoreError> {
    let page = load_page(desk, pet).await?;
    let items = show_items(desk, pet, &page).await?;
    Ok(html! {
        (items)
        @if let Some(next_position) = page.next_position {
            // A relative link would be wrong where this page is the response to a form, whose path
            // is another one.
            @let path = format!("/animals/{}", pet.id);
            a href=(link(&path, &[("before", &next_position.to_string())])) { (texts().older) }
        }
    })
}

/// Loads the page of the history that the query parameter `before` selects.
async fn load_page(desk: &Desk<'_>, pet: &StorePet) -> Result<HistoryPage, StoreError> {
    let before = desk.visit.query.integer("before").unwrap_or(i64::MAX);
    // The change after the last one of the page tells whether a further page follows.
    let mut changes = desk
        .store()
        .history(pet.id, before, MAX_CHANGES + 1)
        .await?;
    let has_next_page = changes.len() > MAX_CHANGES as usize;
    let mut shown_changes = select_shown_changes(&changes);
    changes.truncate(MAX_CHANGES as usize);
    let includes_addition = changes
        .iter()
        .any(|change| change.kind == ChangeType::PetAdded);
    // An imported animal has no change of its own for its addition: the import has one change for
    // all of its animals.
    if !has_next_page && !includes_addition {
        shown_changes.extend(load_import(desk, pet).await?);
    }

    let last_change = if has_next_page { changes.last() } else { None };
    let start = last_change.map(|change| change.at);
    let next_position = last_change.map(|change| change.seq);
    let notes = load_notes(desk, pet.id, start, before).await?;
    Ok(HistoryPage {
        items: merge_newest_first(shown_changes, notes),
        changes,
        next_position,
    })
}

/// Returns the changes of a page that are items of the history. Leaves out the side effects of
/// orders, and the changes that are rendered as notes.
///
/// `changes` are sorted from newest to oldest. They include the first change of the next page, by
/// which a side effect at the end of this page is recognized.
fn select_shown_changes(changes: &[JournalEntry]) -> Vec<JournalEntry> {
    let mut shown_changes = Vec::new();
    for (index, change) in changes.iter().take(MAX_CHANGES as usize).enumerate() {
        let previous_change = changes.get(index + 1);
        if is_side_effect_of_order(change, previous_change) || is_shown_by_note(change) {
            continue;
        }
        shown_changes.push(change.clone());
    }
    shown_changes
}

/// Renders the items of a page as a list.
async fn show_items(
    desk: &Desk<'_>,
    pet: &StorePet,
    page: &HistoryPage,
) -> Result<Markup, StoreError> {
    let mut category_ids = BTreeSet::new();
    for item in &page.items {
        if let Item::Change(change) = item {
            category_ids.extend(categories_in(change));
        }
    }
    let categories = desk.load_categories(category_ids).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    Ok(html! {
        @if page.items.is_empty() { p.muted { (texts().no_history) } }
        ol.history {
            @for item in &page.items {
                li {
                    @match item {
                        Item::Change(change) => { (change_markup(desk, pet, change, schema)) }
                        Item::Note(note) => { (notes::history_item(desk, note, &page.changes)) }
                    }
                }
            }
        }
    })
}

/// Loads the notes for a page of the history of an animal.
///
/// The notes were created at or after `start`, and earlier than the change with the number
/// `before`, which is the last one of the previous page. The creation time of a note selects its
/// page, because the journal may no longer have the change that added the note.
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

/// Merges changes and notes into items, sorted from newest to oldest.
///
/// `changes` are sorted from newest to oldest, and `notes` from oldest to newest. A note precedes a
/// change of the same time.
fn merge_newest_first(changes: Vec<JournalEntry>, notes: Vec<PetNote>) -> Vec<Item> {
    let mut items: Vec<Item> = notes.into_iter().rev().map(Item::Note).collect();
    items.extend(changes.into_iter().map(Item::Change));
    // The sort is stable, so items of the same time stay in this order.
    items.sort_by_key(|item| Reverse(item.time()));
    items
}

/// Whether a change added or corrected a note.
///
/// The history omits such a change, because the note is an item of its own, which shows when it was
/// added and corrected.
fn is_shown_by_note(change: &JournalEntry) -> bool {
    change.kind == ChangeType::NoteAdded || change.kind == ChangeType::NoteChanged
}

/// Renders a change of the history, with a button that restores a photo if the change deleted one.
fn change_markup(
    desk: &Desk<'_>,
    pet: &StorePet,
    change: &JournalEntry,
    schema: PetSchema<'_>,
) -> Markup {
    let action = match specific_wording(change) {
        Some(action) => action.to_owned(),
        None => wording::change_type(&change.kind),
    };
    if change.kind == ChangeType::PetAdded {
        return addition_markup(desk, change, &action, schema);
    }
    let order_id = if change.subject.kind == SubjectKind::Order {
        change.subject.id
    } else {
        None
    };
    html! {
        div {
            strong { (action) }
            @if let Some(id) = order_id { " · " a href={ "/orders/" (id) } { (texts().this_order(id)) } }
        }
        @if change.kind != ChangeType::PetsImported { (show_differences(desk, change, schema)) }
        @if can_restore_photo(desk, pet, change) {
            form method="post" action={ "/animals/" (pet.id) "/photos/undo" } {
                (desk.idempotency_field("put-back"))
                button name=(CHANGE_FIELD) value=(change.seq) { (texts().put_back) }
            }
        }
        div.hint { (wording::actor(&change.actor)) ", " (markup::time(change.at, desk.visit.now)) }
    }
}

/// Renders the change that added the animal: one line, which expands to the initial values.
fn addition_markup(
    desk: &Desk<'_>,
    change: &JournalEntry,
    action: &str,
    schema: PetSchema<'_>,
) -> Markup {
    html! {
        details {
            summary {
                strong { (action) } " "
                span.hint { (wording::actor(&change.actor)) ", " (markup::time(change.at, desk.visit.now)) }
            }
            (show_differences(desk, change, schema))
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
    // The last argument is the new end of a reopened reservation. Restoring a photo reopens none.
    // A change that cannot be reverted has no reversals.
    let reversals =
        Reversal::from_act(&[change], entry.at, Timestamp::UNIX_EPOCH).unwrap_or_default();
    reversals.iter().any(|reversal| match reversal {
        Reversal::Pet(reversal) => brings_back_photo(reversal, pet),
        Reversal::Category(_) | Reversal::Impossible(_) => false,
    })
}

/// Whether a reversal brings back a photo that the animal does not have now.
fn brings_back_photo(reversal: &PetReversal, pet: &StorePet) -> bool {
    let mut lost_photos = reversal.lost_photos.iter();
    lost_photos.any(|lost| pet.photos.position(lost.photo.id).is_none())
}

/// Whether a change is only a side effect of `previous_change`, which gave an order its status.
///
/// The change then gives the animal the status that follows from the order. The history omits it.
fn is_side_effect_of_order(change: &JournalEntry, previous_change: Option<&JournalEntry>) -> bool {
    let Some(previous_change) = previous_change else {
        return false;
    };
    let is_about_order = previous_change.subject.kind == SubjectKind::Order;
    // An edit of an order, such as one of its end, does not change its status.
    let sets_order_status = is_about_order && previous_change.kind != ChangeType::OrderChanged;
    // The changes of one act have consecutive numbers and the same time.
    let is_same_act = previous_change.seq + 1 == change.seq && previous_change.at == change.at;
    change.kind == ChangeType::PetChanged && sets_order_status && is_same_act
}
