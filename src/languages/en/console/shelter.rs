//! The English texts of the pages for the staff that a shelter has in other words than a shop.

use super::{animals, days};
use crate::{
    domain::{
        PetStatus,
        store_area::{ChangeType, OrderStatus},
    },
    languages::console::Texts,
};

pub(in crate::languages) static TEXTS: Texts = Texts {
    reference_hint: "Your own number for it, such as an invoice or ticket. Not the name of the adopter.",
    sold_at: "Adopted on",
    sold_today: "Adopted today",
    all_sales: "All adoptions",
    sell_more: "Adopt…",
    sell: "Adopt",
    sell_now: "Adopt now",
    take_back_hint: "The adopter returns the animal. It becomes available again.",
    sold_without_order: "It was marked as adopted without an order. To correct this, edit its status.",
    pending_without_order: "It was marked as reserved without an order, so the reservation has no end. Reserve it here to give it one, record its adoption, or edit its status.",
    find_order: "Find an order by adopter, telephone, animal, reference or number",
    no_orders_hint: "Open an animal to reserve it, or to record its adoption.",
    signature: "Signature of the adopter",
    status_invalid: "The status must be available, reserved or adopted.",
    any_status: "In the shelter",
    also_sold: "In the shelter or adopted",
    add_sold: "Also adopted ones",
    reserve_or_sell: "Reserve or adopt…",
    price: "Adoption fee",
    contact: "Adopter",
    contact_changed: "Adopter changed or deleted",
    price_invalid: "Enter an adoption fee such as 249.00, without a minus, with at most 12 digits before the point and 4 after it.",
    price_of_each: "Adoption fee of each (if it is another one)",
    status,
    order_status,
    change,
    audited_change,

    is_in_status,
    contact_hint,
    no_order_found_hint,
    sum_of,
    reopen,
    order_is,
    sell_animals,
    sold_as,
    ..super::TEXTS
};

fn status(status: PetStatus) -> &'static str {
    if status == PetStatus::Sold { "Adopted" } else { super::status(status) }
}

fn order_status(status: OrderStatus) -> &'static str {
    if status == OrderStatus::Completed { "Adopted" } else { super::order_status(status) }
}

fn change(kind: ChangeType) -> &'static str {
    if kind == ChangeType::OrderCompleted { "Adopted" } else { super::change(kind) }
}

fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::OrderCompleted => "Animal adopted",
        other => super::audited_change(other),
    }
}

fn is_in_status(status: PetStatus) -> String {
    match status {
        PetStatus::Sold => "It is adopted already.".to_owned(),
        other => super::is_in_status(other),
    }
}

fn contact_hint(kept: u64) -> String {
    format!(
        "Such as a name and a telephone number. It is deleted {} after the adoption.",
        days(kept)
    )
}

fn no_order_found_hint(kept: u64) -> String {
    format!("Check the spelling. The adopter of a closed order is known for {}.", days(kept))
}

fn sum_of(status: &str, count: usize, sum: &str) -> String {
    format!("{status}: {count} with a fee, {sum} together")
}

fn reopen(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Completed => "Adopted by mistake? Make it a reservation again",
        other => super::reopen(other),
    }
}

fn order_is(id: i64, status: OrderStatus) -> String {
    match status {
        OrderStatus::Completed => format!(
            "Order {id} is adopted, and the animal was changed since. Nothing was changed this time."
        ),
        other => super::order_is(id, other),
    }
}

fn sell_animals(count: usize) -> String {
    format!("Adopt {}?", animals(count))
}

fn sold_as(order: i64) -> String {
    format!("Adopted as order {order}.")
}
