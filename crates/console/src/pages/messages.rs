//! The message about the act of a form: the changes that the form has just made in one transaction.
//!
//! The message is built after the transaction, from the act in the journal. The store remembers
//! only a reference to the act as the response of the form. A repetition of the form finds the same
//! act, and therefore gets the same message.

use std::collections::BTreeSet;

use jiff::Timestamp;
use petstore_domain::{
    PetId, StoredResponse,
    store_area::{
        Change, ChangeType, Decision, JournalSubject, Order, OrderId, OrderStatus, Resource,
        Reversal, StorePet, SubjectKind,
    },
};

use crate::{
    prelude::*,
    reply::{Flash, Undo},
};

/// The code of the message that something was saved.
const SAVED: &str = "saved";

/// The code of the message that a sale was undone.
const SALE_UNDONE: &str = "sale-undone";

/// The id of a message whose text needs no id.
const NO_ID: i64 = 0;

/// A reference to an act, which names the first change of the act. A form that changed nothing has
/// a reference without a change, which only names the subject of the form.
///
/// As text, the change that brought order 5 of animal 7 to version 3 is `order:5 3 7`, and animal 7
/// without a change is `pet:7`.
#[derive(Debug, PartialEq, Eq)]
struct ActReference {
    subject: JournalSubject,
    change: Option<ChangeReference>,
}

/// The version that a change gave to its subject, and the animal that the change is about.
#[derive(Debug, PartialEq, Eq)]
struct ChangeReference {
    version: i64,
    pet: PetId,
}

impl ActReference {
    /// Returns a reference to the first change of the given decisions that is about an animal.
    ///
    /// Without such a change, the reference names the result of the last decision. Returns `None`
    /// if that decision has no result.
    fn from_decisions(decisions: &[Decision]) -> Option<Self> {
        for change in decisions.iter().flat_map(|decision| &decision.changes) {
            let Some(resource) = changed_resource(change) else {
                continue;
            };
            if let Some(pet) = resource.pet_id() {
                let version = resource.version();
                return Some(Self {
                    subject: subject_of(resource),
                    change: Some(ChangeReference { version, pet }),
                });
            }
        }
        let result = decisions.last()?.result.as_ref()?;
        Some(Self {
            subject: subject_of(result),
            change: None,
        })
    }

    /// Parses the text that [`Self::to_text`] returns.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let subject = JournalSubject::parse(parts.next()?)?;
        let change = match (parts.next(), parts.next()) {
            (Some(version), Some(pet)) => Some(ChangeReference {
                version: version.parse().ok()?,
                pet: PetId::new(pet.parse().ok()?)?,
            }),
            _ => None,
        };
        Some(Self { subject, change })
    }

    /// Returns the reference as text. See [`ActReference`] for the format.
    fn to_text(&self) -> String {
        match &self.change {
            Some(ChangeReference { version, pet }) => format!("{} {version} {pet}", self.subject),
            None => self.subject.to_string(),
        }
    }
}

/// Returns the resource that a change is about. This is its state after the change, or its state
/// before a change that deleted it.
fn changed_resource(change: &Change) -> Option<&Resource> {
    change.after.as_ref().or(change.before.as_ref())
}

/// Returns the kind and the id of a resource.
fn subject_of(resource: &Resource) -> JournalSubject {
    let kind = match resource {
        Resource::Pet(_) => SubjectKind::Pet,
        Resource::Order(_) => SubjectKind::Order,
        Resource::Category(_) => SubjectKind::Category,
        Resource::Note(_) => SubjectKind::Note,
    };
    JournalSubject {
        kind: kind.into(),
        id: Some(resource.id()),
    }
}

/// Returns the response to remember for a form: a reference to its act. It is empty if there is
/// nothing to refer to.
pub(super) fn remembered_response(decisions: &[Decision]) -> StoredResponse {
    let reference = ActReference::from_decisions(decisions).map(|reference| reference.to_text());
    StoredResponse {
        status: 303,
        body: reference.unwrap_or_default().into_bytes(),
        ..StoredResponse::default()
    }
}

