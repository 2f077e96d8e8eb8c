//! Handles the forms on the page of an animal: reserving, selling, withdrawing and restoring it.

use petstore_domain::{
    PetId, PetStatus,
    store_area::{
        Command, FieldSet, NewOrder, Note, OrderId, OrderPatch, OrderTerms, PetPatch,
        Preconditions, StorePet, WithdrawalReason,
    },
};

use super::{
    animal::{self, WITHDRAWAL_NOTE_INPUT, WITHDRAWAL_REASON_INPUT},
    journal_changes,
    new_order_form::{initial_order_form, is_sale},
    order_contacts, orders,
    parts::missing_page,
    pet_orders::load_holding_order,
    values,
};
use crate::{
    ask::Question,
    merge::{MergedForm, ReportedChanges},
    order_inputs::{self, ORDER_INPUTS},
    prelude::*,
};

/// The order that was parsed from a submitted form.
struct SubmittedOrder {
    terms: OrderTerms,
    /// The values of the inputs in the form, such as the contact and the price.
    order_patch: OrderPatch,
}

/// The withdrawal that was parsed from a submitted form.
struct SubmittedWithdrawal {
    reason: WithdrawalReason,
    note: Option<Note>,
}

/// Executes commands for an animal, and redirects to its page. If they fail, shows the page with
/// the errors.
async fn execute_for_animal(
    desk: &Desk<'_>,
    id: PetId,
    commands: Vec<Command>,
) -> Result<Reply, ApiError> {
    match desk.execute(commands).await? {
        Ok(flash) => Ok(Reply::Redirect(format!("/animals/{id}"), Some(flash))),
        // The commands set no values of fields, so the messages need no definitions of fields.
        Err(failure) => animal::show(desk, &failure.to_errors(&FieldSet::default())).await,
    }
}

