//! The changes of commands about an order, with those of its animal.

use jiff::Timestamp;

use super::{
    ChangeType, Decimal, Decision, FieldDefinition, FieldSet, FieldValue, NewOrder, Order,
    OrderPatch, OrderStatus, OrderTerms, Preconditions, Present, Reason, Refusal, StorePet,
    pet_rules::withdrawn,
    rules::{NO_ORDER, NO_PET, existing, invalid_transition, require},
};
use crate::domain::PetStatus;

pub(super) fn place_order(
    new: &NewOrder,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    if let OrderTerms::ReservedUntil(end) = new.terms {
        check_end(end, now)?;
    }
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawn.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    let is_possible = match new.terms {
        OrderTerms::ReservedUntil(_) => pet.status == PetStatus::Available,
        OrderTerms::Completed => pet.status != PetStatus::Sold && pet.order_id.is_none(),
    };
    if !is_possible {
        return Err(invalid_transition(not_for_sale(pet, new.terms), pet));
    }
    let mut order = Order {
        id: present.next_order.ok_or(Refusal::NoIdentifierLeft)?,
        pet_id: pet.id,
        status: OrderStatus::Reserved,
        reference: new.reference.clone(),
        note: new.note.clone(),
        reason: None,
        expires_at: None,
        created_at: now,
        closed_at: None,
        version: 1,
        price: asking_price(pet, &present.fields),
        contact: new.contact.clone(),
        holds: true,
    };
    new.price.apply(&mut order.price);
    let (kind, status, order_id) = match new.terms {
        OrderTerms::ReservedUntil(end) => {
            order.expires_at = Some(end);
            (ChangeType::OrderPlaced, PetStatus::Pending, Some(order.id))
        }
        OrderTerms::Completed => {
            order.status = OrderStatus::Completed;
            order.closed_at = Some(now);
            (ChangeType::OrderCompleted, PetStatus::Sold, None)
        }
    };
    Ok(Decision::of(kind, None, order).and_pet(pet, status, order_id, now))
}

/// The price of an order that names none: that of the animal, unless it is of another kind.
pub fn asking_price(pet: &StorePet, fields: &FieldSet) -> Option<Decimal> {
    let is_price = fields.find("price").is_some_and(FieldDefinition::is_price);
    match pet.price() {
        Some(FieldValue::Text(price)) if is_price => Decimal::new(price),
        _ => None,
    }
}

/// Completes or cancels a reserved order.
pub(super) fn end_reservation(
    end: OrderStatus,
    reason: Option<&Reason>,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    match order.status {
        status if status == end => Ok(Decision::unchanged(order)),
        OrderStatus::Reserved => close(order, end, reason, present, now),
        _ => Err(not_in(order, &format!("Only a reserved order can be {end}."))),
    }
}

pub(super) fn return_order(
    reason: Option<&Reason>,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    match order.status {
        OrderStatus::Returned => Ok(Decision::unchanged(order)),
        OrderStatus::Completed if !order.holds => Err(not_in(
            order,
            "The status of its animal has changed since the sale, so the order can no longer be \
             returned.",
        )),
        OrderStatus::Completed => close(order, OrderStatus::Returned, reason, present, now),
        _ => Err(not_in(order, "Only a completed order can be returned.")),
    }
}

pub(super) fn expire_order(present: &Present, now: Timestamp) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_due = order.status == OrderStatus::Reserved
        && order.expires_at.is_some_and(|expires_at| expires_at <= now);
    if !is_due {
        return Ok(Decision::unchanged(order));
    }
    close(order, OrderStatus::Expired, None, present, now)
}

pub(super) fn patch_order(
    patch: &OrderPatch,
    preconditions: &Preconditions,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_extended = patch.expires_at.is_some() && patch.expires_at != order.expires_at;
    if is_extended && let Some(end) = patch.expires_at {
        check_end(end, now)?;
    }
    require(preconditions, Some(order))?;
    if is_extended && order.status != OrderStatus::Reserved {
        return Err(not_in(order, "Only the expiresAt of a reserved order can be changed."));
    }
    let mut after = order.clone();
    patch.reference.apply(&mut after.reference);
    patch.note.apply(&mut after.note);
    patch.price.apply(&mut after.price);
    patch.contact.apply(&mut after.contact);
    if after.price != order.price && order.status != OrderStatus::Reserved {
        return Err(not_in(order, "Only the price of a reserved order can be changed."));
    }
    after.expires_at = patch.expires_at.or(after.expires_at);
    if after == *order {
        return Ok(Decision::unchanged(order));
    }
    after.version += 1;
    Ok(Decision::of(ChangeType::OrderChanged, Some(order), after))
}

pub(super) fn erase_contact(
    closed_until: Timestamp,
    present: &Present,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_due = order.closed_at.is_some_and(|closed_at| closed_at <= closed_until);
    if order.contact.is_none() || !is_due {
        return Ok(Decision::unchanged(order));
    }
    let after = Order { contact: None, version: order.version + 1, ..order.clone() };
    Ok(Decision::of(ChangeType::OrderChanged, Some(order), after))
}

/// Gives an order this status, and its animal the one that follows from it.
fn close(
    order: &Order,
    status: OrderStatus,
    reason: Option<&Reason>,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawn.is_some() {
        return Err(not_in(order, "Its animal is withdrawn. Restore the animal first."));
    }
    let after = Order {
        status,
        reason: reason.or(order.reason.as_ref()).cloned(),
        closed_at: Some(now),
        version: order.version + 1,
        holds: status == OrderStatus::Completed,
        ..order.clone()
    };
    let (kind, pet_status) = match status {
        OrderStatus::Reserved => (ChangeType::OrderPlaced, PetStatus::Pending),
        OrderStatus::Completed => (ChangeType::OrderCompleted, PetStatus::Sold),
        OrderStatus::Cancelled => (ChangeType::OrderCancelled, PetStatus::Available),
        OrderStatus::Expired => (ChangeType::OrderExpired, PetStatus::Available),
        OrderStatus::Returned => (ChangeType::OrderReturned, PetStatus::Available),
    };
    Ok(Decision::of(kind, Some(order), after).and_pet(pet, pet_status, None, now))
}

fn check_end(end: Timestamp, now: Timestamp) -> Result<(), Refusal> {
    if end <= now {
        return Err(Refusal::Invalid("expiresAt must be in the future."));
    }
    if end.duration_since(now) > Order::LONGEST_RESERVATION {
        return Err(Refusal::Invalid("expiresAt must be at most 400 days from now."));
    }
    Ok(())
}

fn not_for_sale(pet: &StorePet, terms: OrderTerms) -> String {
    let id = pet.id;
    match (pet.order_id, terms) {
        (Some(order), _) => {
            format!("Animal {id} is reserved by order {order}. Complete or cancel the order first.")
        }
        (None, OrderTerms::ReservedUntil(_)) => {
            format!("Animal {id} is {}. Only an available animal can be reserved.", pet.status)
        }
        (None, OrderTerms::Completed) => {
            format!("Animal {id} is {} and cannot be sold again.", pet.status)
        }
    }
}

fn not_in(order: &Order, allowed: &str) -> Refusal {
    let message = format!("Order {} is {}. {allowed}", order.id, order.status);
    invalid_transition(message, order)
}
