//! Parses the bulk action for the selected animals, and builds its commands.

use petstore_domain::store_area::{
    Command, FieldDefinition, FieldPatch, FieldSet, FieldValues, NewOrder, Order, OrderPatch,
    OrderTerms, PetPatch, Preconditions, RequestedValue, StorePet, WithdrawalReason,
};

use super::{
    cells,
    selected::{BulkButton, FIELD_INPUT, NEW_CATEGORY_INPUT, REASON_INPUT, VALUE_INPUT},
    value_reader::ValueReader,
    values,
};
use crate::{order_inputs, prelude::*};

/// The inputs that belong to a single action, each with the button that the Enter key stands for if
/// the input has a value.
const DEFAULT_BUTTONS: [(&str, BulkButton); 4] = [
    (NEW_CATEGORY_INPUT, BulkButton::Move),
    (VALUE_INPUT, BulkButton::SetValue),
    (REASON_INPUT, BulkButton::Withdraw),
    (order_inputs::CONTACT, BulkButton::Reserve),
];

/// A version that no animal has. Versions begin with 1.
const IMPOSSIBLE_VERSION: i64 = 0;

/// An animal that is selected in the list.
pub(super) struct SelectedAnimal {
    pub(super) pet: StorePet,
    /// The open order for the animal.
    pub(super) order: Option<Order>,
    /// The version of the animal at the time when the list was rendered.
    pub(super) shown_version: i64,
}

/// A bulk action, which is carried out for each selected animal.
pub(super) struct BulkAction {
    kind: ActionKind,
    /// The question that asks for confirmation.
    pub(super) question: String,
    /// The label of the button that confirms the action.
    pub(super) confirm_label: &'static str,
    /// The field value that each animal gets, if the action sets one.
    pub(super) value: Option<NewFieldValue>,
}

/// What a bulk action does to each animal.
enum ActionKind {
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

impl BulkAction {
    /// Creates an action that sets no field value.
    fn new(kind: ActionKind, question: String, confirm_label: &'static str) -> Self {
        Self {
            kind,
            question,
            confirm_label,
            value: None,
        }
    }

    /// Whether the action places an order for each animal.
    pub(super) fn places_orders(&self) -> bool {
        matches!(self.kind, ActionKind::PlaceOrder { .. })
    }

    /// Whether the action cancels the reservation of each animal.
    pub(super) fn cancels_reservations(&self) -> bool {
        matches!(self.kind, ActionKind::CancelReservation)
    }

