//! The bar of the list with the actions for the selected animals.

use petstore_domain::store_area::{Category, FieldDefinition, FieldSet};

use super::{pet_schema::PetSchema, values::label_of};
use crate::prelude::*;

/// The button that cancels reservations.
pub(super) const CANCEL: &str = "cancel";

/// The buttons that put animals on the website and take them off it.
pub(super) const LIST: &str = "list";
pub(super) const UNLIST: &str = "unlist";

/// The maximum number of choices that are proposed for a value.
const MAX_PROPOSED_CHOICES: usize = 200;

/// What the inputs of the bar show.
struct BarForm<'b> {
    form: &'b Form,
    errors: &'b Errors,
}

impl<'b> BarForm<'b> {
    fn input(&self, name: &'b str, label: &'b str) -> Input<'b> {
        Input::from_form(name, label, self.form, self.errors)
    }

    /// Shows inputs that a press opens. With an error at one of these inputs, they are open.
    fn closed_part(&self, label: &str, input_names: &[&str], content: &Markup) -> Markup {
        let mut names = input_names.iter();
        let has_error = names.any(|name| self.errors.message_for(name).is_some());
        html! {
            details name="act" open[has_error] {
                summary.button { (label) }
                div.row { (content) }
            }
        }
    }
}

/// Shows the actions for the selected animals, each with its inputs and its button. `default_end` is the day on which a
/// reservation ends if no other day was typed.
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
            // For the Enter key, which presses the first button.
            button.hidden name="do" value="" tabindex="-1" aria-hidden="true" { (texts().save) }
            div.acts {
                (order_part(&bar, default_end))
                button name="do" value=(CANCEL) { (texts().cancel_reservations) }
                (move_part(&bar))
                (value_part(&bar, schema.fields))
                (website_part(&bar))
                (withdraw_part(&bar))
            }
            (lists(schema.categories, schema.fields))
        }
    }
}

/// Shows the inputs and buttons that reserve or sell.
fn order_part(bar: &BarForm<'_>, default_end: &str) -> Markup {
    let typed_end = bar.form.get("until");
    let end = if typed_end.is_empty() {
        default_end
    } else {
        typed_end
    };
    let mut price = bar.input("price", texts().price_of_each);
    price.inputmode = "decimal";
    let content = html! {
        (forms::day_input(end, bar.errors.message_for("until")))
        (bar.input("contact", texts().contact).show())
        (price.show())
        button name="do" value="reserve" { (texts().reserve) }
        button name="do" value="sell" { (texts().sell) }
    };
    bar.closed_part(
        texts().reserve_or_sell,
        &["until", "contact", "price"],
        &content,
    )
}

/// Shows the input and the button that move animals to another category.
fn move_part(bar: &BarForm<'_>) -> Markup {
    let mut category = bar.input("to", texts().category);
    category.list = Some("categories");
    let content = html! {
        (category.show())
        button name="do" value="move" { (texts().move_label) }
    };
    bar.closed_part(texts().move_more, &["to"], &content)
}

/// Shows the inputs and the button that give a value of a field.
fn value_part(bar: &BarForm<'_>, fields: &FieldSet) -> Markup {
    let mut options = vec![(String::new(), texts().choose_field.to_owned())];
    for field in common_fields(fields) {
        options.push((field.name.as_str().to_owned(), label_of(field)));
    }
    let mut value = bar
        .input("value", texts().new_value)
        .with_hint(texts().value_hint);
    value.list = Some("values");
    let content = html! {
        (bar.input("of", texts().field_of_animals).choose(&options))
        (value.show())
        button name="do" value="value" { (texts().change_verb) }
    };
    bar.closed_part(texts().value_more, &["value"], &content)
}

/// Shows the buttons that put animals on the website and take them off it.
fn website_part(bar: &BarForm<'_>) -> Markup {
    let content = html! {
        button name="do" value=(LIST) { (texts().put_on_website) }
        button name="do" value=(UNLIST) { (texts().take_off_website) }
    };
    bar.closed_part(texts().website_more, &[], &content)
}

/// Shows the input and the button that withdraw animals.
fn withdraw_part(bar: &BarForm<'_>) -> Markup {
    let reason = bar.input("why", texts().reason_label);
    let content = html! {
        (reason.choose(&forms::withdrawal_reason_options()))
        button.danger name="do" value="withdraw" { (texts().withdraw) }
    };
    bar.closed_part(texts().withdraw_more, &["why"], &content)
}

/// Returns the fields that can have the same value in several animals.
fn common_fields(fields: &FieldSet) -> impl Iterator<Item = &FieldDefinition> {
    fields.all().iter().filter(|field| !field.is_unique)
}

/// Shows the lists that the inputs propose: the categories, and the choices of all fields.
fn lists(categories: &[Category], fields: &FieldSet) -> Markup {
    let mut words: Vec<&str> = Vec::new();
    for field in common_fields(fields) {
        if let Some(choices) = &field.choices {
            words.extend(
                choices
                    .values()
                    .iter()
                    .map(|choice| field.display_text(choice)),
            );
        }
    }
    words.truncate(MAX_PROPOSED_CHOICES);
    html! {
        (forms::category_list(categories))
        datalist #values { @for word in words { option value=(word) {} } }
    }
}
