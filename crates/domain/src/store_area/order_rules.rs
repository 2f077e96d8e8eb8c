//! The changes of commands about an order, with those of its animal.

use jiff::Timestamp;

use super::{
    ChangeType, Decimal, Decision, FieldDefinition, FieldSet, FieldValue, NewOrder, Order,
    OrderPatch, OrderStatus, OrderTerms, Patch, Preconditions, PresentState, Reason, Refusal,
    StorePet,
    pet_rules::withdrawn,
    rules::{NO_ORDER, NO_PET, check, existing, invalid_transition, require},
};
use crate::PetStatus;

pub(super) fn place_order(
    new: &NewOrder,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    if let OrderTerms::ReservedUntil(end) = new.terms {
        check_end(end, now)?;
    }
    check_price(&new.price, None)?;
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    let is_possible = match new.terms {
        OrderTerms::ReservedUntil(_) => pet.status == PetStatus::Available,
        OrderTerms::Completed => pet.status != PetStatus::Sold && pet.order_id.is_none(),
    };
    if !is_possible {
        return Err(invalid_transition(not_for_sale(pet, new.terms), pet));
    }
    let id = present.next_order.ok_or(Refusal::NoIdentifierLeft)?;
    let mut order = new.place(id, asking_price(pet, &present.fields), now);
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
    Ok(Decision::new(kind, None, order).with_pet_status(pet, status, order_id, now))
}

/// Returns the price of an order that names none: that of the animal, unless it is of another kind
/// or negative.
pub fn asking_price(pet: &StorePet, fields: &FieldSet) -> Option<Decimal> {
    let is_price = fields.find("price").is_some_and(FieldDefinition::is_price);
    match pet.price() {
        Some(FieldValue::Text(price)) if is_price => {
            Decimal::new(price).filter(|price| !price.has_minus())
        }
        _ => None,
    }
}

pub(super) fn complete_order(
    price: &Patch<Decimal>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check_price(price, present.order.as_ref())?;
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let mut after = order.clone();
    price.apply(&mut after.price);
    after.status = OrderStatus::Completed;
    end_reservation(order, after, preconditions, present, now)
}

pub(super) fn cancel_order(
    reason: Option<&Reason>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let after = closed(order, OrderStatus::Cancelled, reason);
    end_reservation(order, after, preconditions, present, now)
}

fn end_reservation(
    order: &Order,
    after: Order,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check(preconditions, Some(order))?;
    match order.status {
        status if status == after.status => Ok(Decision::without_change(order)),
        OrderStatus::Reserved => with_pet(order, after, present, now),
        _ => Err(not_in(
            order,
            &format!("Only a reserved order can be {}.", after.status),
        )),
    }
}

pub(super) fn return_order(
    reason: Option<&Reason>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    check(preconditions, Some(order))?;
    match order.status {
        OrderStatus::Returned => return Ok(Decision::without_change(order)),
        OrderStatus::Completed => check_holds(order)?,
        _ => return Err(not_in(order, "Only a completed order can be returned.")),
    }
    with_pet(
        order,
        closed(order, OrderStatus::Returned, reason),
        present,
        now,
    )
}

pub(super) fn reopen_order(
    expires_at: Option<Timestamp>,
    default_end: Timestamp,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    if let Some(end) = expires_at {
        check_end(end, now)?;
    }
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    check(preconditions, Some(order))?;
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    match order.status {
        OrderStatus::Reserved => return Err(not_in(order, "Only a closed order can be reopened.")),
        OrderStatus::Completed => check_holds(order)?,
        _ if pet.status == PetStatus::Available => {}
        _ => {
            let allowed = format!(
                "Its animal is {}. The order can be reopened while the animal is available.",
                pet.status
            );
            return Err(not_in(order, &allowed));
        }
    }
    let former_end = order.expires_at.filter(|&end| end > now);
    let after = Order {
        status: OrderStatus::Reserved,
        reason: None,
        expires_at: expires_at.or(former_end).or(Some(default_end)),
        ..order.clone()
    };
    with_pet(order, after, present, now)
}

