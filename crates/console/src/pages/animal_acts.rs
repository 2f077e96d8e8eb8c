//! Handles the forms on the page of an animal: reserving, selling, withdrawing and restoring it.

use petstore_domain::{
    PetId, PetStatus,
    store_area::{
        Command, FieldSet, NewOrder, OrderId, OrderPatch, OrderTerms, PetPatch, Preconditions,
        StorePet,
    },
};

use super::{
    animal, history,
    new_order_form::{initial_order_form, is_sale},
    order_rows, orders,
    parts::missing_page,
    pet_orders::holding_order,
    values,
};
use crate::{
    ask::Question,
    merge::{MergedForm, ReportedChanges},
    order_inputs::{self, ORDER_INPUTS},
    prelude::*,
};

/// Executes commands for the animal in the path, and redirects to its page. If they fail, shows the
/// page with the errors.
async fn execute_for_animal(
    desk: &Desk<'_>,
    id: PetId,
    commands: Vec<Command>,
) -> Result<Reply, ApiError> {
    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::Redirect(format!("/animals/{id}"), Some(flash))),
        // The commands set no fields, so the failure needs none for its message.
        Err(failure) => animal::show(desk, &failure.to_errors(&FieldSet::default())).await,
    }
}

/// The order that was parsed from a submitted form.
struct SubmittedOrder {
    terms: OrderTerms,
    /// The values of the inputs in the form, such as the contact and the price.
    values: OrderPatch,
}

/// Handles `POST /animals/{id}/order`: reserves or sells the animal.
///
/// If somebody else has changed the price since the form was shown, places no order, and shows what
/// has changed.
pub(super) async fn place_order(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let Some(SubmittedOrder { terms, values }) = parse_order(desk, &mut errors) else {
        return animal::show(desk, &errors).await;
    };
    let Some(pet) = desk.pet().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let fields = desk.store().fields().await?;
    let merged_form = MergedForm::new(&desk.visit.form, &initial_order_form(&pet, &fields));
    let change_messages = merged_form.change_messages(ReportedChanges::All, |name, value| {
        values::in_words(values::NO_FIELDS, desk.currency(), name, value)
    });
    // An outdated form must not place an order, but this request can be the second click on a form
    // that was already carried out. So the commands are still sent to the store, with a precondition
    // that always fails. For a second click, the store replays the first response instead.
    let is_outdated = !change_messages.is_empty();
    let commands = vec![
        Command::PatchPet {
            id: pet.id,
            patch: patch_before_order(&pet, terms),
            preconditions: merged_form.preconditions(is_outdated),
        },
        Command::PlaceOrder(NewOrder::new(pet.id, terms).with_values(values)),
    ];
    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::Redirect(format!("/animals/{}", pet.id), Some(flash))),
        Err(_) if is_outdated => animal::show(desk, &change_messages).await,
        Err(failure) => {
            let message = failed_order_message(desk, &failure.message).await?;
            animal::show(desk, &Errors::from_markup(message)).await
        }
    }
}

/// Parses the order in the submitted form. If a value is invalid, adds an error for each invalid
/// value, and returns `None`.
fn parse_order(desk: &Desk<'_>, errors: &mut Errors) -> Option<SubmittedOrder> {
    let form = &desk.visit.form;
    // Invalid terms do not end the parsing, so that the member sees all problems at once.
    let terms = parse_terms(desk, errors);
    let has_input = |name: &str| form.all(name).next().is_some();
    let values = order_inputs::parse_patch(form, desk.currency(), has_input, errors);
    if !errors.is_empty() {
        return None;
    }
    let terms = terms?;
    Some(SubmittedOrder { terms, values })
}

/// Parses the terms of the order: a sale, or a reservation until the end of a day.
fn parse_terms(desk: &Desk<'_>, errors: &mut Errors) -> Option<OrderTerms> {
    let form = &desk.visit.form;
    if is_sale(form) {
        return Some(OrderTerms::Completed);
    }
    let end = forms::parse_reservation_end(form, &desk.visit);
    errors
        .ok_or_add("until", end)
        .map(OrderTerms::ReservedUntil)
}

/// Returns the change of the animal that must precede its new order; empty in most cases.
///
/// Only an available animal can be reserved. If a member has set the status to pending by hand, the
/// animal has no order, and the change makes it available.
fn patch_before_order(pet: &StorePet, terms: OrderTerms) -> PetPatch {
    let mut patch = PetPatch::default();
    let is_pending_without_order =
        pet.status == PetStatus::Pending && pet.order_id.is_none() && pet.withdrawal.is_none();
    if is_pending_without_order && terms != OrderTerms::Completed {
        patch.status = Some(PetStatus::Available);
    }
    patch
}

