//! The contract on the paper of an order, with the lines that the customer and the store fill in by hand.

use petstore_domain::store_area::{ContractText, Order, OrderStatus, Placeholder, StorePet};

use super::parts;
use crate::prelude::*;

/// The line on paper for something that is written by hand.
const LINE: &str = "______________________________";

/// Loads the contract that the paper of an order has. `None` if the store has none, or if the order is over.
pub(super) async fn load(
    desk: &Desk<'_>,
    order: &Order,
) -> Result<Option<ContractText>, StoreError> {
    let is_in_force = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    if !is_in_force {
        return Ok(None);
    }
    Ok(desk.store().profile().await?.contract)
}

/// Renders the title of an order. On paper with a contract, the word for the contract is before the number of the order.
pub(super) fn title(order: &Order, contract: Option<&ContractText>) -> Markup {
    let title = texts().title_of_order(order.id.get());
    if contract.is_none() {
        return html! { (title) };
    }
    html! {
        span.no-print { (title) }
        span.print { (texts().contract_heading) ", " (texts().this_order(order.id.get())) }
    }
}

/// Renders what only the paper of an order has: the contract, if there is one, and the lines for signatures.
pub(super) fn on_paper(
    desk: &Desk<'_>,
    contract: Option<&ContractText>,
    order: &Order,
    pet: Option<&StorePet>,
) -> Markup {
    html! {
        @if let Some(contract) = contract { (contract_markup(desk, contract, order, pet)) }
        div.print.signatures {
            @for label in [texts().place_and_date, texts().signature, texts().signature_of_store] {
                p { (label) (window_texts().colon) (LINE) }
            }
        }
    }
}

/// Renders a contract with its values, and lines for the name and address of the customer. A missing value is a line to
/// write on.
fn contract_markup(
    desk: &Desk<'_>,
    contract: &ContractText,
    order: &Order,
    pet: Option<&StorePet>,
) -> Markup {
    let text = contract.fill(|placeholder| {
        value_of(desk, placeholder, order, pet).unwrap_or_else(|| LINE.to_owned())
    });
    html! {
        section.print.contract {
            @for label in [texts().contract_name, texts().contract_address] {
                p.entry { (label) (window_texts().colon) (LINE) (LINE) }
            }
            // An address has two lines.
            p.entry { (LINE) (LINE) }
            @for paragraph in text.split("\n\n") {
                @if !paragraph.trim().is_empty() { p { (markup::lines(paragraph.trim())) } }
            }
        }
    }
}

/// Returns the value of a placeholder. `None` if it is missing, or if the member may not see it.
fn value_of(
    desk: &Desk<'_>,
    placeholder: Placeholder,
    order: &Order,
    pet: Option<&StorePet>,
) -> Option<String> {
    match placeholder {
        Placeholder::Animal => Some(markup::plain_name(pet?.name.as_str())),
        Placeholder::Store => desk.visit.facts.name().value.map(str::to_owned),
        Placeholder::Microchip => Some(pet?.fields.get("microchip")?.to_string()),
        Placeholder::Fee => Some(amount(order.price.as_ref()?.as_str(), desk.currency())),
        Placeholder::Adopter if !desk.may_write() => None,
        Placeholder::Adopter => name_in(order.contact.as_ref()?.as_str()),
        Placeholder::Date => {
            // A contract that is printed again has the day of the sale.
            let sale_day = order.closed_at.map(|time| desk.visit.facts.day_of(time));
            Some(numbers().date(sale_day.unwrap_or(parts::today(desk))))
        }
    }
}

/// Returns the name in the contact of a customer: what precedes the first number or e-mail address. `None` if there is none.
///
/// `Lee, Ann, 030 12` and `Lee, Ann, Elm Street 5` have the name `Lee, Ann`, and `Ann Lee 030 12` has `Ann Lee`.
fn name_in(contact: &str) -> Option<String> {
    let mut name_parts: Vec<String> = Vec::new();
    for part in contact.split([',', ';', '\n']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let name_words: Vec<&str> = words
            .iter()
            .copied()
            .take_while(|word| is_of_name(word))
            .collect();
        let is_whole = name_words.len() == words.len();
        // "Elm Street 5" is an address.
        if !name_words.is_empty() && (is_whole || name_parts.is_empty()) {
            name_parts.push(name_words.join(" "));
        }
        if !is_whole {
            break;
        }
    }
    if name_parts.is_empty() {
        return None;
    }
    Some(name_parts.join(", "))
}

/// Whether a word can be a part of a name: it has no digit and is no e-mail address.
fn is_of_name(word: &str) -> bool {
    !word.contains(|character: char| character.is_ascii_digit() || character == '@')
}
