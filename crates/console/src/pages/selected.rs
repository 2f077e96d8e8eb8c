//! Renders the bar with the bulk actions for the animals that are selected in the list.

use petstore_domain::store_area::{Category, FieldDefinition, FieldSet};

use super::{pet_schema::PetSchema, values::label_of};
use crate::{
    order_inputs::{CONTACT, PRICE},
    prelude::*,
};

/// The name of the input for the category to which animals are moved.
pub(super) const NEW_CATEGORY_INPUT: &str = "to";

/// The name of the input that chooses the field whose value is set.
pub(super) const FIELD_INPUT: &str = "of";

/// The name of the input for the new value of the field.
pub(super) const VALUE_INPUT: &str = "value";

/// The name of the input for the reason of a withdrawal.
pub(super) const REASON_INPUT: &str = "why";

/// The maximum number of suggestions for the value of a field.
const MAX_SUGGESTED_VALUES: usize = 200;

/// A button of the bar, which starts a bulk action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BulkButton {
    Reserve,
    Sell,
    CancelReservations,
    /// Moves the animals to another category.
    Move,
    /// Sets the value of a field.
    SetValue,
    /// Puts the animals on the website.
    List,
    /// Takes the animals off the website.
    Unlist,
    Withdraw,
}

/// The values and errors of the inputs of the bar.
struct BarForm<'b> {
    form: &'b Form,
    errors: &'b Errors,
}

impl BulkButton {
    const ALL: [Self; 8] = [
        Self::Reserve,
        Self::Sell,
        Self::CancelReservations,
        Self::Move,
        Self::SetValue,
        Self::List,
        Self::Unlist,
        Self::Withdraw,
    ];

    /// Returns the value that the form submits for the button.
    fn value(self) -> &'static str {
        match self {
            Self::Reserve => "reserve",
            Self::Sell => "sell",
            Self::CancelReservations => "cancel",
            Self::Move => "move",
            Self::SetValue => "value",
            Self::List => "list",
            Self::Unlist => "unlist",
            Self::Withdraw => "withdraw",
        }
    }

    /// Returns the button with this value.
    pub(super) fn from_value(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|button| button.value() == value)
    }
}

impl<'b> BarForm<'b> {
    /// Returns an input of the bar with its submitted value and its error.
    fn input(&self, name: &'b str, label: &'b str) -> Input<'b> {
        Input::from_form(name, label, self.form, self.errors)
    }

    /// Renders the inputs of an action below a button that expands them.
    ///
    /// The inputs are collapsed unless one of the inputs with these names has an error.
    fn collapsed_inputs(&self, label: &str, input_names: &[&str], content: &Markup) -> Markup {
        let has_error = input_names
            .iter()
            .any(|name| self.errors.message_for(name).is_some());
        html! {
            details name="act" open[has_error] {
                summary.button { (label) }
                div.row { (content) }
            }
        }
    }
}

/// Renders the actions for the selected animals, each with its inputs and its button.
///
/// `default_end` is the day on which a reservation ends unless the member chooses another one.
pub(super) fn bar(
    schema: PetSchema<'_>,
    form: &Form,
    default_end: &str,
    errors: &Errors,
) -> Markup {
    let bar = BarForm { form, errors };
    html! {
        fieldset.card #selected tabindex="-1" {
            legend { (texts().with_selected) " " span.ticked {} span.hint { (texts().all_or_none) } }
            // The Enter key presses the first button of a form. This one has no action, so
            // `selected_acts` infers the action from the inputs.
            button.hidden name="do" value="" tabindex="-1" aria-hidden="true" { (texts().save) }
            div.acts {
                (order_part(&bar, default_end))
                button name="do" value=(BulkButton::CancelReservations.value()) { (texts().cancel_reservations) }
                (move_part(&bar))
                (value_part(&bar, schema.fields))
                (website_part(&bar))
                (withdraw_part(&bar))
            }
            (suggestion_lists(schema.categories, schema.fields))
        }
    }
}

