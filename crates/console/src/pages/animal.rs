//! The page of one animal: its portrait, what members can do with it, its history and its facts.
//!
//! An animal that is reserved or sold is held by an order, which the page shows with its forms.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, Order, StorePet, Withdrawal},
};

use super::{
    animal_fields::{facts, long_texts},
    animal_top, history,
    new_order_form::new_order_forms,
    notes, order_forms, orders,
    parts::{live_content, missing_page},
    pet_orders,
    pet_schema::PetSchema,
};
use crate::{layout::Follows, prelude::*};

/// Handles `GET /animals/{id}`: shows the page of the animal. If a change has just failed, `errors`
/// says why.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let categories = desk.load_categories([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let schema = PetSchema {
        categories: &categories,
        fields: &fields,
    };
    let holding_order = pet_orders::holding_order(desk, &pet).await?;
    let earlier_order = load_earlier_order(desk, &pet).await?;
    let history = history::show(desk, &pet).await?;

    let content = html! {
        (top_section(desk, &pet, schema, holding_order.as_ref(), errors))
        div.columns.wide {
            div.stack {
                (long_texts(&pet, &fields))
                (history_card(desk, &pet, &history, errors))
            }
            div.stack {
                div.card.no-print #facts { (facts(desk, &pet, schema)) }
                @if desk.may_write() && pet.withdrawal.is_none() {
                    (withdrawal_form(desk, &pet, errors))
                }
                @if let Some(order) = &earlier_order { (earlier_order_link(desk, order)) }
            }
        }
    };
    let title = markup::plain_name(pet.name.as_str());
    // The script of the open page refreshes the content when the animal changes.
    Ok(Page::new(title, live_content(errors, &content))
        .following(Follows::Pet(pet.id.get()))
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Loads the last order of an animal that is available again, such as a cancelled reservation.
///
/// Returns `None` for an animal that is not available or never had an order, and for a viewer.
async fn load_earlier_order(desk: &Desk<'_>, pet: &StorePet) -> Result<Option<Order>, StoreError> {
    if pet.status != PetStatus::Available || !desk.may_write() {
        return Ok(None);
    }
    pet_orders::newest_order(desk, pet).await
}

/// Renders the card with the form for a new note, and the history of the animal below it.
fn history_card(desk: &Desk<'_>, pet: &StorePet, history: &Markup, errors: &Errors) -> Markup {
    html! {
        section.card.no-print {
            h2 { (texts().history) }
            (notes::new_note_form(desk, pet.id, errors))
            (history)
        }
    }
}

/// Renders the top of the page: the portrait, and next to it the name, the main facts, and what
/// members can do.
fn top_section(
    desk: &Desk<'_>,
    pet: &StorePet,
    schema: PetSchema<'_>,
    holding_order: Option<&Order>,
    errors: &Errors,
) -> Markup {
    // For viewers, who have no forms, the section can only show an order or a withdrawal.
    let has_state_section = desk.may_write() || holding_order.is_some() || pet.withdrawal.is_some();
    html! {
        div.animal {
            (animal_top::portrait(desk, pet, schema))
            div.stack {
                (animal_top::title(desk, pet, schema.fields))
                (animal_top::kennel_card(desk, pet, schema.fields))
                div #work.stack {
                    @if has_state_section {
                        (state_section(desk, pet, schema.fields, holding_order, errors))
                    }
                }
                (animal_top::toolbar(desk, pet))
            }
        }
    }
}

/// Renders a link to the last order of an animal that is available again, such as a cancelled
/// reservation.
fn earlier_order_link(desk: &Desk<'_>, order: &Order) -> Markup {
    html! {
        p.hint.no-print {
            (texts().order_before) (window_texts().colon)
            a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
            " " (markup::order_badge(order, desk.visit.now))
        }
    }
}

/// Renders the present state of the animal with its forms: the withdrawal, the order that holds the
/// animal, or the forms for a new order.
///
/// An animal can be pending or sold without a `holding_order`, because its status can also be set
/// by hand.
fn state_section(
    desk: &Desk<'_>,
    pet: &StorePet,
    fields: &FieldSet,
    holding_order: Option<&Order>,
    errors: &Errors,
) -> Markup {
    if let Some(withdrawal) = &pet.withdrawal {
        return withdrawn_card(desk, pet, withdrawal);
    }
    if let Some(order) = holding_order {
        return order_card(desk, pet, order, fields, errors);
    }
    match pet.status {
        PetStatus::Available => new_order_forms(desk, pet, fields, errors),
        PetStatus::Pending => html! {
            p { (texts().pending_without_order) }
            (new_order_forms(desk, pet, fields, errors))
        },
        PetStatus::Sold => {
            html! { section.card.no-print { p { (texts().sold_without_order) } } }
        }
    }
}

/// Renders the card that says why and when the animal was withdrawn, with a button that restores
/// it.
fn withdrawn_card(desk: &Desk<'_>, pet: &StorePet, withdrawal: &Withdrawal) -> Markup {
    html! {
        section.card {
            h2 { (texts().withdrawn) }
            p {
                (texts().reason(withdrawal.reason)) ", "
                (markup::time(withdrawal.at, desk.visit.now))
            }
            @if let Some(note) = &withdrawal.note {
                p { (markup::text(note.as_str(), LONG_LENGTH)) }
            }
            @if desk.may_write() {
                p.hint { (texts().restore_hint) }
                form method="post" action={ "/animals/" (pet.id.get()) "/restore" } {
                    (desk.idempotency_field("restore"))
                    input type="hidden" name="version" value=(pet.version);
                    button { (texts().restore) }
                }
            }
        }
    }
}

/// Renders the card with the order that holds the animal, and the forms that change this order.
fn order_card(
    desk: &Desk<'_>,
    pet: &StorePet,
    order: &Order,
    fields: &FieldSet,
    errors: &Errors,
) -> Markup {
    html! {
        section.card {
            h2 {
                (texts().status(pet.status))
                span.no-print {
                    ", " a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
                }
            }
            // The printed page is the kennel card. Visitors see it, so it must not name the
            // customer.
            div.no-print { (orders::details(desk, order)) }
            (order_forms::show(desk, order, Some(pet), fields, errors))
        }
    }
}

/// Renders the collapsed form that withdraws the animal. After a failed submission, it is expanded.
fn withdrawal_form(desk: &Desk<'_>, pet: &StorePet, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let reason_input = Input::from_form("why", texts().reason_label, form, errors);
    let note_input = Input::from_form("remark", texts().note, form, errors)
        .make_multiline()
        .make_optional();
    // The failed submission can be from another form on this page, which has other inputs.
    let is_filled_in = !form.raw("why").is_empty() || !form.raw("remark").is_empty();
    html! {
        details.card open[is_filled_in || errors.message_for("why").is_some()] {
            summary { (texts().withdraw_more) }
            form.fields method="post" action={ "/animals/" (pet.id.get()) "/withdraw" } {
                p.hint { (texts().withdraw_hint) }
                (desk.idempotency_field("withdraw"))
                input type="hidden" name="version" value=(pet.version);
                (reason_input.show_dropdown(&forms::withdrawal_reason_options()))
                (note_input.show())
                div { button.danger { (texts().withdraw) } }
            }
        }
    }
}
