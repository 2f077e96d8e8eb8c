//! Orders.

use crate::domain::store_area::{Currency, OrderStatus};

pub(in crate::console) const PRICE: &str = "Price";
pub(in crate::console) const CONTACT: &str = "Contact";
pub(in crate::console) const CONTACT_HINT: &str = "The customer's name and telephone number, for example. The service erases it some time \
     after the order closed.";
pub(in crate::console) const CONTACT_TOO_LONG: &str = "Enter at most 500 characters.";
pub(in crate::console) const CONTACT_CHANGED: &str = "Contact changed or erased";
pub(in crate::console) const CHANGE_ORDER: &str = "Change the order";
pub(in crate::console) const EXTEND_OR_CHANGE: &str =
    "Hold it until another day, or change the order";
pub(in crate::console) const PRICE_INVALID: &str =
    "Enter a price such as 249.00, with at most 12 digits before the point and 4 after it.";

/// The label of a price in this currency.
pub(in crate::console) fn price_in(currency: &Currency) -> String {
    format!("{PRICE} ({})", currency.as_str())
}

/// A price as it was written, in the currency of the store.
pub(in crate::console) fn amount(price: &str, currency: Option<&Currency>) -> String {
    currency.map_or_else(|| price.to_owned(), |currency| currency.amount(price))
}

pub(in crate::console) fn order_is(id: i64, status: OrderStatus) -> String {
    let is = match status {
        OrderStatus::Reserved => "is still reserved",
        OrderStatus::Completed => "is sold, and the animal was changed since",
        OrderStatus::Cancelled => "is cancelled already",
        OrderStatus::Expired => "has expired",
        OrderStatus::Returned => "was returned already",
    };
    format!("Order {id} {is}. Nothing was changed this time.")
}