/// Returns the message about the act to which a remembered response refers.
///
/// The act is already committed, so a failure of the store only makes the message less specific.
pub(super) async fn message_about(desk: &Desk<'_>, remembered: &[u8]) -> Flash {
    let reference = str::from_utf8(remembered)
        .ok()
        .and_then(ActReference::parse);
    let Some(reference) = reference else {
        return unspecific_message();
    };
    let Some(ChangeReference { version, pet }) = reference.change else {
        return message_without_change(desk, &reference.subject).await;
    };

    let act = desk
        .app()
        .act_that_led_to(pet, &reference.subject, version)
        .await;
    let Ok(Some(act)) = act else {
        // The subject can be an order, whose id the message must not take for the one of an animal.
        return unspecific_message();
    };
    // Without changes, because this release cannot read those of a later one, the message is
    // unspecific.
    let changes = act.changes().unwrap_or_default();
    let mut flash = message_about_changes(&changes);
    if can_be_undone(&flash, &changes) {
        flash.undo = Some(Undo {
            seq: act.seq(),
            page: result_path(&changes),
        });
    }
    flash
}

/// Returns the message that something was saved, which does not say what.
fn unspecific_message() -> Flash {
    Flash::new(SAVED, NO_ID)
}

/// Returns the message about a form that changed nothing.
///
/// If the form was about an order, the message states the present status of the order, which is the
/// requested one.
async fn message_without_change(desk: &Desk<'_>, subject: &JournalSubject) -> Flash {
    let id = subject.id.unwrap_or(NO_ID);
    let order_id = match subject.kind.value() {
        Some(SubjectKind::Order) => OrderId::new(id),
        _ => None,
    };
    if let Some(order_id) = order_id
        && let Ok(Some(order)) = desk.store().get_order(order_id).await
    {
        return Flash::new(status_code(order.status), id);
    }
    Flash::new(SAVED, id)
}

/// Returns the message about the changes of one act.
fn message_about_changes(changes: &[Change]) -> Flash {
    let pet_count = affected_pets(changes).len();
    if pet_count > 1 {
        // An act that adds animals changes no other ones.
        let adds_pets = changes
            .first()
            .is_some_and(|change| change.kind == ChangeType::PetAdded);
        let code = if adds_pets {
            "added-many"
        } else {
            "changed-many"
        };
        return Flash::new(code, i64::try_from(pet_count).unwrap_or(i64::MAX));
    }

    let Some(requested_change) = find_requested_change(changes) else {
        return unspecific_message();
    };
    let id = match &requested_change.after {
        Some(resource) => resource.id(),
        None => NO_ID,
    };
    Flash::new(message_code(requested_change, changes), id)
}

/// Returns the code of the message about an act on one animal. `requested_change` is the change
/// that the member requested.
fn message_code(requested_change: &Change, changes: &[Change]) -> &'static str {
    match (requested_change.kind, requested_change.after.as_ref()) {
        (ChangeType::PetAdded, _) => "added",
        (ChangeType::PetWithdrawn, _) => "withdrawn",
        (ChangeType::PetRestored, _) => "restored",
        (ChangeType::OrderChanged, _) if moves_end(requested_change) => "extended",
        (ChangeType::OrderChanged, _) => SAVED,
        (_, Some(Resource::Order(_))) if undoes_sale(changes) => SALE_UNDONE,
        (_, Some(Resource::Order(order))) => status_code(order.status),
        _ => pet_change_code(requested_change),
    }
}

/// Returns the change that the member requested, which is the last change that is about an animal.
///
/// A change of the status of an order can be followed by a change of its animal, whose status
/// depends on the order. The member then requested the change of the order, so returns that one.
fn find_requested_change(changes: &[Change]) -> Option<&Change> {
    let pet_changes: Vec<&Change> = changes
        .iter()
        .filter(|change| affected_pet(change).is_some())
        .collect();
    let (last_change, earlier_changes) = pet_changes.split_last()?;
    if last_change.kind != ChangeType::PetChanged {
        return Some(last_change);
    }
    match earlier_changes.last() {
        Some(previous_change) if sets_order_status(previous_change) => Some(previous_change),
        _ => Some(last_change),
    }
}

/// Whether a change gave an order its status, which also determines the status of its animal.
fn sets_order_status(change: &Change) -> bool {
    let is_about_order = change.after.as_ref().and_then(Resource::order).is_some();
    is_about_order && change.kind != ChangeType::OrderChanged
}

/// Returns the animals that the changes concern.
fn affected_pets(changes: &[Change]) -> BTreeSet<PetId> {
    changes.iter().filter_map(affected_pet).collect()
}

