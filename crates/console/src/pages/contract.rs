//! The contract on the printed page of an order, with blank lines that the customer and the store
//! fill in by hand.

use petstore_domain::store_area::{ContractText, Order, OrderStatus, Placeholder, StorePet};

use super::{parts, values::MICROCHIP};
use crate::prelude::*;

/// A blank line on the printed page, to be filled in by hand.
const BLANK_LINE: &str = "______________________________";

/// Loads the contract that is printed with an order.
///
/// Returns `None` if the store has no contract, or if the order is no longer in force, such as a
/// cancelled reservation.
pub(super) async fn load_for_order(
    desk: &Desk<'_>,
    order: &Order,
) -> Result<Option<ContractText>, StoreError> {
    let is_in_force = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    if !is_in_force {
        return Ok(None);
    }
    Ok(desk.store().profile().await?.contract)
}

/// Renders the title of the page of an order.
///
/// If the page is printed with a contract, the title in print is the heading of the contract with
/// the number of the order.
pub(super) fn show_title(order: &Order, contract: Option<&ContractText>) -> Markup {
    let title = texts().title_of_order(order.id.get());
    if contract.is_none() {
        return html! { (title) };
    }
    html! {
        span.no-print { (title) }
        span.print { (texts().contract_heading) ", " (texts().this_order(order.id.get())) }
    }
}

/// Renders what the page of an order has only in print: the contract, if there is one, and the
/// lines for signatures.
pub(super) fn show_printed_part(
    desk: &Desk<'_>,
    contract: Option<&ContractText>,
    order: &Order,
    pet: Option<&StorePet>,
) -> Markup {
    html! {
        @if let Some(contract) = contract { (contract_markup(desk, contract, order, pet)) }
        div.print.signatures {
            @for label in [texts().place_and_date, texts().signature, texts().signature_of_store] {
                p { (label) (window_texts().colon) (BLANK_LINE) }
            }
        }
    }
}

/// Renders a contract with its placeholders filled in, below blank lines for the name and address
/// of the customer.
///
/// A placeholder without a value becomes a blank line.
fn contract_markup(
    desk: &Desk<'_>,
    contract: &ContractText,
    order: &Order,
    pet: Option<&StorePet>,
) -> Markup {
    let text = contract.fill(|placeholder| {
        find_value(desk, placeholder, order, pet).unwrap_or_else(|| BLANK_LINE.to_owned())
    });
    // Names and addresses need more room than the values within the text.
    let long_blank_line = BLANK_LINE.repeat(2);
    html! {
        section.print.contract {
            @for label in [texts().contract_name, texts().contract_address] {
                p.entry { (label) (window_texts().colon) (long_blank_line) }
            }
            // The second line of the address.
            p.entry { (long_blank_line) }
            @for paragraph in text.split("\n\n") {
                @if !paragraph.trim().is_empty() { p { (markup::lines(paragraph.trim())) } }
            }
        }
    }
}

/// Returns the value of a placeholder. Returns `None` if the order or the animal does not have the
/// value, or if the member may not see it.
fn find_value(
    desk: &Desk<'_>,
    placeholder: Placeholder,
    order: &Order,
    pet: Option<&StorePet>,
) -> Option<String> {
    match placeholder {
        Placeholder::Animal => Some(markup::plain_name(pet?.name.as_str())),
        Placeholder::Store => desk.visit.facts.name().value.map(str::to_owned),
        Placeholder::Microchip => Some(pet?.fields.get(MICROCHIP)?.to_string()),
        Placeholder::Fee => Some(amount(order.price.as_ref()?.as_str(), desk.currency())),
        Placeholder::Adopter => {
            // Viewers may not see the contacts of customers.
            if !desk.may_write() {
                return None;
            }
            extract_name(order.contact.as_ref()?.as_str())
        }
        Placeholder::Date => {
            // A contract that is printed again later must have the same date, so the day of the
            // sale comes first.
            let sale_day = order.closed_at.map(|time| desk.visit.facts.day_of(time));
            Some(numbers().date(sale_day.unwrap_or(parts::today(desk))))
        }
    }
}

/// Extracts the customer's name from a contact, which is free text: the text before the first
/// number or e-mail address, without a street.
///
/// `Lee, Ann, 030 12` and `Lee, Ann, Elm Street 5` contain the name `Lee, Ann`, and
/// `Ann Lee 030 12` contains `Ann Lee`. Returns `None` if the contact begins with a number or an
/// e-mail address.
fn extract_name(contact: &str) -> Option<String> {
    let mut name_parts: Vec<String> = Vec::new();
    for part in contact.split([',', ';', '\n']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let name_words: Vec<&str> = words
            .iter()
            .copied()
            .take_while(|word| can_be_in_name(word))
            .collect();
        let is_only_name = name_words.len() == words.len();
        // In the first part, the words before a number are a name: "Ann Lee 030 12". In a later
        // part, they are an address: "Lee, Ann, Elm Street 5".
        let is_first_part = name_parts.is_empty();
        let belongs_to_name = is_only_name || is_first_part;
        if belongs_to_name && !name_words.is_empty() {
            name_parts.push(name_words.join(" "));
        }
        if !is_only_name {
            break;
        }
    }
    if name_parts.is_empty() {
        return None;
    }
    Some(name_parts.join(", "))
}

/// Whether a word can be part of a name: it has no digit, and is not an e-mail address.
fn can_be_in_name(word: &str) -> bool {
    !word.contains(|character: char| character.is_ascii_digit() || character == '@')
}
