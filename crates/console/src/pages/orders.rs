//! The page of an order: completing, extending, cancelling, returning and changing it.

use jiff::Timestamp;
use petstore_domain::{
    PetStatus,
    store_area::{
        Command, Decimal, Order, OrderId, OrderPatch, OrderStatus, Patch, Preconditions, StorePet,
    },
};
use petstore_languages::look::{Animal, Drawings};

use super::{
    order_rows::{OrderRow, call, form_of, load_orders, load_rows},
    parts::{animal_card, live_content, missing_page},
    values,
};
use crate::{
    layout::Follows,
    merge::{self, MergedForm, ReportedChanges},
    order_inputs::{self, ORDER_INPUTS, OrderForm, OrderInput, PRICE},
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
    let title = texts().title_of_order(order.id.get());
    let content = html! {
        div.head {
            h1 { (title) }
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
                (form(desk, &order, pet.as_ref(), errors))
            }
        }
        @for label in [texts().signature, texts().signature_of_store] {
            p.print { (label) (window_texts().colon) "______________________________" }
        }
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
                    dt { (input.label_in(order.status)) }
                    dd {
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

/// Renders a time of an order with its label, or nothing if there is none.
fn time_detail(desk: &Desk<'_>, label: &str, time: Option<Timestamp>) -> Markup {
    html! {
        @if let Some(time) = time {
            dt { (label) }
            dd { (markup::time_and_distance(time, desk.visit.now)) }
        }
    }
}

/// The name of the button that the Enter key presses.
const ENTER: &str = "enter";

/// Renders the form of an order: each of its buttons also saves the typed values.
pub(super) fn form(
    desk: &Desk<'_>,
    order: &Order,
    pet: Option<&StorePet>,
    errors: &Errors,
) -> Markup {
    if !desk.may_write() {
        return html! {};
    }
    let path = format!("/orders/{}", order.id);
    let current_form = form_of(desk, order);
    // The path of a form that could not be saved is below the path of the order.
    let request_path = desk.visit.request.uri.path();
    let is_rejected = request_path.starts_with(&format!("{path}/"));
    let form = if is_rejected {
        submitted_values(desk, &current_form)
    } else {
        current_form.clone()
    };
    let is_reserved = order.status == OrderStatus::Reserved;
    // The price of a reservation is next to its buttons, and the price of a cancelled order cannot change.
    let is_sold = order.status == OrderStatus::Completed;
    let summary = if is_reserved {
        texts().extend_or_change
    } else {
        texts().change_order
    };
    html! {
        form.stack.no-print data-draft method="post" action={ (path) "/change" } {
            (desk.key("order"))
            (merge::hidden_fields(&current_form))
            // For the Enter key, which presses the first button.
            button.hidden name=(ENTER) value="yes" tabindex="-1" aria-hidden="true" {
                (texts().save)
            }
            @if is_reserved {
                div.row {
                    (inputs(desk, order, &form, errors, |input| input.name == PRICE))
                    (command_button(&path, "complete", "main", texts().sell))
                    (command_button(&path, "cancel", "", texts().cancel_reservation))
                }
            } @else if may_reopen(order, pet) {
                div.buttons {
                    (command_button(&path, "reopen", "", texts().reopen(order.status)))
                }
            }
            @if is_sold && order.holds {
                (return_part(&path, &form, errors))
            }
            details open[is_rejected] {
                summary { (summary) }
                div.fields {
                    @if is_reserved {
                        (forms::day_input(form.get("until"), errors.message_for("until")))
                    }
                    (inputs(desk, order, &form, errors, |input| input.name != PRICE || is_sold))
                    div { button { (texts().save) } }
                }
            }
        }
    }
}

/// Returns the values of a form that could not be saved. Some buttons are in a list or in a message, and send no
/// inputs, so the present values complete the form.
fn submitted_values(desk: &Desk<'_>, current_form: &Form) -> Form {
    let merged_form = MergedForm::new(&desk.visit.form, current_form).form;
    let mut fields = merged_form.fields().to_vec();
    for (name, value) in current_form.fields() {
        if merged_form.all(name).next().is_none() {
            fields.push((name.clone(), value.clone()));
        }
    }
    fields.into_iter().collect()
}

/// Renders the inputs of the form of an order that `is_included` selects.
fn inputs(
    desk: &Desk<'_>,
    order: &Order,
    form: &Form,
    errors: &Errors,
    is_included: impl Fn(&OrderInput) -> bool,
) -> Markup {
    let order_form = OrderForm {
        is_new: false,
        status: order.status,
        id_prefix: "",
    };
    html! {
        @for input in &ORDER_INPUTS {
            @if is_included(input) {
                (input.show(desk, form, errors, order_form))
            }
        }
    }
}

/// Renders a button that sends the form of the order at `path` to a command.
fn command_button(path: &str, command: &str, class: &str, label: &str) -> Markup {
    html! { button class=(class) formaction={ (path) "/" (command) } { (label) } }
}

/// Renders the part of the form in which the customer returns the animal.
fn return_part(path: &str, form: &Form, errors: &Errors) -> Markup {
    let reason = Input::from_form("reason", texts().reason_label, form, errors).make_optional();
    html! {
        details open[errors.message_for("reason").is_some()] {
            summary { (texts().take_back_more) }
            div.fields {
                p.hint { (texts().take_back_hint) }
                (reason.show())
                div { (command_button(path, "return", "", texts().take_back)) }
            }
        }
    }
}

/// Whether a closed order can become a reservation again: a sale while it holds its animal, and a cancelled order while
/// its animal is available.
fn may_reopen(order: &Order, pet: Option<&StorePet>) -> bool {
    if order.status == OrderStatus::Completed {
        return order.holds;
    }
    pet.is_some_and(|pet| pet.status == PetStatus::Available && pet.withdrawal.is_none())
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
        let end = forms::parse_end_of_day(form, &desk.visit);
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
    let merged = MergedForm::new(&desk.visit.form, &current_form);
    let mut errors = Errors::default();
    let mut patch = parse_patch(desk, &merged.form, &current_form, &mut errors);
    let further_commands = further_commands(order.id, patch.price.clone(), &mut errors);
    if !errors.is_empty() {
        return show(desk, &errors).await;
    }
    if matches!(further_commands[..], [Command::CompleteOrder { .. }]) {
        // The sale changes the price.
        patch.price = Patch::Keep;
    }

    // A sale or another end ends with what was shown, so each change by others matters to it.
    let reported = if further_commands.is_empty() {
        ReportedChanges::Conflicts
    } else {
        ReportedChanges::All
    };
    let outdated = merged.change_messages(reported, |name, value| {
        values::in_words(values::NO_FIELDS, desk.currency(), name, value)
    });
    let mut commands = vec![Command::PatchOrder {
        id: order.id,
        patch,
        preconditions: merged.preconditions(!outdated.is_empty()),
    }];
    commands.extend(further_commands);

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
    let form = &desk.visit.form;
    if !form.get(ENTER).is_empty() && !form.get("reason").is_empty() {
        // The Enter key in the reason of a return means the return.
        return take_back(desk).await;
    }
    act_on_order(desk, |_, _, _| Vec::new()).await
}