    /// Returns the commands for one animal. They require that the animal still has the version that
    /// the list showed.
    pub(super) fn commands_for(&self, animal: &SelectedAnimal) -> Vec<Command> {
        let id = animal.pet.id;
        match &self.kind {
            ActionKind::PlaceOrder { terms, values } => {
                let new_order = NewOrder::new(id, *terms).with_values(values.clone());
                vec![
                    version_check_command(animal),
                    Command::PlaceOrder(new_order),
                ]
            }
            ActionKind::CancelReservation => cancel_commands(animal),
            ActionKind::Withdraw(reason) => vec![Command::WithdrawPet {
                id,
                reason: *reason,
                note: None,
                preconditions: Preconditions::version(animal.shown_version),
            }],
            ActionKind::Patch(pet_patch) => {
                let version = animal.shown_version;
                vec![patch_command(animal, version, pet_patch.clone())]
            }
        }
    }
}

/// Returns the commands that cancel the reservation of an animal.
///
/// If the animal has no reservation, returns a command that the store refuses. The store then
/// refuses the whole action, because an action must change all animals or none.
fn cancel_commands(animal: &SelectedAnimal) -> Vec<Command> {
    let Some(order) = &animal.order else {
        let refused_command = patch_command(animal, IMPOSSIBLE_VERSION, PetPatch::default());
        return vec![refused_command];
    };
    vec![
        version_check_command(animal),
        Command::CancelOrder {
            id: order.id,
            reason: None,
            preconditions: Preconditions::version(order.version),
        },
    ]
}

/// Returns a command that changes nothing. The store refuses it, and the commands after it, unless
/// the animal still has the version that the list showed.
fn version_check_command(animal: &SelectedAnimal) -> Command {
    patch_command(animal, animal.shown_version, PetPatch::default())
}

/// Returns a command that changes an animal. The store refuses it unless the animal has this
/// version.
fn patch_command(animal: &SelectedAnimal, version: i64, patch: PetPatch) -> Command {
    Command::PatchPet {
        id: animal.pet.id,
        patch,
        preconditions: Preconditions::version(version),
    }
}

/// Parses the action of the pressed button for `count` animals. If an input is invalid, adds the
/// reason to `errors` and returns `None`.
pub(super) async fn parse_action(
    desk: &Desk<'_>,
    fields: &FieldSet,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<BulkAction>, StoreError> {
    let action = match pressed_button(&desk.visit.form) {
        Some(BulkButton::Reserve) => parse_reservation(desk, count, errors),
        Some(BulkButton::Sell) => {
            let kind = parse_order(desk, OrderTerms::Completed, errors);
            let question = texts().sell_animals(count);
            Some(BulkAction::new(kind, question, texts().sell))
        }
        Some(BulkButton::CancelReservations) => Some(BulkAction::new(
            ActionKind::CancelReservation,
            texts().cancel_reservations_of(count),
            texts().cancel_reservations,
        )),
        Some(BulkButton::Withdraw) => parse_withdrawal(desk, count, errors),
        Some(BulkButton::List) => Some(list_action(count)),
        Some(BulkButton::Unlist) => Some(unlist_action(count)),
        Some(BulkButton::SetValue) => {
            let value = errors.ok_or_add(VALUE_INPUT, parse_value(desk, fields));
            value.map(|value| value_action(value, count))
        }
        // If no button is known, this reports that the category is missing.
        Some(BulkButton::Move) | None => parse_move(desk, count, errors).await?,
    };
    Ok(action)
}

/// Returns the pressed button; `None` if it is unknown.
///
/// After the Enter key, the form has no button. If exactly one input of [`DEFAULT_BUTTONS`] has a
/// value, this returns the button of that input.
fn pressed_button(form: &Form) -> Option<BulkButton> {
    let button = form.get("do");
    if !button.is_empty() {
        return BulkButton::from_value(button);
    }
    let mut candidates = Vec::new();
    for (input, button) in DEFAULT_BUTTONS {
        if !form.get(input).is_empty() {
            candidates.push(button);
        }
    }
    match candidates[..] {
        [button] => Some(button),
        _ => None,
    }
}

/// Parses the action that reserves the animals until the day in the form.
fn parse_reservation(desk: &Desk<'_>, count: usize, errors: &mut Errors) -> Option<BulkAction> {
    let form = &desk.visit.form;
    let end = errors.ok_or_add(
        forms::RESERVATION_END,
        forms::parse_reservation_end(form, &desk.visit),
    )?;
    let kind = parse_order(desk, OrderTerms::ReservedUntil(end), errors);
    let question = texts().reserve_animals(count, &wording::day(form.get(forms::RESERVATION_END)));
    Some(BulkAction::new(kind, question, texts().reserve))
}

/// Parses the action that withdraws the animals for the reason in the form.
fn parse_withdrawal(desk: &Desk<'_>, count: usize, errors: &mut Errors) -> Option<BulkAction> {
    let typed_reason = desk.visit.form.get(REASON_INPUT);
    let reason = errors.ok_or_add(REASON_INPUT, forms::parse_withdrawal_reason(typed_reason))?;
    let question = texts().withdraw_animals(count, reason);
    Some(BulkAction::new(
        ActionKind::Withdraw(reason),
        question,
        texts().withdraw,
    ))
}

/// Parses the order that the action places for each animal, and adds an error for each invalid
/// input.
///
/// All orders have the same customer, for example for a litter. If the form has no price, each
/// order has the asking price of its animal.
fn parse_order(desk: &Desk<'_>, terms: OrderTerms, errors: &mut Errors) -> ActionKind {
    let form = &desk.visit.form;
    let has_value = |name: &str| !form.get(name).is_empty();
    let values = order_inputs::parse_patch(form, desk.currency(), has_value, errors);
    ActionKind::PlaceOrder { terms, values }
}

/// Returns the action that sets a value of a field.
fn value_action(value: NewFieldValue, count: usize) -> BulkAction {
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
    BulkAction {
        value: Some(value),
        ..BulkAction::new(ActionKind::Patch(patch), question, confirm_label)
    }
}

/// Returns the action that puts animals on the website.
fn list_action(count: usize) -> BulkAction {
    let patch = PetPatch {
        is_listed: Some(true),
        ..PetPatch::default()
    };
    let question = texts().list_animals(count);
    BulkAction::new(ActionKind::Patch(patch), question, texts().put_on_website)
}

/// Returns the action that takes animals off the website.
fn unlist_action(count: usize) -> BulkAction {
    let patch = PetPatch {
        is_listed: Some(false),
        ..PetPatch::default()
    };
    let question = texts().unlist_animals(count);
    BulkAction::new(ActionKind::Patch(patch), question, texts().take_off_website)
}

/// Parses the action that moves animals to the category in the form. If the category is missing or
/// unknown, adds an error and returns `None`.
async fn parse_move(
    desk: &Desk<'_>,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<BulkAction>, StoreError> {
    let typed_category = desk.visit.form.get(NEW_CATEGORY_INPUT);
    let categories = desk.load_categories_by_names([typed_category]).await?;
    let found_category = forms::find_category(typed_category, &categories);
    let Some(id) = errors.ok_or_add(NEW_CATEGORY_INPUT, found_category) else {
        return Ok(None);
    };
    let question = texts().move_animals(count, &markup::category(&categories, id));
    let patch = PetPatch {
        category_id: Some(id),
        ..PetPatch::default()
    };
    let kind = ActionKind::Patch(patch);
    Ok(Some(BulkAction::new(kind, question, texts().move_label)))
}

/// Parses the new value for the chosen field, or returns the error message. The value may have any
/// spelling that a cell of a spreadsheet may have.
fn parse_value(desk: &Desk<'_>, fields: &FieldSet) -> Result<NewFieldValue, String> {
    let field = fields
        .find(desk.visit.form.get(FIELD_INPUT))
        .filter(|field| !field.is_unique)
        .ok_or_else(|| texts().field_missing.to_owned())?;
    let input_name = values::input_name_of(field);
    let typed_value = desk.visit.form.get(VALUE_INPUT);
    let canonical_value = desk
        .cell_reader()
        .canonical_text(field, typed_value)
        .map_err(|problem| cells::problem_message(&problem, field, typed_value))?;
    let label_and_words =
        values::in_words(fields.all(), desk.currency(), &input_name, &canonical_value);

    let mut errors = Errors::default();
    let form = Form::from_pairs(&[(&*input_name, &*canonical_value)]);
    let mut patch =
        ValueReader::new(desk, fields).read_patch(&form, &FieldValues::NONE, &mut errors);
    if let Some(problem) = errors.messages().next() {
        return Err(problem.to_owned());
    }
    // The reader compared the form with an animal without values, for which an empty value is no
    // change. For the selected animals, an empty value clears the stored one.
    let requested_value = patch
        .remove(field.name.as_str())
        .unwrap_or(RequestedValue::Clear);
    Ok(NewFieldValue {
        field: field.clone(),
        requested_value,
        // Every field has words, so the default is never used.
        words: label_and_words.map(|(_, words)| words).unwrap_or_default(),
    })
}
