//! The current values of an order, as its forms carry them in hidden fields.
//!
//! The service compares these values with the stored ones when a form is submitted, and so detects
//! a concurrent change: see [`crate::merge`].

use petstore_domain::store_area::{Order, OrderStatus};

use crate::{
    order_inputs::{ORDER_INPUTS, PRICE},
    prelude::*,
};

/// Returns the version and the status of an order, and its current values as its inputs show them.
///
/// The forms of the order carry these fields, so that a concurrent change can be detected.
pub(super) fn form_of_order(desk: &Desk<'_>, order: &Order) -> Form {
    let mut fields = vec![
        ("version".to_owned(), order.version.to_string()),
        ("status".to_owned(), order.status.as_str().to_owned()),
    ];
    for input in &ORDER_INPUTS {
        if input.name != PRICE {
            let value = input.stored_value(desk, order).unwrap_or_default();
            fields.push((input.name.to_owned(), value.to_owned()));
        }
    }

    let is_reserved = order.status == OrderStatus::Reserved;
    // As in the forms, only an open or completed order has a price that can change.
    if is_reserved || order.status == OrderStatus::Completed {
        let price = order
            .price
            .as_ref()
            .map(|price| numbers().plain(price.as_str()));
        fields.push((PRICE.to_owned(), price.unwrap_or_default()));
    }
    if is_reserved {
        let end_day = order
            .expires_at
            .map(|end| desk.visit.facts.day_of(end).to_string());
        fields.push((
            forms::RESERVATION_END.to_owned(),
            end_day.unwrap_or_default(),
        ));
    }
    fields.into_iter().collect()
}

/// Returns the fields of [`form_of_order`] that the "Sell" button in a table of orders carries.
///
/// The details and the end of the reservation are left out, so that a concurrent change of them
/// does not prevent the sale.
pub(super) fn form_of_sell_button(desk: &Desk<'_>, order: &Order) -> Form {
    let mut left_out_names = vec![forms::RESERVATION_END];
    for input in &ORDER_INPUTS {
        if input.is_detail {
            left_out_names.push(input.name);
        }
    }
    let mut fields = form_of_order(desk, order).fields().to_vec();
    fields.retain(|(name, _)| !left_out_names.contains(&name.as_str()));
    fields.into_iter().collect()
}
