//! The message about an act that a form has just made.
//!
//! The message is made after the transaction, of the act as the journal has it. What the store remembers for a repetition
//! of the form is only the name of the act, so a repetition gets the same message.

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

/// The first change of an act, by which the journal finds the act, or what a form that changed nothing is about.
///
/// As text, the change that gave order 5 of animal 7 the version 3 is `order:5 3 7`, and animal 7 without a change is
/// `pet:7`.
#[derive(Debug, PartialEq, Eq)]
struct ActName {
    subject: JournalSubject,
    change: Option<ChangeName>,
}

/// The version to which a change led, and the animal that the change is about.
#[derive(Debug, PartialEq, Eq)]
struct ChangeName {
    version: i64,
    pet: PetId,
}

impl ActName {
    /// Returns the name of the act that these decisions make. `None` if they are about nothing that exists.
    fn of_decisions(decisions: &[Decision]) -> Option<Self> {
        for change in decisions.iter().flat_map(|decision| &decision.changes) {
            let Some(resource) = change.after.as_ref().or(change.before.as_ref()) else {
                continue;
            };
            if let Some(pet) = resource.pet_id() {
                let version = resource.version();
                return Some(Self {
                    subject: subject_of(resource),
                    change: Some(ChangeName { version, pet }),
                });
            }
        }
        let result = decisions.last()?.result.as_ref()?;
        Some(Self {
            subject: subject_of(result),
            change: None,
        })
    }

    /// Parses the text that [`Self::text`] returns.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let subject = JournalSubject::parse(parts.next()?)?;
        let change = match (parts.next(), parts.next()) {
            (Some(version), Some(pet)) => Some(ChangeName {
                version: version.parse().ok()?,
                pet: PetId::new(pet.parse().ok()?)?,
            }),
            _ => None,
        };
        Some(Self { subject, change })
    }

    fn text(&self) -> String {
        match &self.change {
            Some(ChangeName { version, pet }) => format!("{} {version} {pet}", self.subject),
            None => self.subject.to_string(),
        }
    }
}

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

/// Returns what the store remembers of a form: the name of its act.
pub(super) fn remembered_response(decisions: &[Decision]) -> StoredResponse {
    let name = ActName::of_decisions(decisions).map(|name| name.text());
    StoredResponse {
        status: 303,
        body: name.unwrap_or_default().into_bytes(),
        ..StoredResponse::default()
    }
}

/// Returns the message about the act that a remembered response names. The act is done, so an error of the store only
/// makes the message shorter.
pub(super) async fn message_about(desk: &Desk<'_>, remembered: &[u8]) -> Flash {
    let name = str::from_utf8(remembered).ok().and_then(ActName::parse);
    let Some(name) = name else {
        return Flash::new("saved", 0);
    };
    let id = name.subject.id.unwrap_or_default();
    let Some(ChangeName { version, pet }) = name.change else {
        return message_without_change(desk, &name.subject, id).await;
    };

    let act = desk
        .app()
        .act_that_led_to(pet, &name.subject, version)
        .await;
    let Ok(Some(act)) = act else {
        // The number may be that of an order, so the message names no animal.
        return Flash::new("saved", 0);
    };
    let changes = act.changes().unwrap_or_default();
    let mut flash = message_of(&changes);
    if can_be_undone(&flash, &changes) {
        flash.undo = Some(Undo {
            seq: act.seq(),
            page: page_of(&changes),
        });
    }
    flash
}

/// Returns the message about a form that changed nothing. An order is already as the form wanted it.
async fn message_without_change(desk: &Desk<'_>, subject: &JournalSubject, id: i64) -> Flash {
    if subject.kind.value() == Some(SubjectKind::Order)
        && let Some(order_id) = OrderId::new(id)
        && let Ok(Some(order)) = desk.store().get_order(order_id).await
    {
        return Flash::new(status_code(order.status), id);
    }
    Flash::new("saved", id)
}

/// Returns the message about these changes of one act.
fn message_of(changes: &[Change]) -> Flash {
    let pets: BTreeSet<PetId> = changes.iter().filter_map(pet_of).collect();
    let is_of_new_pets = changes
        .first()
        .is_some_and(|change| change.kind == ChangeType::PetAdded);
    if pets.len() > 1 {
        let count = i64::try_from(pets.len()).unwrap_or(i64::MAX);
        let code = if is_of_new_pets {
            "added-many"
        } else {
            "changed-many"
        };
        return Flash::new(code, count);
    }

    let Some(change) = main_change(changes) else {
        return Flash::new("saved", 0);
    };
    let id = change.after.as_ref().map_or(0, Resource::id);
    let code = match (change.kind, change.after.as_ref()) {
        (ChangeType::PetAdded, _) => "added",
        (ChangeType::PetWithdrawn, _) => "withdrawn",
        (ChangeType::PetRestored, _) => "restored",
        (ChangeType::OrderChanged, _) if is_extended(change) => "extended",
        (ChangeType::OrderChanged, _) => "saved",
        (_, Some(Resource::Order(_))) if undoes_sale(changes) => "sale-undone",
        (_, Some(Resource::Order(order))) => status_code(order.status),
        _ => photo_code(change),
    };
    Flash::new(code, id)
}

