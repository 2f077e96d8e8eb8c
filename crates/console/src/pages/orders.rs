//! The page of an order: completing, extending, cancelling, returning and changing it.

use jiff::Timestamp;
use petstore_domain::store_area::{
    Command, Decimal, Order, OrderId, OrderPatch, OrderStatus, Patch, Preconditions, StorePet,
};
use petstore_languages::look::{Animal, Drawings};

use super::{
    contract, order_forms,
    order_rows::{OrderRow, call, form_of, load_orders, load_rows},
    parts::{animal_card, live_content, missing_page},
    values,
};
use crate::{
    layout::Follows,
    merge::{self, MergedForm, ReportedChanges},
    order_inputs::{self, ORDER_INPUTS, OrderInput},
    prelude::*,
    reply::{FROM, TODAY},
};

/// Shows the page of the order, with the problems of a change of it.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let mut rows = load_rows(desk, desk.id(OrderId::new).into_iter()).await?;
    let Some(OrderRow { order, pet }) = rows.pop() else {
        return Ok(missing_page(texts().no_order));
    };
    let animal = match &pet {
        Some(pet) => Some(animal_section(desk, pet).await?),
        None => None,
    };
    let contract = contract::load(desk, &order).await?;
    let title = texts().title_of_order(order.id.get());
    let content = html! {
        div.head {
            h1 { (contract::title(&order, contract.as_ref())) }
            (markup::order_badge(&order, desk.visit.now))
            button type="button" data-print { (texts().print) }
        }
        div.columns {
            section.card {
                h2 { (texts().animal) }
                @if let Some(animal) = animal { (animal) }
            }
            section.card #order {
                h2 { (texts().order) }
                (details(desk, &order))
                (order_forms::show(desk, &order, pet.as_ref(), errors))
            }
        }
        (contract::on_paper(desk, contract.as_ref(), &order, pet.as_ref()))
    };
    let page = Page::new(title, live_content(errors, &content))
        .following(Follows::Pet(order.pet_id.get()))
        .with_error_status_if(!errors.is_empty());
    Ok(page.into())
}

/// Renders the animal of an order, with the values by which people tell it from others, such as its microchip.
async fn animal_section(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, ApiError> {
    let categories = desk.load_categories([pet.category_id].into()).await?;
    let fields = desk.store().fields().await?;
    let animal = Animal::whole(pet, &fields);
    let category = markup::category(&categories, pet.category_id);
    let mut drawings = Drawings::default();
    Ok(html! {
        (animal_card(desk, &animal, &category, &mut drawings, 0))
        dl {
            dt { (texts().number) }
            dd { (pet.id.get()) }
            @for (field, value) in animal.values.iter().filter(|(field, _)| field.is_unique) {
                dt { (values::label_of(field)) }
                dd { (values::value_markup(desk, field, value)) }
            }
        }
        (drawings.symbols())
    })
}

/// Renders the values of an order, beginning with the customer's contact data.
pub(super) fn details(desk: &Desk<'_>, order: &Order) -> Markup {
    let closed_label = if order.status == OrderStatus::Completed {
        texts().sold_at
    } else {
        texts().closed_at
    };
    let reservation_end = match order.status {
        OrderStatus::Reserved => order.expires_at,
        _ => None,
    };
    html! {
        dl {
            @for input in &ORDER_INPUTS {
                @if let Some(text) = input.display_value(desk, order) {
                    dt class=[paper_class(input)] { (input.label_in(order.status)) }
                    dd class=[paper_class(input)] {
                        (markup::text(&text, LONG_LENGTH))
                        @if input.label() == texts().contact { (call(&text)) }
                    }
                }
            }
            @if let Some(reason) = &order.reason {
                dt { (texts().reason_label) }
                dd { (markup::text(reason.as_str(), LONG_LENGTH)) }
            }
            (time_detail(desk, texts().ends, reservation_end))
            (time_detail(desk, texts().placed_at, Some(order.created_at)))
            (time_detail(desk, closed_label, order.closed_at))
        }
    }
}

/// Returns the class of a value of an order that the paper leaves out: the customer gets the paper, and the note is for the
/// staff.
fn paper_class(input: &OrderInput) -> Option<&'static str> {
    (input.name == order_inputs::NOTE).then_some("no-print")
}

/// Renders a time of an order with its label, or nothing if there is none.
fn time_detail(desk: &Desk<'_>, label: &str, time: Option<Timestamp>) -> Markup {
    html! {
        @if let Some(time) = time {
            dt { (label) }
            dd { (markup::time_and_distance(time, desk.visit.now)) }
        }
    }
}

