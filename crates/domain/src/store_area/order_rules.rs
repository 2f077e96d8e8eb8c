//! The rules for orders: how a command changes an order, and with it the status of its animal.

use jiff::Timestamp;

use super::{
    ChangeType, Decimal, Decision, FieldDefinition, FieldSet, FieldValue, NewOrder, Order,
    OrderPatch, OrderStatus, OrderTerms, Patch, Preconditions, PresentState, Reason, Refusal,
    StorePet,
    order_checks::{
        check_available, check_end, check_for_sale, check_holds, check_price, refuse_order,
    },
    pet_rules::refuse_withdrawn,
    shared_rules::{NO_ORDER, NO_PET, check_preconditions, require_preconditions, require_subject},
};
use crate::PetStatus;

/// Decides how an order is placed. It reserves an available animal, or directly sells an animal
/// that is neither sold nor reserved by an order.
pub(super) fn place_order(
    new_order: &NewOrder,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    if let OrderTerms::ReservedUntil(end) = new_order.terms {
        check_end(end, now)?;
    }
    check_price(&new_order.price, None)?;
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "Restore it first."));
    }
    check_for_sale(pet, new_order.terms)?;

    let id = present.next_order.ok_or(Refusal::NoIdentifierLeft)?;
    let order = new_order.to_order(id, asking_price(pet, &present.fields), now);
    match new_order.terms {
        OrderTerms::ReservedUntil(_) => {
            let decision = Decision::new(ChangeType::OrderPlaced, None, order);
            Ok(decision.with_pet_status(pet, PetStatus::Pending, Some(id), now))
        }
        OrderTerms::Completed => {
            let decision = Decision::new(ChangeType::OrderCompleted, None, order);
            Ok(decision.with_pet_status(pet, PetStatus::Sold, None, now))
        }
    }
}

/// Returns the default price of an order: the price of the animal, if it has a valid one.
///
/// A valid price has no minus sign, and is the value of a
/// [price field](FieldDefinition::is_price).
pub fn asking_price(pet: &StorePet, fields: &FieldSet) -> Option<Decimal> {
    // The field with this name can have another kind.
    let price_field = fields.find(FieldDefinition::PRICE);
    let is_price = price_field.is_some_and(FieldDefinition::is_price);
    match pet.price() {
        Some(FieldValue::Text(price)) if is_price => {
            Decimal::new(price).filter(|price| !price.has_minus())
        }
        _ => None,
    }
}

/// Decides how the reserved animal of an order is sold, optionally for a new price.
pub(super) fn complete_order(
    price: &Patch<Decimal>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check_price(price, present.order.as_ref())?;
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    let mut after = order.clone();
    price.apply(&mut after.price);
    after.status = OrderStatus::Completed;
    end_reservation(order, after, preconditions, present, now)
}

/// Decides how a reservation is cancelled.
pub(super) fn cancel_order(
    reason: Option<&Reason>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    let after = close_order(order, OrderStatus::Cancelled, reason);
    end_reservation(order, after, preconditions, present, now)
}

/// Decides how a reservation ends, with `after` as the closed order. An order that already has the
/// status of `after` does not change, so the command is idempotent.
fn end_reservation(
    order: &Order,
    after: Order,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check_preconditions(preconditions, Some(order))?;
    if order.status == after.status {
        return Ok(Decision::without_change(order));
    }
    if order.status != OrderStatus::Reserved {
        let advice = format!("Only a reserved order can be {}.", after.status);
        return Err(refuse_order(order, &advice));
    }
    change_status(order, after, present, now)
}

/// Decides how a sold animal is returned to the store.
pub(super) fn return_order(
    reason: Option<&Reason>,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    check_preconditions(preconditions, Some(order))?;
    match order.status {
        OrderStatus::Returned => return Ok(Decision::without_change(order)),
        OrderStatus::Completed => check_holds(order)?,
        _ => {
            return Err(refuse_order(
                order,
                "Only a completed order can be returned.",
            ));
        }
    }
    let after = close_order(order, OrderStatus::Returned, reason);
    change_status(order, after, present, now)
}