/// Returns the animal that a change concerns. For a change of an order, this is the animal of the
/// order.
fn affected_pet(change: &Change) -> Option<PetId> {
    changed_resource(change)?.pet_id()
}

/// Returns the code of the message about an order that now has this status.
fn status_code(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "reserved",
        OrderStatus::Completed => "sold",
        OrderStatus::Cancelled | OrderStatus::Expired => "cancelled",
        OrderStatus::Returned => "returned",
    }
}

/// Returns the code of the message about a change of an animal. It is [`SAVED`] unless a photo was
/// turned or removed.
fn pet_change_code(change: &Change) -> &'static str {
    let Some((before, after)) = pet_before_and_after(change) else {
        return SAVED;
    };
    if before.photos.missing_in(&after.photos).next().is_none() {
        return SAVED;
    }
    // Turning a photo replaces it with a new one.
    if before.photos.all().len() == after.photos.all().len() {
        "photo-turned"
    } else {
        "photo-removed"
    }
}

/// Returns the animal before and after a change of it. Returns `None` if the change is not about an
/// animal, or if it added the animal.
fn pet_before_and_after(change: &Change) -> Option<(&StorePet, &StorePet)> {
    let before = change.before.as_ref()?.pet()?;
    let after = change.after.as_ref()?.pet()?;
    Some((before, after))
}

/// Whether a change moves the end of a reservation.
fn moves_end(change: &Change) -> bool {
    let end_before = change.before.as_ref().and_then(reservation_end);
    let end_after = change.after.as_ref().and_then(reservation_end);
    end_before != end_after
}

/// Returns the end of a reservation; `None` if the resource is not an open order.
fn reservation_end(resource: &Resource) -> Option<Timestamp> {
    resource.order()?.expires_at
}

/// Whether an act undoes a sale, which turns the order back into a reservation.
fn undoes_sale(changes: &[Change]) -> bool {
    let reopens = changes
        .iter()
        .any(|change| change.kind == ChangeType::OrderReopened);
    reopens && order_before(changes).is_some_and(|order| order.status == OrderStatus::Completed)
}

/// Returns the order before the act; `None` if the act placed it.
fn order_before(changes: &[Change]) -> Option<&Order> {
    let mut resources = changes.iter().filter_map(|change| change.before.as_ref());
    resources.find_map(Resource::order)
}

/// Whether the message offers to undo the act.
///
/// An act that undid a sale cannot be undone itself, because nobody expects "Undo" to sell the
/// animal again. An edit of an order cannot be undone either: the journal does not contain the
/// contact, so the undo would be incomplete.
fn can_be_undone(flash: &Flash, changes: &[Change]) -> bool {
    let is_edit_of_order = find_requested_change(changes)
        .is_some_and(|change| change.kind == ChangeType::OrderChanged);
    if flash.code == SALE_UNDONE || is_edit_of_order {
        return false;
    }
    // The times do not matter, because the reversals are only counted.
    let reversals = Reversal::from_act(changes, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
    reversals.is_ok_and(|reversals| !reversals.is_empty())
}

/// Returns the path of the page that shows what the act changed.
///
/// This is the page of the order, of the photos or of the animal. It is the list of animals unless
/// exactly one animal changed.
fn result_path(changes: &[Change]) -> String {
    let pets = affected_pets(changes);
    let (1, Some(pet)) = (pets.len(), pets.first()) else {
        return "/animals".to_owned();
    };
    let animal_path = format!("/animals/{pet}");
    let Some(requested_change) = find_requested_change(changes) else {
        return animal_path;
    };
    if let Some(Resource::Order(order)) = &requested_change.after {
        return format!("/orders/{}", order.id);
    }
    match pet_before_and_after(requested_change) {
        Some((before, after)) if before.photos != after.photos => format!("{animal_path}/photos"),
        _ => animal_path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_to_an_act_is_parsed_as_it_was_written() {
        for text in ["order:5 3 7", "pet:7 12 7", "pet:7", "category:-1"] {
            let reference = ActReference::parse(text).map(|reference| reference.to_text());
            assert_eq!(reference.as_deref(), Some(text));
        }
        for text in ["", "pet", "pet:7 x 7", "pet:7 1 0", "saved.5"] {
            assert_eq!(ActReference::parse(text), None, "{text}");
        }
    }
}
