//! The actions for the selected animals, and their commands.

use petstore_domain::store_area::{
    Command, FieldDefinition, FieldPatch, FieldSet, FieldValues, NewOrder, Order, OrderPatch,
    OrderTerms, PetPatch, Preconditions, RequestedValue, StorePet, WithdrawalReason,
};

use super::{
    cells,
    selected::{CANCEL, LIST, UNLIST},
    value_reader::ValueReader,
    values,
};
use crate::{order_inputs, prelude::*};

/// The inputs that say which button the Enter key means.
const BUTTONS_OF_INPUTS: [(&str, &str); 4] = [
    ("to", "move"),
    ("value", "value"),
    ("why", "withdraw"),
    ("contact", "reserve"),
];

/// An animal that is ticked in the list.
pub(super) struct SelectedAnimal {
    pub(super) pet: StorePet,
    /// The open order for the animal.
    pub(super) order: Option<Order>,
    /// The version of the animal that the list showed.
    pub(super) shown_version: i64,
}

/// The action of a button with each of the selected animals.
pub(super) struct Act {
    kind: ActKind,
    /// The question before it is done, and the label of the button that says yes.
    pub(super) question: String,
    pub(super) yes: &'static str,
    /// The value that each animal gets.
    pub(super) value: Option<GivenValue>,
}

enum ActKind {
    PlaceOrder {
        terms: OrderTerms,
        values: OrderPatch,
    },
    CancelReservation,
    Withdraw(WithdrawalReason),
    Patch(PetPatch),
}

/// A value of one field that animals get.
pub(super) struct GivenValue {
    pub(super) field: FieldDefinition,
    given: RequestedValue,
    /// The value as people read it.
    pub(super) words: String,
}

impl Act {
    fn new(kind: ActKind, question: String, yes: &'static str) -> Self {
        Self {
            kind,
            question,
            yes,
            value: None,
        }
    }

    /// Whether the act places an order for each animal.
    pub(super) fn places_orders(&self) -> bool {
        matches!(self.kind, ActKind::PlaceOrder { .. })
    }

