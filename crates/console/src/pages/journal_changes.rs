//! Looks up changes in the journal, and says in words what a single change did.

use jiff::ToSpan;
use petstore_domain::{
    NamedActor, PetId,
    store_area::{
        AuditEntry, AuditQuery, AuditType, ChangeType, JournalEntry, Order, Resource, StorePet,
        SubjectKind,
    },
};
use petstore_formats::json;
use serde_json::Value;

use crate::prelude::*;

/// How many of the newest changes of an animal are searched for the one that placed an order.
const MAX_SEARCHED_CHANGES: u32 = 100;

/// How many imports are searched for the one that added an animal.
const MAX_SEARCHED_IMPORTS: u32 = 20;

/// Loads the newest change of an animal.
pub(super) async fn load_newest_change(
    desk: &Desk<'_>,
    id: PetId,
) -> Result<Option<JournalEntry>, StoreError> {
    Ok(desk.store().history(id, i64::MAX, 1).await?.pop())
}

/// Returns the actor who placed an order. Returns `None` if the animal of the order has changed
/// more than [`MAX_SEARCHED_CHANGES`] times since.
pub(super) async fn find_placing_actor(
    desk: &Desk<'_>,
    order: &Order,
) -> Result<Option<NamedActor>, StoreError> {
    let changes = desk
        .store()
        .history(order.pet_id, i64::MAX, MAX_SEARCHED_CHANGES)
        .await?;
    // The change that created the order has no state before it. It is the oldest change of the
    // order, so the search begins with the oldest changes.
    let placement = changes.into_iter().rfind(|change| {
        change.subject.kind == SubjectKind::Order
            && change.subject.id == Some(order.id.get())
            && change.before.is_none()
    });
    Ok(placement.map(|change| change.actor))
}

/// Loads the import that added an animal. Returns `None` if it is not among the first
/// [`MAX_SEARCHED_IMPORTS`] imports since the animal was added.
pub(super) async fn load_import(
    desk: &Desk<'_>,
    pet: &StorePet,
) -> Result<Option<JournalEntry>, StoreError> {
    let query = AuditQuery {
        kind: Some(AuditType::Change(ChangeType::PetsImported)),
        // A margin of one second, in case the import has a slightly earlier time than its animals.
        since: pet
            .created_at
            .and_then(|added_at| added_at.checked_sub(1.second()).ok()),
        limit: MAX_SEARCHED_IMPORTS,
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

/// Whether an import added this animal.
///
/// The journal stores the range of the ids that an import gave to its animals, such as
/// `{"firstId":1,"lastId":20,"count":20}`. An import without a readable range counts as one of
/// other animals.
fn has_imported(import: &JournalEntry, id: PetId) -> bool {
    let Some(after) = &import.after else {
        return false;
    };
    let Ok(id_range) = serde_json::from_str::<Value>(after) else {
        return false;
    };
    // A missing member is null, which is not a number.
    let first_id = id_range["firstId"].as_i64();
    let last_id = id_range["lastId"].as_i64();
    let (Some(first_id), Some(last_id)) = (first_id, last_id) else {
        return false;
    };
    (first_id..=last_id).contains(&id.get())
}

/// Returns the wording for a change that says more than the wording for its type, such as
/// "extended" for an order whose end was moved to a later time. Returns `None` if there is no such
/// wording.
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

/// Returns the name that the animal of an entry had after the change. Returns `None` if the entry is
/// not about an animal.
pub(super) fn name_after_change(entry: &AuditEntry) -> Option<String> {
    let AuditEntry::Change(entry) = entry else {
        return None;
    };
    let after = json::read_change(entry)?.after?;
    Some(after.pet()?.name.as_str().to_owned())
}

/// Returns the ids of the categories that an animal had before and after a change.
pub(super) fn categories_in(entry: &JournalEntry) -> Vec<i64> {
    let Some(change) = json::read_change(entry) else {
        return Vec::new();
    };
    let mut categories = Vec::new();
    for resource in [change.before, change.after].into_iter().flatten() {
        categories.extend(resource.pet().map(|pet| pet.category_id));
    }
    categories
}
