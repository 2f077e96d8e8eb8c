//! Orders.

use std::time::Duration;

use super::actor;
use crate::domain::{
    NamedActor,
    store_area::{Currency, OrderStatus},
};

pub(crate) const PRICE: &str = "Price";
pub(crate) const CONTACT: &str = "Customer";

/// How long the contact of an order is kept after it closed.
fn days(kept: Duration) -> String {
    match kept.as_secs() / (24 * 60 * 60) {
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

pub(crate) fn contact_hint(kept: Duration) -> String {
    format!("Such as a name and a telephone number. It is deleted {} after the sale.", days(kept))
}

pub(crate) fn no_order_found_hint(kept: Duration) -> String {
    format!("Check the spelling. The customer of a closed order is known for {}.", days(kept))
}

pub(crate) fn only_newest(searched: usize) -> String {
    format!("Only the newest {searched} orders were searched, and the first animals with the name.")
}

pub(crate) fn orders_found(count: usize, has_more: bool) -> String {
    let more = if has_more { " or more" } else { "" };
    let orders = if count == 1 && !has_more { "order" } else { "orders" };
    format!("{count}{more} {orders}")
}

/// The orders in this status that have a price.
pub(crate) fn sum_of(status: &str, count: usize, sum: &str) -> String {
    format!("{status}: {count} with a price, {sum} together")
}

pub(crate) const CONTACT_TOO_LONG: &str = "Enter at most 500 characters.";
pub(crate) const CONTACT_CHANGED: &str = "Customer changed or deleted";
pub(crate) const CHANGE_ORDER: &str = "Change the order";
pub(crate) const EXTEND_OR_CHANGE: &str = "Hold it until another day, or change the order";
pub(crate) const PRICE_INVALID: &str = "Enter a price such as 249.00, without a minus, with at most 12 digits before the point and 4 after it.";

/// A number with one point or comma that may be between thousands.
pub(crate) fn ambiguous_amount(typed: &str, one: &str, other: &str) -> String {
    let (exact, whole) = if one.contains('.') { (one, other) } else { (other, one) };
    let short = exact.trim_end_matches('0').trim_end_matches('.');
    // Three digits behind the point would have two meanings again.
    let clear = if short == exact { format!("{exact}0") } else { short.to_owned() };
    format!("{typed} can mean {whole} or {short}. Type {whole} or {clear}.")
}

/// The button that puts right that an order was closed.
pub(crate) fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Sold by mistake? Make it a reservation again",
        OrderStatus::Cancelled => "Cancelled by mistake? Make it a reservation again",
        _ => "Make it a reservation again",
    }
}

/// Who placed an order, before the time.
pub(crate) fn placed_by(who: Option<&NamedActor>) -> String {
    who.map_or_else(|| "That was".to_owned(), |who| format!("{} did that", actor(who)))
}

pub(crate) const TYPED_HERE: &str = "You typed this, and it is not saved:";

/// The order before, of an animal that is available.
pub(crate) const ORDER_BEFORE: &str = "The order before";

/// The price of each of several animals.
pub(crate) const PRICE_OF_EACH: &str = "Price of each (if it is another one)";

/// The label of a price in this currency.
pub(crate) fn price_in(currency: &Currency) -> String {
    format!("{PRICE} ({})", currency.as_str())
}

/// A price in the currency of the store, or as it was written: 95.5 as 95.50.
pub(crate) fn amount(price: &str, currency: Option<&Currency>) -> String {
    let has_one_decimal = price.len() > 2 && price.as_bytes()[price.len() - 2] == b'.';
    let written = || format!("{price}{}", if has_one_decimal { "0" } else { "" });
    currency.map_or_else(written, |currency| currency.amount(price))
}

pub(crate) fn order_is(id: i64, status: OrderStatus) -> String {
    let is = match status {
        OrderStatus::Reserved => "is still reserved",
        OrderStatus::Completed => "is sold, and the animal was changed since",
        OrderStatus::Cancelled => "is cancelled already",
        OrderStatus::Expired => "has expired",
        OrderStatus::Returned => "was returned already",
    };
    format!("Order {id} {is}. Nothing was changed this time.")
}