    /// Returns the commands for a selected animal, which require that it has the version that the list showed.
    pub(super) fn commands_for(&self, animal: &SelectedAnimal) -> Vec<Command> {
        let id = animal.pet.id;
        match &self.kind {
            ActKind::PlaceOrder { terms, values } => {
                let new_order = NewOrder::new(id, *terms).with_values(values.clone());
                vec![
                    patch(animal, animal.shown_version, PetPatch::default()),
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
                vec![patch(animal, animal.shown_version, pet_patch.clone())]
            }
        }
    }
}

/// Returns the commands that cancel the reservation of an animal. They are refused if it has none.
fn cancel_commands(animal: &SelectedAnimal) -> Vec<Command> {
    let Some(order) = &animal.order else {
        // No animal has the version 0.
        return vec![patch(animal, 0, PetPatch::default())];
    };
    vec![
        patch(animal, animal.shown_version, PetPatch::default()),
        Command::CancelOrder {
            id: order.id,
            reason: None,
            preconditions: Preconditions::version(order.version),
        },
    ]
}

/// Returns a change of an animal that requires this version. Without new values, it only checks the version.
fn patch(animal: &SelectedAnimal, version: i64, patch: PetPatch) -> Command {
    Command::PatchPet {
        id: animal.pet.id,
        patch,
        preconditions: Preconditions::version(version),
    }
}

/// Returns what the pressed button does with `count` animals. `None` if something is wrong, which the errors say.
pub(super) async fn parse_act(
    desk: &Desk<'_>,
    fields: &FieldSet,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<Act>, StoreError> {
    let form = &desk.visit.form;
    Ok(match pressed_button(form) {
        "reserve" => {
            let end = errors.take("until", forms::parse_reservation_end(form, &desk.visit));
            let kind = end.map(|end| order_kind(desk, OrderTerms::ReservedUntil(end), errors));
            let question = texts().reserve_animals(count, &wording::day(form.get("until")));
            kind.map(|kind| Act::new(kind, question, texts().reserve))
        }
        "sell" => {
            let kind = order_kind(desk, OrderTerms::Completed, errors);
            Some(Act::new(kind, texts().sell_animals(count), texts().sell))
        }
        CANCEL => Some(Act::new(
            ActKind::CancelReservation,
            texts().cancel_reservations_of(count),
            texts().cancel_reservations,
        )),
        "withdraw" => {
            let reason = errors.take("why", forms::parse_withdrawal_reason(form.get("why")));
            reason.map(|reason| {
                let question = texts().withdraw_animals(count, reason);
                Act::new(ActKind::Withdraw(reason), question, texts().withdraw)
            })
        }
        LIST => Some(listing_act(true, count)),
        UNLIST => Some(listing_act(false, count)),
        "value" => {
            let value = errors.take("value", parse_value(desk, fields));
            value.map(|value| value_act(value, count))
        }
        _ => parse_move(desk, count, errors).await?,
    })
}

/// Returns the button that was pressed. The Enter key presses the one of the only input with a value.
fn pressed_button(form: &Form) -> &str {
    let button = form.get("do");
    if !button.is_empty() {
        return button;
    }
    let mut meant_buttons = Vec::new();
    for (input, button) in BUTTONS_OF_INPUTS {
        if !form.get(input).is_empty() {
            meant_buttons.push(button);
        }
    }
    match meant_buttons[..] {
        [button] => button,
        _ => "",
    }
}

/// Returns what places an order for each animal: for one customer, as for a litter. Without a price, each has its own.
fn order_kind(desk: &Desk<'_>, terms: OrderTerms, errors: &mut Errors) -> ActKind {
    let form = &desk.visit.form;
    let has_value = |name: &str| !form.get(name).is_empty();
    let values = order_inputs::parse_patch(form, desk.currency(), has_value, errors);
    ActKind::PlaceOrder { terms, values }
}

/// Returns what gives each animal a value.
fn value_act(value: GivenValue, count: usize) -> Act {
    let label = markup::readable(value.field.label.as_str(), SHORT_LENGTH);
    let (question, yes) = match value.given {
        RequestedValue::Clear => (texts().clear_animals(count, &label), texts().remove_choice),
        _ => (
            texts().change_animals(count, &label, &value.words),
            texts().change_verb,
        ),
    };
    let name = value.field.name.as_str().to_owned();
    let patch = PetPatch {
        fields: FieldPatch::from([(name, value.given.clone())]),
        ..PetPatch::default()
    };
    Act {
        value: Some(value),
        ..Act::new(ActKind::Patch(patch), question, yes)
    }
}

/// Returns what puts animals on the website, or takes them off it.
fn listing_act(is_listed: bool, count: usize) -> Act {
    let patch = PetPatch {
        is_listed: Some(is_listed),
        ..PetPatch::default()
    };
    let (question, yes) = if is_listed {
        (texts().list_animals(count), texts().put_on_website)
    } else {
        (texts().unlist_animals(count), texts().take_off_website)
    };
    Act::new(ActKind::Patch(patch), question, yes)
}

/// Returns what moves each animal to the typed category.
async fn parse_move(
    desk: &Desk<'_>,
    count: usize,
    errors: &mut Errors,
) -> Result<Option<Act>, StoreError> {
    let typed_category = desk.visit.form.get("to");
    let categories = desk.load_categories_by_names([typed_category]).await?;
    let Some(id) = errors.take("to", forms::find_category(typed_category, &categories)) else {
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

/// Parses the value that is typed for the chosen field, as in a cell of a spreadsheet.
fn parse_value(desk: &Desk<'_>, fields: &FieldSet) -> Result<GivenValue, String> {
    let field = fields
        .find(desk.visit.form.get("of"))
        .filter(|field| !field.is_unique)
        .ok_or_else(|| texts().field_missing.to_owned())?;
    let input = values::input_of(field);
    let value = desk.visit.form.get("value");
    let typed_value = desk
        .cell_reader()
        .normalize(field, value)
        .map_err(|problem| cells::describe(&problem, field, value))?;
    let words = values::in_words(fields.all(), desk.currency(), &input, &typed_value);

    let mut errors = Errors::default();
    let form = Form::from_pairs(&[(&*input, &*typed_value)]);
    let mut patch =
        ValueReader::new(desk, fields).read_patch(&form, &FieldValues::NONE, &mut errors);
    if let Some(problem) = errors.messages().next() {
        return Err(problem.to_owned());
    }
    let given_value = patch.remove(field.name.as_str());
    Ok(GivenValue {
        field: field.clone(),
        given: given_value.unwrap_or(RequestedValue::Clear),
        words: words.map(|(_, words)| words).unwrap_or_default(),
    })
}
