//! The contact of the customer of an order, and the telephone number in it.

use std::ops::RangeInclusive;

use petstore_domain::store_area::{Contact, Order, StorePet};

use crate::prelude::*;

/// The number of digits that a telephone number may have. E.164 allows at most 15.
const TELEPHONE_DIGITS: RangeInclusive<usize> = 6..=15;

/// The characters that people write between the digits of a telephone number.
const TELEPHONE_SEPARATORS: &str = " +-/().";

/// Returns the contact of an order. Returns `None` if the order has none, or if the member may not
/// see contacts.
pub(super) fn visible_contact<'o>(desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
    if !desk.may_write() {
        return None;
    }
    order.contact.as_ref().map(Contact::as_str)
}

/// Returns the contact of the open order of an animal.
///
/// Returns `None` if that order is not among `orders`, if it has no contact, or if the member may
/// not see contacts.
pub(super) fn visible_contact_for<'o>(
    desk: &Desk<'_>,
    orders: &'o [Order],
    pet: &StorePet,
) -> Option<&'o str> {
    let open_order = orders.iter().find(|order| Some(order.id) == pet.order_id)?;
    visible_contact(desk, open_order)
}

/// Returns the first telephone number in a contact, in the format of a `tel:` link: `+4930123456`
/// for `Ana, +49 (0)30 123-456`.
fn find_telephone_number(contact: &str) -> Option<String> {
    let is_in_number =
        |character: char| character.is_ascii_digit() || TELEPHONE_SEPARATORS.contains(character);
    contact
        .split(|character| !is_in_number(character))
        .find_map(|candidate| parse_telephone_number(candidate.trim()))
}

/// Parses a run of digits and separators, such as `+49 (0)30 123-456`, and removes the separators.
///
/// Returns `None` if the run is not a telephone number: it looks like a date, or it has too few or
/// too many digits.
fn parse_telephone_number(candidate: &str) -> Option<String> {
    if is_date(candidate) {
        return None;
    }
    let is_international = candidate.starts_with('+');
    let dialled_text = if is_international {
        // "+49 (0)30" has a zero that is dialled only within the country.
        candidate.replacen("(0)", "", 1)
    } else {
        candidate.to_owned()
    };
    let digits: String = dialled_text.chars().filter(char::is_ascii_digit).collect();
    if !TELEPHONE_DIGITS.contains(&digits.len()) {
        return None;
    }
    if is_international {
        Some(format!("+{digits}"))
    } else {
        Some(digits)
    }
}

/// Whether a run of digits and separators looks like a date, such as `24.12.2026` or `2026-12-24`.
fn is_date(candidate: &str) -> bool {
    let lengths: Vec<usize> = candidate
        .split(['.', '/', '-'])
        .map(|part| part.trim().len())
        .collect();
    matches!(lengths[..], [1..=2, 1..=2, 2 | 4] | [4, 1..=2, 1..=2])
}

/// Renders a link that dials the telephone number in a contact, or nothing if there is none.
pub(super) fn call_link(contact: &str) -> Markup {
    html! {
        @if let Some(number) = find_telephone_number(contact) {
            " " a.no-print href={ "tel:" (number) } { (texts().call) }
        }
    }
}