/// Handles `POST /animals/{id}/order`: reserves or sells the animal.
///
/// If somebody else has changed the price since the form was shown, the page shows what has
/// changed, and no order is placed.
pub(super) async fn place_order(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let Some(SubmittedOrder { terms, order_patch }) = parse_order(desk, &mut errors) else {
        return animal::show(desk, &errors).await;
    };
    let Some(pet) = desk.load_pet_in_path().await? else {
        return Ok(missing_page(texts().no_pet));
    };
    let fields = desk.store().fields().await?;
    let merged_form = MergedForm::new(&desk.visit.form, &initial_order_form(&pet, &fields));
    let change_messages = merged_form.change_messages(ReportedChanges::All, |name, value| {
        values::in_words(values::NO_FIELDS, desk.currency(), name, value)
    });
    let is_outdated = !change_messages.is_empty();
    let commands = vec![
        Command::PatchPet {
            id: pet.id,
            patch: patch_for_new_order(&pet, terms),
            // An outdated form places no order, but is still executed: see
            // [`MergedForm::preconditions`].
            preconditions: merged_form.preconditions(is_outdated),
        },
        Command::PlaceOrder(NewOrder::new(pet.id, terms).with_values(order_patch)),
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

/// Parses the order in the submitted form. Adds an error for each invalid value.
///
/// Returns `None` if there is any error.
fn parse_order(desk: &Desk<'_>, errors: &mut Errors) -> Option<SubmittedOrder> {
    let form = &desk.visit.form;
    // Invalid terms do not end the parsing, so that the member sees all problems at once.
    let terms = parse_terms(desk, errors);
    let has_input = |name: &str| form.all(name).next().is_some();
    let order_patch = order_inputs::parse_patch(form, desk.currency(), has_input, errors);
    if !errors.is_empty() {
        return None;
    }
    Some(SubmittedOrder {
        terms: terms?,
        order_patch,
    })
}

/// Parses the terms of the order: a sale, or a reservation until the end of a day. If the day is
/// invalid, adds an error and returns `None`.
fn parse_terms(desk: &Desk<'_>, errors: &mut Errors) -> Option<OrderTerms> {
    let form = &desk.visit.form;
    if is_sale(form) {
        return Some(OrderTerms::Completed);
    }
    let end = forms::parse_reservation_end(form, &desk.visit);
    errors
        .ok_or_add(forms::RESERVATION_END, end)
        .map(OrderTerms::ReservedUntil)
}

/// Returns the change of an animal that allows its new order. In most cases, no change is needed.
///
/// Only an available animal can be reserved. If a member has set the status to pending by hand, the
/// animal has no order, and the change makes it available.
fn patch_for_new_order(pet: &StorePet, terms: OrderTerms) -> PetPatch {
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
/// If another order came first, the message also says who placed that order, when, and for whom.
/// After such a failure, the page has no form for a new order. The message therefore repeats the
/// values that the member typed.
async fn failed_order_message(desk: &Desk<'_>, reason: &str) -> Result<Markup, ApiError> {
    let earlier_order = match desk.load_pet_in_path().await? {
        Some(pet) => load_holding_order(desk, &pet).await?,
        None => None,
    };
    let Some(order) = earlier_order else {
        return Ok(html! { p { (reason) } });
    };

    let actor = journal_changes::find_placing_actor(desk, &order).await?;
    let placed_by = wording::placed_by(actor.as_ref());
    Ok(html! {
        p {
            (reason)
            " " (placed_by) " " (markup::time(order.created_at, desk.visit.now)) "."
            @if let Some(contact) = order_contacts::visible_contact(desk, &order) {
                " " (texts().contact_of(order.status)) (window_texts().colon)
                (markup::text(contact, LONG_LENGTH)) "."
            }
        }
        (typed_order_values(desk))
    })
}

/// Renders the values in the submitted order form with their labels, or nothing if all inputs are
/// empty.
fn typed_order_values(desk: &Desk<'_>) -> Markup {
    let mut labelled_values = Vec::new();
    for input in &ORDER_INPUTS {
        let value = desk.visit.form.get(input.name);
        if value.is_empty() {
            continue;
        }
        let label_and_words =
            values::in_words(values::NO_FIELDS, desk.currency(), input.name, value);
        if let Some(label_and_words) = label_and_words {
            labelled_values.push(label_and_words);
        }
    }
    html! {
        @if !labelled_values.is_empty() {
            p { (texts().typed_here) }
            dl {
                @for (label, value) in labelled_values {
                    dt { (label) }
                    dd { (markup::text(&value, LONG_LENGTH)) }
                }
            }
        }
    }
}

/// Parses the withdrawal in a form. Adds an error for each invalid value.
///
/// Returns `None` if there is any error.
fn parse_withdrawal(form: &Form, errors: &mut Errors) -> Option<SubmittedWithdrawal> {
    let reason = forms::parse_withdrawal_reason(form.get(WITHDRAWAL_REASON_INPUT));
    let note = forms::parse_optional_text(form.get(WITHDRAWAL_NOTE_INPUT), texts().note);
    // An invalid reason does not end the parsing, so that the member sees all errors at once.
    let reason = errors.ok_or_add(WITHDRAWAL_REASON_INPUT, reason);
    let note = errors.ok_or_add(WITHDRAWAL_NOTE_INPUT, note);
    Some(SubmittedWithdrawal {
        reason: reason?,
        note: note?,
    })
}

/// Handles `POST /animals/{id}/withdraw`: withdraws the animal.
///
/// The withdrawal of a reserved animal also cancels the reservation, after a confirmation.
pub(super) async fn withdraw(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let mut errors = Errors::default();
    let Some(SubmittedWithdrawal { reason, note }) = parse_withdrawal(form, &mut errors) else {
        return animal::show(desk, &errors).await;
    };
    let Some(id) = desk.path_id(PetId::new) else {
        return Ok(missing_page(texts().no_pet));
    };

    let mut commands = Vec::new();
    let mut preconditions = desk.preconditions();
    if let Some(pet) = desk.load_pet_in_path().await?
        && let Some(order_id) = pet.order_id
    {
        if let Some(question_page) = ask_to_cancel_order(desk, &pet, order_id).await? {
            return Ok(question_page);
        }
        commands.push(Command::CancelOrder {
            id: order_id,
            reason: None,
            // The withdrawal checks the version of the animal in the same transaction.
            preconditions: Preconditions::default(),
        });
        // The cancellation changes the version of the animal, so the withdrawal must expect the
        // next version. A form without a valid version expects 1, which a reserved animal no longer
        // has.
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

/// Returns the page that asks whether the withdrawal may cancel the reservation. Returns `None` if
/// the member has already confirmed it.
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
    let details = if let Some(order) = desk.store().get_order(order_id).await? {
        orders::details(desk, &order)
    } else {
        html! {}
    };
    Ok(question.ask(desk, &details))
}

/// Handles `POST /animals/{id}/restore`: reverts the withdrawal of the animal.
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
