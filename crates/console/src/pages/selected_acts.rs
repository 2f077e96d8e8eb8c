//! Parses the bulk action for the selected animals, and builds its commands.

use petstore_domain::store_area::{
    Command, FieldDefinition, FieldPatch, FieldSet, FieldValues, NewOrder, Order, OrderPatch,
    OrderTerms, PetPatch, Preconditions, RequestedValue, StorePet, WithdrawalReason,
};

use super::{
    cells,
    selected::{CANCEL, LIST, MOVE, RESERVE, SELL, SET_VALUE, UNLIST, WITHDRAW},
    value_reader::ValueReader,
    values,
};
use crate::{order_inputs, prelude::*};

/// The inputs that belong to a single action, each with the button that the Enter key stands for if
/// the input has a value.
const DEFAULT_BUTTONS: [(&str, &str); 4] = [
    ("to", MOVE),
    ("value", SET_VALUE),
    ("why", WITHDRAW),
    ("contact", RESERVE),
];

/// An animal that is selected in the list.
pub(super) struct SelectedAnimal {
    pub(super) pet: StorePet,
    /// The open order for the animal.
    pub(super) order: Option<Order>,
    /// The version of the animal at the time when the list was rendered.
    pub(super) shown_version: i64,
}

/// A bulk action, which is carried out for each selected animal.
pub(super) struct Act {
    kind: ActKind,
    /// The question that asks for confirmation.
    pub(super) question: String,
    /// The label of the button that confirms the action.
    pub(super) confirm_label: &'static str,
    /// The field value that each animal gets, if the action sets one.
    pub(super) value: Option<NewFieldValue>,
}

/// What a bulk action does to each animal.
enum ActKind {
    PlaceOrder {
        terms: OrderTerms,
        values: OrderPatch,
    },
    CancelReservation,
    Withdraw(WithdrawalReason),
    Patch(PetPatch),
}

/// A new value for one field.
pub(super) struct NewFieldValue {
    pub(super) field: FieldDefinition,
    requested_value: RequestedValue,
    /// The value in readable form.
    pub(super) words: String,
}

impl Act {
    /// Creates an action that sets no field value.
    fn new(kind: ActKind, question: String, confirm_label: &'static str) -> Self {
        Self {
            kind,
            question,
            confirm_label,
            value: None,
        }
    }

    /// Whether the action places an order for each animal.
    pub(super) fn places_orders(&self) -> bool {
        matches!(self.kind, ActKind::PlaceOrder { .. })
    }

    /// Returns the commands for one animal. They require that the animal still has the version that
    /// the list showed.
    pub(super) fn commands_for(&self, animal: &SelectedAnimal) -> Vec<Command> {
        let id = animal.pet.id;
        match &self.kind {
            ActKind::PlaceOrder { terms, values } => {
                let new_order = NewOrder::new(id, *terms).with_values(values.clone());
                vec![
                    patch_command(animal, animal.shown_version, PetPatch::default()),
                    Command::PlaceOrder(new_order),
                ]
            }
            ActKind::CancelReservation => cancel_commands(animal),
            ActKind::Withdraw(reason) => vec![Command::WithdrawPet {
                id,
                reason: *reason,
                note: None,
                preconditions: Preconditions::version(animal.shown_version),
            }],
            ActKind::Patch(pet_patch) => {
                vec![patch_command(
                    animal,
                    animal.shown_version,
                    pet_patch.clone(),
                )]
            }
        }
    }
}

/// Returns the commands that cancel the reservation of an animal. Without a reservation, returns a
/// command that the store refuses, because an action must change all animals or none.
fn cancel_commands(animal: &SelectedAnimal) -> Vec<Command> {
    let Some(order) = &animal.order else {
        // No animal has the version 0, so the store refuses this command.
        return vec![patch_command(animal, 0, PetPatch::default())];
    };
    vec![
        patch_command(animal, animal.shown_version, PetPatch::default()),
        Command::CancelOrder {
            id: order.id,
            reason: None,
            preconditions: Preconditions::version(order.version),
        },
    ]
}

/// Returns a command that changes an animal if it has this version. An empty patch only checks the
/// version.
fn patch_command(animal: &SelectedAnimal, version: i64, patch: PetPatch) -> Command {
    Command::PatchPet {
        id: animal.pet.id,
        patch,
        preconditions: Preconditions::version(version),
    }
}