/// Parses the typed values as a change of the values that the form showed. A member that the form does not have stays.
fn parse_patch(
    desk: &Desk<'_>,
    form: &Form,
    current_form: &Form,
    errors: &mut Errors,
) -> OrderPatch {
    let mut patch = order_inputs::parse_patch(
        form,
        desk.currency(),
        |name| merge::differs(form, current_form, name),
        errors,
    );
    if merge::differs(form, current_form, "until") {
        let end = forms::parse_reservation_end(form, &desk.visit);
        patch.expires_at = errors.take("until", end);
    }
    patch
}

/// Saves the typed values of the order in the path, carries out commands about it, and shows its animal.
/// Commands require that the order is still what the page showed. `further_commands` makes them from the id of the
/// order and the change of its price.
async fn act_on_order(
    desk: &Desk<'_>,
    further_commands: impl FnOnce(OrderId, Patch<Decimal>, &mut Errors) -> Vec<Command>,
) -> Result<Reply, ApiError> {
    let ids = desk.id(OrderId::new).into_iter();
    let Some(order) = load_orders(desk, ids).await?.pop() else {
        return Ok(missing_page(texts().no_order));
    };
    let current_form = form_of(desk, &order);
    let merged_form = MergedForm::new(&desk.visit.form, &current_form);
    let mut errors = Errors::default();
    let mut patch = parse_patch(desk, &merged_form.form, &current_form, &mut errors);
    let end_commands = further_commands(order.id, patch.price.clone(), &mut errors);
    if !errors.is_empty() {
        return show(desk, &errors).await;
    }
    if matches!(end_commands[..], [Command::CompleteOrder { .. }]) {
        // The sale changes the price.
        patch.price = Patch::Keep;
    }

    // A sale or another end ends with what was shown, so each change by others matters to it.
    let reported = if end_commands.is_empty() {
        ReportedChanges::Conflicts
    } else {
        ReportedChanges::All
    };
    let outdated = merged_form.change_messages(reported, |name, value| {
        values::in_words(values::NO_FIELDS, desk.currency(), name, value)
    });
    let mut commands = vec![Command::PatchOrder {
        id: order.id,
        patch,
        preconditions: merged_form.preconditions(!outdated.is_empty()),
    }];
    commands.extend(end_commands);

    match desk.execute(commands).await? {
        Ok(flash) => {
            // The next page is the one with the button.
            let next_path = if desk.visit.form.get(FROM) == TODAY {
                "/".to_owned()
            } else {
                format!("/animals/{}", order.pet_id.get())
            };
            Ok(Reply::See(next_path, Some(flash)))
        }
        Err(_) if !outdated.is_empty() => show(desk, &outdated).await,
        Err(not_done) => {
            let message = not_done.why + &other_order_hint(desk, &order).await?;
            show(desk, &Errors::from_text(&message)).await
        }
    }
}

/// Returns the hint that another order holds the animal of this order; empty if no other order does.
async fn other_order_hint(desk: &Desk<'_>, order: &Order) -> Result<String, ApiError> {
    let pet = desk.store().get_store_pet(order.pet_id).await?;
    Ok(match pet.and_then(|pet| pet.order_id) {
        Some(holding_id) if holding_id != order.id => texts().animal_is_reserved(holding_id.get()),
        _ => String::new(),
    })
}

/// Returns the command that sells the animal. It has no preconditions, because the change of the order before it has
/// them.
fn sale(id: OrderId, price: Patch<Decimal>) -> Command {
    Command::CompleteOrder {
        id,
        price,
        preconditions: Preconditions::default(),
    }
}

/// Returns the command that cancels the order. See [`sale`].
fn cancellation(id: OrderId) -> Command {
    Command::CancelOrder {
        id,
        reason: None,
        preconditions: Preconditions::default(),
    }
}

/// Sells the reserved animal for the typed price.
pub(super) async fn complete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, price, _| vec![sale(id, price)]).await
}

/// Ends the reservation.
pub(super) async fn cancel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, _, _| vec![cancellation(id)]).await
}

/// Takes the animal back from the customer.
pub(super) async fn take_back(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, _, errors| {
        let typed_reason = desk.visit.form.get("reason");
        let reason = forms::parse_optional_text(typed_reason, texts().reason_label);
        vec![Command::ReturnOrder {
            id,
            reason: errors.take("reason", reason).flatten(),
            preconditions: Preconditions::default(),
        }]
    })
    .await
}

/// Reserves the animal again, as before a sale or a cancellation by mistake.
pub(super) async fn reopen(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |id, _, _| {
        vec![Command::ReopenOrder {
            id,
            expires_at: None,
            default_end: desk.default_end(),
            preconditions: Preconditions::default(),
        }]
    })
    .await
}

/// Changes the values that people wrote about the order, and the end of a reservation.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, |_, _, _| Vec::new()).await
}