/// Returns the change that was asked for. The others of the act prepare it or follow from it, such as the status that an
/// animal gets by an order.
fn main_change(changes: &[Change]) -> Option<&Change> {
    let about_pets: Vec<&Change> = changes
        .iter()
        .filter(|change| pet_of(change).is_some())
        .collect();
    let (last, earlier) = about_pets.split_last()?;
    let follows_order = last.kind == ChangeType::PetChanged
        && earlier.last().is_some_and(|change| {
            let is_order = change.after.as_ref().and_then(Resource::order).is_some();
            is_order && change.kind != ChangeType::OrderChanged
        });
    if follows_order {
        return earlier.last().copied();
    }
    Some(last)
}

/// Returns the animal that a change is about, even if it changes an order.
fn pet_of(change: &Change) -> Option<PetId> {
    let resource = change.after.as_ref().or(change.before.as_ref())?;
    resource.pet_id()
}

/// Returns the code of the message about an order that has got this status.
fn status_code(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Reserved => "reserved",
        OrderStatus::Completed => "sold",
        OrderStatus::Cancelled | OrderStatus::Expired => "cancelled",
        OrderStatus::Returned => "returned",
    }
}

/// Returns the code of the message about a change of an animal.
fn photo_code(change: &Change) -> &'static str {
    let Some((before, after)) = pets_of(change) else {
        return "saved";
    };
    if before.photos.missing_in(&after.photos).next().is_none() {
        return "saved";
    }
    if before.photos.all().len() == after.photos.all().len() {
        "photo-turned"
    } else {
        "photo-removed"
    }
}

/// Returns the animal before and after a change of it.
fn pets_of(change: &Change) -> Option<(&StorePet, &StorePet)> {
    let before = change.before.as_ref()?.pet()?;
    let after = change.after.as_ref()?.pet()?;
    Some((before, after))
}

/// Whether a change gives an order another end.
fn is_extended(change: &Change) -> bool {
    let end_before = change.before.as_ref().and_then(end_of);
    let end_after = change.after.as_ref().and_then(end_of);
    end_before != end_after
}

fn end_of(resource: &Resource) -> Option<Timestamp> {
    resource.order()?.expires_at
}

/// Whether an act undoes a sale. A customer who brings the animal back does not undo the sale.
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

/// Whether the message offers to undo the act. To undo that a sale was undone would sell the animal again, which nobody
/// expects of "Undo". The journal does not have the contact of an order, so a change of an order is not undone in part.
fn can_be_undone(flash: &Flash, changes: &[Change]) -> bool {
    let is_change_of_order =
        main_change(changes).is_some_and(|change| change.kind == ChangeType::OrderChanged);
    if flash.code == "sale-undone" || is_change_of_order {
        return false;
    }
    // The times do not matter for whether it is possible.
    let reversals = Reversal::from_act(changes, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
    reversals.is_ok_and(|reversals| !reversals.is_empty())
}

/// Returns the page that shows what the act changed: of the order, of the photos, of the animal, or of all animals.
fn page_of(changes: &[Change]) -> String {
    let pets: BTreeSet<PetId> = changes.iter().filter_map(pet_of).collect();
    let (Some(pet), 1) = (pets.first(), pets.len()) else {
        return "/animals".to_owned();
    };
    let named_change = main_change(changes);
    let order = named_change.and_then(|change| change.after.as_ref()?.order());
    if let Some(order) = order {
        return format!("/orders/{}", order.id);
    }
    let is_about_photos = named_change
        .and_then(pets_of)
        .is_some_and(|(before, after)| before.photos != after.photos);
    if is_about_photos {
        format!("/animals/{pet}/photos")
    } else {
        format!("/animals/{pet}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_act_is_read_as_it_was_written() {
        for text in ["order:5 3 7", "pet:7 12 7", "pet:7", "category:-1"] {
            let name = ActName::parse(text).map(|name| name.text());
            assert_eq!(name.as_deref(), Some(text));
        }
        for text in ["", "pet", "pet:7 x 7", "pet:7 1 0", "saved.5"] {
            assert_eq!(ActName::parse(text), None, "{text}");
        }
    }
}
