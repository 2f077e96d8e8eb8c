//! The checks that the rules for orders share: of prices, ends of reservations, and the states of
//! orders and animals.

use jiff::Timestamp;

use super::{
    Decimal, Order, OrderTerms, Patch, Refusal, StorePet, shared_rules::invalid_transition,
};
use crate::PetStatus;

/// Refuses to reopen an order whose animal is not available.
pub(super) fn check_available(pet: &StorePet, order: &Order) -> Result<(), Refusal> {
    if pet.status == PetStatus::Available {
        return Ok(());
    }
    let advice = format!(
        "Its animal is {}. The order can be reopened while the animal is available.",
        pet.status
    );
    Err(refuse_order(order, &advice))
}

/// Refuses a command on a completed order that no longer [holds](Order::holds) its animal, because
/// somebody has changed the status of the animal since the sale.
pub(super) fn check_holds(order: &Order) -> Result<(), Refusal> {
    if order.holds {
        return Ok(());
    }
    Err(refuse_order(
        order,
        "The status of its animal has changed since the sale, so the order can no longer be \
         returned or reopened.",
    ))
}

/// Rejects a price with a minus sign, unless it is the price that the order already has. `order` is
/// `None` for a new order.
pub(super) fn check_price(price: &Patch<Decimal>, order: Option<&Order>) -> Result<(), Refusal> {
    let Patch::Set(price) = price else {
        return Ok(());
    };
    let former_price = order.and_then(|order| order.price.as_ref());
    if price.has_minus() && former_price != Some(price) {
        return Err(Refusal::Invalid("price must have no minus."));
    }
    Ok(())
}

/// Rejects an end of a reservation that is not in the future, or more than
/// [`Order::LONGEST_RESERVATION`] away.
pub(super) fn check_end(end: Timestamp, now: Timestamp) -> Result<(), Refusal> {
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

/// Refuses a new order if the status of the animal, or an open order for the animal, does not allow
/// it.
pub(super) fn check_for_sale(pet: &StorePet, terms: OrderTerms) -> Result<(), Refusal> {
    let is_possible = match terms {
        OrderTerms::ReservedUntil(_) => pet.status == PetStatus::Available,
        OrderTerms::Completed => pet.status != PetStatus::Sold && pet.order_id.is_none(),
    };
    if is_possible {
        return Ok(());
    }
    Err(invalid_transition(not_for_sale_message(pet, terms), pet))
}

/// Returns the message that explains why an animal cannot be reserved or sold.
fn not_for_sale_message(pet: &StorePet, terms: OrderTerms) -> String {
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

/// Returns the refusal of a command that the status of an order does not allow. `advice` is the
/// last sentence of the message.
pub(super) fn refuse_order(order: &Order, advice: &str) -> Refusal {
    let message = format!("Order {} is {}. {advice}", order.id, order.status);
    invalid_transition(message, order)
}