/// Parses the action of the pressed button for `count` animals. Returns `None` if an input is
/// invalid, with the reason in `errors`.
pub(super) async fn parse_act(
    desk: &Desk<'_>,
    fields: &FieldSet,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<Act>, StoreError> {
    let form = &desk.visit.form;
    Ok(match pressed_button(form) {
        RESERVE => {
            let end = errors.ok_or_add("until", forms::parse_reservation_end(form, &desk.visit));
            let kind = end.map(|end| parse_order(desk, OrderTerms::ReservedUntil(end), errors));
            let question = texts().reserve_animals(count, &wording::day(form.get("until")));
            kind.map(|kind| Act::new(kind, question, texts().reserve))
        }
        SELL => {
            let kind = parse_order(desk, OrderTerms::Completed, errors);
            Some(Act::new(kind, texts().sell_animals(count), texts().sell))
        }
        CANCEL => Some(Act::new(
            ActKind::CancelReservation,
            texts().cancel_reservations_of(count),
            texts().cancel_reservations,
        )),
        WITHDRAW => {
            let reason = errors.ok_or_add("why", forms::parse_withdrawal_reason(form.get("why")));
            reason.map(|reason| {
                let question = texts().withdraw_animals(count, reason);
                Act::new(ActKind::Withdraw(reason), question, texts().withdraw)
            })
        }
        LIST => Some(listing_act(true, count)),
        UNLIST => Some(listing_act(false, count)),
        SET_VALUE => {
            let value = errors.ok_or_add("value", parse_value(desk, fields));
            value.map(|value| value_act(value, count))
        }
        // If no button is known, this reports that the category is missing.
        _ => parse_move(desk, count, errors).await?,
    })
}

/// Returns the value of the pressed button.
///
/// After the Enter key, the form has no button. If exactly one input of [`DEFAULT_BUTTONS`] has a
/// value, this returns the button of that input, and otherwise an empty text.
fn pressed_button(form: &Form) -> &str {
    let button = form.get("do");
    if !button.is_empty() {
        return button;
    }
    let mut candidates = Vec::new();
    for (input, button) in DEFAULT_BUTTONS {
        if !form.get(input).is_empty() {
            candidates.push(button);
        }
    }
    match candidates[..] {
        [button] => button,
        _ => "",
    }
}

/// Parses the order that the action places for each animal. All orders have the same customer, for
/// example for a litter. If the form has no price, each order has the asking price of its animal.
fn parse_order(desk: &Desk<'_>, terms: OrderTerms, errors: &mut Errors) -> ActKind {
    let form = &desk.visit.form;
    let has_value = |name: &str| !form.get(name).is_empty();
    let values = order_inputs::parse_patch(form, desk.currency(), has_value, errors);
    ActKind::PlaceOrder { terms, values }
}

/// Returns the action that sets a value of a field.
fn value_act(value: NewFieldValue, count: usize) -> Act {
    let label = markup::readable(value.field.label.as_str(), SHORT_LENGTH);
    let (question, confirm_label) = match value.requested_value {
        RequestedValue::Clear => (texts().clear_animals(count, &label), texts().remove_choice),
        _ => (
            texts().change_animals(count, &label, &value.words),
            texts().change_verb,
        ),
    };
    let name = value.field.name.as_str().to_owned();
    let patch = PetPatch {
        fields: FieldPatch::from([(name, value.requested_value.clone())]),
        ..PetPatch::default()
    };
    Act {
        value: Some(value),
        ..Act::new(ActKind::Patch(patch), question, confirm_label)
    }
}

/// Returns the action that puts animals on the website, or takes them off it.
fn listing_act(is_listed: bool, count: usize) -> Act {
    let patch = PetPatch {
        is_listed: Some(is_listed),
        ..PetPatch::default()
    };
    let (question, confirm_label) = if is_listed {
        (texts().list_animals(count), texts().put_on_website)
    } else {
        (texts().unlist_animals(count), texts().take_off_website)
    };
    Act::new(ActKind::Patch(patch), question, confirm_label)
}

/// Parses the action that moves animals to the category in the form.
async fn parse_move(
    desk: &Desk<'_>,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<Act>, StoreError> {
    let typed_category = desk.visit.form.get("to");
    let categories = desk.load_categories_by_names([typed_category]).await?;
    let Some(id) = errors.ok_or_add("to", forms::find_category(typed_category, &categories)) else {
        return Ok(None);
    };
    let question = texts().move_animals(count, &markup::category(&categories, id));
    let patch = PetPatch {
        category_id: Some(id),
        ..PetPatch::default()
    };
    let act = Act::new(ActKind::Patch(patch), question, texts().move_label);
    Ok(Some(act))
}

/// Parses the new value for the chosen field. The value may have any spelling that a cell of a
/// spreadsheet may have.
fn parse_value(desk: &Desk<'_>, fields: &FieldSet) -> Result<NewFieldValue, String> {
    let field = fields
        .find(desk.visit.form.get("of"))
        .filter(|field| !field.is_unique)
        .ok_or_else(|| texts().field_missing.to_owned())?;
    let input = values::input_of(field);
    let typed_value = desk.visit.form.get("value");
    let canonical_value = desk
        .cell_reader()
        .canonical_text(field, typed_value)
        .map_err(|problem| cells::problem_message(&problem, field, typed_value))?;
    let words = values::in_words(fields.all(), desk.currency(), &input, &canonical_value);

    let mut errors = Errors::default();
    let form = Form::from_pairs(&[(&*input, &*canonical_value)]);
    let mut patch =
        ValueReader::new(desk, fields).read_patch(&form, &FieldValues::NONE, &mut errors);
    if let Some(problem) = errors.messages().next() {
        return Err(problem.to_owned());
    }
    // The form was compared with an animal without values, for which an empty value is no change. For
    // the selected animals, it clears the value.
    let requested_value = patch
        .remove(field.name.as_str())
        .unwrap_or(RequestedValue::Clear);
    Ok(NewFieldValue {
        field: field.clone(),
        requested_value,
        words: words.map(|(_, words)| words).unwrap_or_default(),
    })
}
