//! The contract on the paper of an order, with the lines that the customer and the store fill in by hand.

use petstore_domain::store_area::{ContractText, Order, OrderStatus, StorePet};

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
    pet: Option<&StorePet>,
) -> Markup {
    html! {
        @if let Some(contract) = contract { (contract_markup(desk, contract, pet)) }
        div.print.signatures {
            @for label in [texts().place_and_date, texts().signature, texts().signature_of_store] {
                p { (label) (window_texts().colon) (LINE) }
            }
        }
    }
}

/// Renders a contract with the names of the animal and of the store, and lines for the name and address of the customer.
fn contract_markup(desk: &Desk<'_>, contract: &ContractText, pet: Option<&StorePet>) -> Markup {
    let pet_name = pet.map(|pet| markup::plain_name(pet.name.as_str()));
    let store_name = desk.visit.facts.name().value.unwrap_or(LINE);
    let text = contract.with_names(pet_name.as_deref().unwrap_or(LINE), store_name);
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
