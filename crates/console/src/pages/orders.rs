//! The page of an order, and the actions on it: complete, extend, cancel, return, reopen and edit.

use jiff::Timestamp;
use petstore_domain::store_area::{
    Command, Decimal, FieldSet, Order, OrderId, OrderPatch, OrderStatus, Patch, Preconditions,
    StorePet,
};
use petstore_languages::look::{Animal, Drawings};

use super::{
    contract,
    order_contacts::call_link,
    order_forms::{self, RETURN_REASON},
    order_rows::{OrderRow, load_orders, load_rows},
    order_values::form_of_order,
    parts::{animal_card, live_content, missing_page},
    return_intake, values,
};
use crate::{
    layout::Follows,
    merge::{self, MergedForm, ReportedChanges},
    order_inputs::{self, ORDER_INPUTS, OrderInput},
    prelude::*,
    reply::{FROM_FIELD, FROM_TODAY},
};

/// Handles `GET /orders/{id}`: renders the page of the order in the path, with the errors of a
/// rejected form.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let id_in_path = desk.path_id(OrderId::new);
    let mut rows = load_rows(desk, id_in_path.into_iter()).await?;
    let Some(OrderRow { order, pet }) = rows.pop() else {
        return Ok(missing_page(texts().no_order));
    };
    let animal_section = if let Some(pet) = &pet {
        load_animal_section(desk, pet).await?
    } else {
        html! {}
    };
    let contract = contract::load_for_order(desk, &order).await?;
    let fields = desk.store().fields().await?;
    let title = texts().title_of_order(order.id.get());
    let content = html! {
        div.head {
            h1 { (contract::show_title(&order, contract.as_ref())) }
            (markup::order_badge(&order, desk.visit.now))
            button type="button" data-print { (texts().print) }
        }
        div.columns {
            section.card {
                h2 { (texts().animal) }
                (animal_section)
            }
            section.card #order {
                h2 { (texts().order) }
                (details(desk, &order))
                (order_forms::show(desk, &order, pet.as_ref(), &fields, errors))
            }
        }
        (contract::show_printed_part(desk, contract.as_ref(), &order, pet.as_ref()))
    };
    let page = Page::new(title, live_content(errors, &content))
        .following(Follows::Pet(order.pet_id.get()))
        .with_error_status_if(!errors.is_empty());
    Ok(page.into())
}

