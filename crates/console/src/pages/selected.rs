//! The bar of the list with the actions for the selected animals.

use petstore_domain::store_area::{Category, FieldDefinition, FieldSet};

use super::values::label_of;
use crate::prelude::*;

/// The button that cancels reservations.
pub(super) const CANCEL: &str = "cancel";

/// The button that gives each animal the value back that it had.
pub(super) const GIVE_BACK: &str = "give-back";

/// How many choices are proposed for a value.
const PROPOSED: usize = 200;

/// The actions for the selected animals, each behind its button.
pub(super) fn bar(
    (categories, fields): (&[Category], &FieldSet),
    (form, end): (&Form, &str),
    errors: &Errors,
) -> Markup {
    let until = if form.get("until").is_empty() {
        end
    } else {
        form.get("until")
    };
    let input = |name, label| Input::from_form(name, label, form, errors);
    let given: Vec<&FieldDefinition> = fields
        .all()
        .iter()
        .filter(|field| !field.is_unique)
        .collect();
    let mut of = vec![(String::new(), texts().choose_field.to_owned())];
    of.extend(
        given
            .iter()
            .map(|field| (field.name.as_str().to_owned(), label_of(field))),
    );
    let choices = given
        .iter()
        .filter_map(|field| Some((field, field.choices.as_ref()?)));
    let words =
        choices.flat_map(|(field, choices)| choices.all().iter().map(|one| field.shown(one)));
    // With what is wrong in it, it is open.
    let part = |label: &str, names: &[&str], content: Markup| {
        html! {
            details name="act" open[names.iter().any(|name| errors.message_for(name).is_some())] {
                summary.button { (label) }
                div.row { (content) }
            }
        }
    };
    html! {
        fieldset.card #selected tabindex="-1" {
            legend { (texts().with_selected) " " span.ticked {} span.hint { (texts().all_or_none) } }
            // For the Enter key, which presses the first button.
            button.hidden name="do" value="" tabindex="-1" aria-hidden="true" { (texts().save) }
            div.acts {
                (part(texts().reserve_or_sell, &["until", "contact", "price"], html! {
                    (forms::day_input(until, errors.message_for("until")))
                    (input("contact", texts().contact).show())
                    (Input { inputmode: "decimal", ..input("price", texts().price_of_each) }.show())
                    button name="do" value="reserve" { (texts().reserve) }
                    button name="do" value="sell" { (texts().sell) }
                }))
                button name="do" value=(CANCEL) { (texts().cancel_reservations) }
                (part(texts().move_more, &["to"], html! {
                    (Input { list: Some("categories"), ..input("to", texts().category) }.show())
                    button name="do" value="move" { (texts().move_label) }
                }))
                (part(texts().value_more, &["value"], html! {
                    (input("of", texts().field_of_animals).choose(&of))
                    (Input { list: Some("values"), ..input("value", texts().new_value).with_hint(texts().value_hint) }.show())
                    button name="do" value="value" { (texts().change_verb) }
                }))
                (part(texts().withdraw_several, &["why"], html! {
                    (input("why", texts().reason_label).choose(&forms::withdrawal_reason_options()))
                    button.danger name="do" value="withdraw" { (texts().withdraw) }
                }))
            }
            (forms::category_list(categories))
            datalist #values { @for one in words.take(PROPOSED) { option value=(one) {} } }
        }
    }
}