/// Renders the message about an order that could not be placed. It begins with the `reason`.
///
/// If another order came first, the message also says who placed it, when, and for whom. It repeats
/// the values that the member typed, which would be lost otherwise: the page has no form for an
/// order while the animal is reserved or sold.
async fn failed_order_message(desk: &Desk<'_>, reason: &str) -> Result<Markup, ApiError> {
    let earlier_order = match desk.pet().await? {
        Some(pet) => holding_order(desk, &pet).await?,
        None => None,
    };
    let Some(order) = earlier_order else {
        return Ok(html! { p { (reason) } });
    };

    let actor = history::find_placing_actor(desk, &order).await?;
    let placed_by = wording::placed_by(actor.as_ref());
    let typed_values = typed_order_values(desk);
    Ok(html! {
        p {
            (reason)
            " " (placed_by) " " (markup::time(order.created_at, desk.visit.now)) "."
            @if let Some(contact) = order_rows::contact(desk, &order) {
                " " (texts().contact_of(order.status)) (window_texts().colon)
                (markup::text(contact, LONG_LENGTH)) "."
            }
        }
        @if !typed_values.is_empty() {
            p { (texts().typed_here) }
            dl {
                @for (label, value) in typed_values {
                    dt { (label) }
                    dd { (markup::text(&value, LONG_LENGTH)) }
                }
            }
        }
    })
}

/// Returns the values in the submitted order form, each as a pair of its label and the value in
/// words. Leaves out empty inputs.
fn typed_order_values(desk: &Desk<'_>) -> Vec<(String, String)> {
    let mut typed_values = Vec::new();
    for input in &ORDER_INPUTS {
        let value = desk.visit.form.get(input.name);
        if !value.is_empty() {
            typed_values.extend(values::in_words(
                values::NO_FIELDS,
                desk.currency(),
                input.name,
                value,
            ));
        }
    }
    typed_values
}

/// Handles `POST /animals/{id}/withdraw`: withdraws the animal.
///
/// If the animal is reserved, the withdrawal also cancels the reservation, so it asks for confirmation
/// first.
pub(super) async fn withdraw(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let mut errors = Errors::default();
    let reason = errors.ok_or_add("why", forms::parse_withdrawal_reason(form.get("why")));
    let note = errors.ok_or_add(
        "remark",
        forms::parse_optional_text(form.get("remark"), texts().note),
    );
    let (Some(reason), Some(note)) = (reason, note) else {
        return animal::show(desk, &errors).await;
    };
    let Some(id) = desk.path_id(PetId::new) else {
        return Ok(missing_page(texts().no_pet));
    };

    let mut commands = Vec::new();
    let mut preconditions = desk.preconditions();
    if let Some(pet) = desk.pet().await?
        && let Some(order_id) = pet.order_id
    {
        if let Some(question_page) = ask_to_cancel_order(desk, &pet, order_id).await? {
            return Ok(question_page);
        }
        commands.push(Command::CancelOrder {
            id: order_id,
            reason: None,
            preconditions: Preconditions::default(),
        });
        // The cancellation changes the animal, so the withdrawal must expect the next version.
        let shown_version = form.integer("version").unwrap_or(0);
        preconditions = Preconditions::version(shown_version.saturating_add(1));
    }
    commands.push(Command::WithdrawPet {
        id,
        reason,
        note,
        preconditions,
    });
    execute_for_animal(desk, id, commands).await
}

/// Returns the page that asks whether the withdrawal may cancel the reservation; `None` if the member
/// has already confirmed it.
async fn ask_to_cancel_order(
    desk: &Desk<'_>,
    pet: &StorePet,
    order_id: OrderId,
) -> Result<Option<Reply>, ApiError> {
    let pet_name = markup::plain_name(pet.name.as_str());
    let question = Question {
        title: texts().withdraw_animal(&pet_name),
        effects: vec![texts().cancels(order_id.get())],
        confirm_label: texts().withdraw,
        back_path: &format!("/animals/{}", desk.visit.parameter),
    };
    let order = desk.store().get_order(order_id).await?;
    let details = if let Some(order) = &order {
        orders::details(desk, order)
    } else {
        html! {}
    };
    Ok(question.ask(desk, &details))
}

/// Handles `POST /animals/{id}/restore`: takes a withdrawn animal back into the catalogue.
pub(super) async fn restore(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(id) = desk.path_id(PetId::new) else {
        return Ok(missing_page(texts().no_pet));
    };
    let restoration = Command::RestorePet {
        id,
        preconditions: desk.preconditions(),
    };
    execute_for_animal(desk, id, vec![restoration]).await
}