/// Renders the animal of an order, with the unique values that identify it, such as its microchip
/// number. Loads what the rendering needs.
async fn load_animal_section(desk: &Desk<'_>, pet: &StorePet) -> Result<Markup, ApiError> {
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

/// Renders the details of an order, starting with the contact of the customer.
pub(super) fn details(desk: &Desk<'_>, order: &Order) -> Markup {
    let closed_label = if order.status == OrderStatus::Completed {
        texts().sold_at
    } else {
        texts().closed_at
    };
    // The end matters only while the animal is reserved.
    let reservation_end = match order.status {
        OrderStatus::Reserved => order.expires_at,
        _ => None,
    };
    html! {
        dl {
            @for input in &ORDER_INPUTS {
                @if let Some(text) = input.display_value(desk, order) {
                    dt class=[print_class(input)] { (input.label_in(order.status)) }
                    dd class=[print_class(input)] {
                        (markup::text(&text, LONG_LENGTH))
                        @if input.name == order_inputs::CONTACT { (call_link(&text)) }
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

/// Returns the CSS class of a value of the order. It hides the note on the printed page, because
/// the customer gets the printout, and the note is only for the staff.
fn print_class(input: &OrderInput) -> Option<&'static str> {
    if input.name == order_inputs::NOTE {
        Some("no-print")
    } else {
        None
    }
}

/// Renders a time of an order with its label, or nothing if the time is absent.
fn time_detail(desk: &Desk<'_>, label: &str, time: Option<Timestamp>) -> Markup {
    html! {
        @if let Some(time) = time {
            dt { (label) }
            dd { (markup::time_and_distance(time, desk.visit.now)) }
        }
    }
}

/// Parses the submitted values into a patch of the order.
///
/// The patch has only the values that differ from the current ones. A value that the form does not
/// have stays unchanged.
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
    if merge::differs(form, current_form, forms::RESERVATION_END) {
        let end = forms::parse_reservation_end(form, &desk.visit);
        patch.expires_at = errors.ok_or_add(forms::RESERVATION_END, end);
    }
    patch
}

/// An action on an order. Every action also saves the submitted values of the order.
#[derive(Clone, Copy)]
enum OrderAction<'a> {
    /// Saves the submitted values, and does nothing else.
    Save,
    /// Sells the reserved animal at the submitted price.
    Complete,
    /// Cancels the reservation.
    Cancel,
    /// Records that the customer returned the animal. The fields of the store say whether it has a
    /// field for the new intake.
    TakeBack(&'a FieldSet),
    /// Makes the closed order a reservation again.
    Reopen,
}

/// Carries out an action on the order in the path and saves the submitted values, all in one
/// transaction. Then redirects to [`next_path`].
///
/// Nothing is changed if the order is no longer what the page showed.
async fn act_on_order(desk: &Desk<'_>, action: OrderAction<'_>) -> Result<Reply, ApiError> {
    let id_in_path = desk.path_id(OrderId::new);
    let mut orders = load_orders(desk, id_in_path.into_iter()).await?;
    let Some(order) = orders.pop() else {
        return Ok(missing_page(texts().no_order));
    };
    let current_form = form_of_order(desk, &order);
    let merged_form = MergedForm::new(&desk.visit.form, &current_form);
    let mut errors = Errors::default();
    let mut patch = parse_patch(desk, &merged_form.form, &current_form, &mut errors);
    let action_commands = commands_of_action(desk, &order, action, &patch.price, &mut errors);
    if !errors.is_empty() {
        return show(desk, &errors).await;
    }
    if matches!(action, OrderAction::Complete) {
        // The command `CompleteOrder` sets the price, so the patch must not.
        patch.price = Patch::Keep;
    }

    let change_messages = concurrent_change_messages(desk, &merged_form, action);
    let is_outdated = !change_messages.is_empty();
    let mut commands = vec![Command::PatchOrder {
        id: order.id,
        patch,
        // An outdated form changes nothing, but is still executed: see
        // [`MergedForm::preconditions`].
        preconditions: merged_form.preconditions(is_outdated),
    }];
    commands.extend(action_commands);

    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::Redirect(next_path(desk, &order), Some(flash))),
        Err(_) if is_outdated => show(desk, &change_messages).await,
        Err(failure) => {
            let hint = load_other_order_hint(desk, &order).await?;
            let message = failure.message + &hint;
            show(desk, &Errors::from_text(&message)).await
        }
    }
}

/// Returns the commands of an action, which follow the patch of the order. `price` is the submitted
/// price. Adds an error if the reason of a return is invalid.
///
/// The commands need no preconditions of their own, because the patch checks the preconditions of
/// the form in the same transaction.
fn commands_of_action(
    desk: &Desk<'_>,
    order: &Order,
    action: OrderAction<'_>,
    price: &Patch<Decimal>,
    errors: &mut Errors,
) -> Vec<Command> {
    let id = order.id;
    let preconditions = Preconditions::default();
    match action {
        OrderAction::Save => Vec::new(),
        OrderAction::Complete => vec![Command::CompleteOrder {
            id,
            price: price.clone(),
            preconditions,
        }],
        OrderAction::Cancel => vec![Command::CancelOrder {
            id,
            reason: None,
            preconditions,
        }],
        OrderAction::TakeBack(fields) => return_commands(desk, order, fields, errors),
        OrderAction::Reopen => vec![Command::ReopenOrder {
            id,
            expires_at: None,
            default_end: desk.default_end(),
            preconditions,
        }],
    }
}

/// Returns the commands that record the return of the animal. If the checkbox is checked, they also
/// record its new intake.
fn return_commands(
    desk: &Desk<'_>,
    order: &Order,
    fields: &FieldSet,
    errors: &mut Errors,
) -> Vec<Command> {
    let typed_reason = desk.visit.form.get(RETURN_REASON);
    let reason = forms::parse_optional_text(typed_reason, texts().reason_label);
    let mut commands = vec![Command::ReturnOrder {
        id: order.id,
        reason: errors.ok_or_add(RETURN_REASON, reason).flatten(),
        preconditions: Preconditions::default(),
    }];
    if return_intake::is_checked(&desk.visit.form) {
        commands.extend(return_intake::intake_command(desk, order.pet_id, fields));
    }
    commands
}

/// Returns the messages about concurrent changes that prevent the action.
///
/// The member decided on an action such as a sale because of all that the page showed, so every
/// concurrent change is reported. If the member only saves values, only conflicting changes are
/// reported.
fn concurrent_change_messages(
    desk: &Desk<'_>,
    merged_form: &MergedForm,
    action: OrderAction<'_>,
) -> Errors {
    let reported_changes = match action {
        OrderAction::Save => ReportedChanges::Conflicts,
        _ => ReportedChanges::All,
    };
    merged_form.change_messages(reported_changes, |name, value| {
        values::in_words(values::NO_FIELDS, desk.currency(), name, value)
    })
}

/// Returns the path of the page to show after an action on an order. It is the page Today if the
/// member pressed the button there, or else the page of the animal.
fn next_path(desk: &Desk<'_>, order: &Order) -> String {
    if desk.visit.form.get(FROM_FIELD) == FROM_TODAY {
        return "/".to_owned();
    }
    format!("/animals/{}", order.pet_id.get())
}

/// Returns the hint that another order holds the animal. It is empty if no other order does.
async fn load_other_order_hint(desk: &Desk<'_>, order: &Order) -> Result<String, ApiError> {
    let pet = desk.store().get_store_pet(order.pet_id).await?;
    Ok(match pet.and_then(|pet| pet.order_id) {
        Some(holding_id) if holding_id != order.id => texts().animal_is_reserved(holding_id.get()),
        _ => String::new(),
    })
}

/// Handles `POST /orders/{id}/complete`: sells the reserved animal at the submitted price.
pub(super) async fn complete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, OrderAction::Complete).await
}

/// Handles `POST /orders/{id}/cancel`: cancels the reservation.
pub(super) async fn cancel(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, OrderAction::Cancel).await
}

/// Handles `POST /orders/{id}/return`: records that the customer returned the animal. If the
/// checkbox is checked, also records its new intake.
pub(super) async fn take_back(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let fields = desk.store().fields().await?;
    act_on_order(desk, OrderAction::TakeBack(&fields)).await
}

/// Handles `POST /orders/{id}/reopen`: reserves the animal again, after a sale or a cancellation
/// that was a mistake.
pub(super) async fn reopen(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, OrderAction::Reopen).await
}

/// Handles `POST /orders/{id}/change`: saves the edited values of the order, and the end of a
/// reservation.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    act_on_order(desk, OrderAction::Save).await
}