/// Renders the inputs and buttons that reserve or sell the animals.
fn order_part(bar: &BarForm<'_>, default_end: &str) -> Markup {
    let end = match bar.form.get(forms::RESERVATION_END) {
        "" => default_end,
        typed_end => typed_end,
    };
    let mut price = bar.input(PRICE, texts().price_of_each);
    price.inputmode = "decimal";
    let content = html! {
        (forms::day_input(end, bar.errors.message_for(forms::RESERVATION_END)))
        (bar.input(CONTACT, texts().contact).show())
        (price.show())
        button name="do" value=(BulkButton::Reserve.value()) { (texts().reserve) }
        button name="do" value=(BulkButton::Sell.value()) { (texts().sell) }
    };
    bar.collapsed_inputs(
        texts().reserve_or_sell,
        &[forms::RESERVATION_END, CONTACT, PRICE],
        &content,
    )
}

/// Renders the input and the button that move the animals to another category.
fn move_part(bar: &BarForm<'_>) -> Markup {
    let mut category = bar.input(NEW_CATEGORY_INPUT, texts().category);
    category.list = Some("categories");
    let content = html! {
        (category.show())
        button name="do" value=(BulkButton::Move.value()) { (texts().move_label) }
    };
    bar.collapsed_inputs(texts().move_more, &[NEW_CATEGORY_INPUT], &content)
}

/// Renders the inputs and the button that set the value of a field.
fn value_part(bar: &BarForm<'_>, fields: &FieldSet) -> Markup {
    let mut options = vec![(String::new(), texts().choose_field.to_owned())];
    for field in bulk_fields(fields) {
        options.push((field.name.as_str().to_owned(), label_of(field)));
    }
    let mut value = bar
        .input(VALUE_INPUT, texts().new_value)
        .with_hint(texts().value_hint);
    value.list = Some("values");
    let content = html! {
        (bar.input(FIELD_INPUT, texts().field_of_animals).show_dropdown(&options))
        (value.show())
        button name="do" value=(BulkButton::SetValue.value()) { (texts().change_verb) }
    };
    bar.collapsed_inputs(texts().value_more, &[VALUE_INPUT], &content)
}

/// Renders the buttons that put the animals on the website and take them off it.
fn website_part(bar: &BarForm<'_>) -> Markup {
    let content = html! {
        button name="do" value=(BulkButton::List.value()) { (texts().put_on_website) }
        button name="do" value=(BulkButton::Unlist.value()) { (texts().take_off_website) }
    };
    bar.collapsed_inputs(texts().website_more, &[], &content)
}

/// Renders the input and the button that withdraw the animals.
fn withdraw_part(bar: &BarForm<'_>) -> Markup {
    let reason = bar.input(REASON_INPUT, texts().reason_label);
    let content = html! {
        (reason.show_dropdown(&forms::withdrawal_reason_options()))
        button.danger name="do" value=(BulkButton::Withdraw.value()) { (texts().withdraw) }
    };
    bar.collapsed_inputs(texts().withdraw_more, &[REASON_INPUT], &content)
}

/// Returns the fields that a bulk action can set. Unique fields are not among them, because no two
/// animals can have the same value of such a field.
fn bulk_fields(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    fields.all().iter().filter(|field| !field.is_unique)
}

/// Renders the `datalist` elements with suggestions for the inputs: the categories, and the choices
/// of all fields.
fn suggestion_lists(categories: &[Category], fields: &FieldSet) -> Markup {
    let mut suggestions: Vec<&str> = Vec::new();
    for field in bulk_fields(fields) {
        if let Some(choices) = &field.choices {
            suggestions.extend(
                choices
                    .values()
                    .iter()
                    .map(|choice| field.display_text(choice)),
            );
        }
    }
    suggestions.truncate(MAX_SUGGESTED_VALUES);
    html! {
        (forms::category_list(categories))
        datalist #values { @for suggestion in suggestions { option value=(suggestion) {} } }
    }
}
