//! The contract on the paper of an order, with the lines that the customer and the store fill in by hand.

use petstore_domain::store_area::{ContractText, Order, OrderStatus, StorePet};

use crate::prelude::*;

/// The line on paper for something that is written by hand.
const LINE: &str = "______________________________";

/// Renders what only the paper of an order has: the contract of the store, if it has one, and the lines for signatures.
pub(super) async fn on_paper(
    desk: &Desk<'_>,
    order: &Order,
    pet: Option<&StorePet>,
) -> Result<Markup, StoreError> {
    let is_in_force = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    let profile = desk.store().profile().await?;
    let mut contract = None;
    if is_in_force {
        contract = profile.contract.as_ref();
    }
    Ok(html! {
        @if let Some(contract) = contract { (contract_markup(desk, contract, pet)) }
        div.print.signatures {
            @for label in [texts().signature, texts().signature_of_store] {
                p { (label) (window_texts().colon) (LINE) }
            }
        }
    })
}

/// Renders a contract with the names of the animal and of the store, and lines for the name and address of the customer.
fn contract_markup(desk: &Desk<'_>, contract: &ContractText, pet: Option<&StorePet>) -> Markup {
    let pet_name = pet.map(|pet| markup::plain_name(pet.name.as_str()));
    let store_name = desk.visit.facts.name().value.unwrap_or(LINE);
    let text = contract.with_names(pet_name.as_deref().unwrap_or(LINE), store_name);
    html! {
        section.print.contract {
            h2 { (texts().contract_heading) }
            @for label in [texts().contract_name, texts().contract_address] {
                p.entry { (label) (window_texts().colon) (LINE) (LINE) }
            }
            @for paragraph in text.split("\n\n") {
                @if !paragraph.trim().is_empty() { p { (markup::lines(paragraph.trim())) } }
            }
        }
    }
}