pub(super) fn expire_order(present: &PresentState, now: Timestamp) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_due = order.status == OrderStatus::Reserved
        && order.expires_at.is_some_and(|expires_at| expires_at <= now);
    if !is_due {
        return Ok(Decision::without_change(order));
    }
    with_pet(
        order,
        closed(order, OrderStatus::Expired, None),
        present,
        now,
    )
}

pub(super) fn patch_order(
    patch: &OrderPatch,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_extended = patch.expires_at.is_some() && patch.expires_at != order.expires_at;
    if is_extended && let Some(end) = patch.expires_at {
        check_end(end, now)?;
    }
    check_price(&patch.price, Some(order))?;
    require(preconditions, Some(order))?;
    if is_extended && order.status != OrderStatus::Reserved {
        return Err(not_in(
            order,
            "Only the expiresAt of a reserved order can be changed.",
        ));
    }
    let mut after = order.clone();
    patch.apply(&mut after);
    let has_price = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    if after.price != order.price && !has_price {
        return Err(not_in(
            order,
            "Only the price of a reserved or completed order can be changed.",
        ));
    }
    if after == *order {
        return Ok(Decision::without_change(order));
    }
    after.version += 1;
    Ok(Decision::new(ChangeType::OrderChanged, Some(order), after))
}

pub(super) fn erase_contact(
    closed_until: Timestamp,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let order = existing(present.order.as_ref(), NO_ORDER)?;
    let is_due = order
        .closed_at
        .is_some_and(|closed_at| closed_at <= closed_until);
    if order.contact.is_none() || !is_due {
        return Ok(Decision::without_change(order));
    }
    let after = Order {
        contact: None,
        version: order.version + 1,
        ..order.clone()
    };
    Ok(Decision::new(ChangeType::OrderChanged, Some(order), after))
}

/// Returns a closed order.
fn closed(order: &Order, status: OrderStatus, reason: Option<&Reason>) -> Order {
    Order {
        status,
        reason: reason.or(order.reason.as_ref()).cloned(),
        ..order.clone()
    }
}

/// Gives an order another status, and its animal the one that follows from it.
fn with_pet(
    order: &Order,
    after: Order,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(not_in(
            order,
            "Its animal is withdrawn. Restore the animal first.",
        ));
    }
    let (kind, pet_status) = match after.status {
        OrderStatus::Reserved => (ChangeType::OrderReopened, PetStatus::Pending),
        OrderStatus::Completed => (ChangeType::OrderCompleted, PetStatus::Sold),
        OrderStatus::Cancelled => (ChangeType::OrderCancelled, PetStatus::Available),
        OrderStatus::Expired => (ChangeType::OrderExpired, PetStatus::Available),
        OrderStatus::Returned => (ChangeType::OrderReturned, PetStatus::Available),
    };
    let is_open = after.status == OrderStatus::Reserved;
    let after = Order {
        closed_at: (!is_open).then_some(now),
        version: order.version + 1,
        holds: pet_status != PetStatus::Available,
        ..after
    };
    let open = is_open.then_some(order.id);
    Ok(Decision::new(kind, Some(order), after).with_pet_status(pet, pet_status, open, now))
}

/// A completed order that does not hold its animal is past.
fn check_holds(order: &Order) -> Result<(), Refusal> {
    if order.holds {
        return Ok(());
    }
    Err(not_in(
        order,
        "The status of its animal has changed since the sale, so the order can no longer be \
         returned or reopened.",
    ))
}

/// A price has no minus. That of an order can stay as it is.
fn check_price(price: &Patch<Decimal>, order: Option<&Order>) -> Result<(), Refusal> {
    match price {
        Patch::Set(price)
            if price.has_minus() && order.and_then(|order| order.price.as_ref()) != Some(price) =>
        {
            Err(Refusal::Invalid("price must have no minus."))
        }
        _ => Ok(()),
    }
}

fn check_end(end: Timestamp, now: Timestamp) -> Result<(), Refusal> {
    if end <= now {
        return Err(Refusal::Invalid("expiresAt must be in the future."));
    }
    if end.duration_since(now) > Order::LONGEST_RESERVATION {
        return Err(Refusal::Invalid(
            "expiresAt must be at most 400 days from now.",
        ));
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
            format!(
                "Animal {id} is {}. Only an available animal can be reserved.",
                pet.status
            )
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