/// Decides how an order that was closed by mistake is reopened. The order then reserves its animal
/// again.
///
/// The reservation ends at `new_end`. Without a new end, it keeps its former end. Without a former
/// end in the future, it ends at `default_end`.
pub(super) fn reopen_order(
    new_end: Option<Timestamp>,
    default_end: Timestamp,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    if let Some(end) = new_end {
        check_end(end, now)?;
    }
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    check_preconditions(preconditions, Some(order))?;
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    match order.status {
        OrderStatus::Reserved => {
            return Err(refuse_order(order, "Only a closed order can be reopened."));
        }
        // The animal must still be sold because of this order.
        OrderStatus::Completed => check_holds(order)?,
        // The order no longer has the animal, so another order may have it now.
        OrderStatus::Cancelled | OrderStatus::Expired | OrderStatus::Returned => {
            check_available(pet, order)?;
        }
    }

    let former_end = order.expires_at.filter(|&end| end > now);
    let after = Order {
        status: OrderStatus::Reserved,
        reason: None,
        expires_at: new_end.or(former_end).or(Some(default_end)),
        ..order.clone()
    };
    change_status(order, after, present, now)
}

/// Decides how a reservation expires. Nothing changes if its end has not passed yet, or the order
/// is no longer open.
pub(super) fn expire_order(present: &PresentState, now: Timestamp) -> Result<Decision, Refusal> {
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    let is_due = order.status == OrderStatus::Reserved
        && order.expires_at.is_some_and(|expires_at| expires_at <= now);
    if !is_due {
        return Ok(Decision::without_change(order));
    }
    let after = close_order(order, OrderStatus::Expired, None);
    change_status(order, after, present, now)
}

/// Decides how members of an order change, including the end of its reservation. Only the end of an
/// open reservation can change, and only the price of a reserved or completed order.
pub(super) fn patch_order(
    patch: &OrderPatch,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
    // An end that stays the same is not checked, because it may have passed.
    let new_end = patch
        .expires_at
        .filter(|&end| Some(end) != order.expires_at);
    if let Some(end) = new_end {
        check_end(end, now)?;
    }
    check_price(&patch.price, Some(order))?;
    require_preconditions(preconditions, Some(order))?;
    if new_end.is_some() && order.status != OrderStatus::Reserved {
        return Err(refuse_order(
            order,
            "Only the expiresAt of a reserved order can be changed.",
        ));
    }
    let mut after = order.clone();
    patch.apply(&mut after);
    let can_change_price = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    if after.price != order.price && !can_change_price {
        return Err(refuse_order(
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

/// Decides how the contact of an order that was closed at `closed_until` or earlier is erased.
pub(super) fn erase_contact(
    closed_until: Timestamp,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let order = require_subject(present.order.as_ref(), NO_ORDER)?;
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

/// Returns the order with this status, which closes it, and with the new reason if there is one.
fn close_order(order: &Order, status: OrderStatus, reason: Option<&Reason>) -> Order {
    Order {
        status,
        reason: reason.or(order.reason.as_ref()).cloned(),
        ..order.clone()
    }
}

/// Decides how an order changes to `after`, which has a different status. The status of the animal
/// changes accordingly.
fn change_status(
    order: &Order,
    after: Order,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(refuse_order(
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
    let next_order = Order {
        closed_at: (!is_open).then_some(now),
        version: order.version + 1,
        // An order that makes its animal available again no longer holds it.
        holds: pet_status != PetStatus::Available,
        ..after
    };
    let open_order = is_open.then_some(order.id);
    let decision = Decision::new(kind, Some(order), next_order);
    Ok(decision.with_pet_status(pet, pet_status, open_order, now))
}
