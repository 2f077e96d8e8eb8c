//! The bar of the list with the actions for the selected animals.

use crate::console::prelude::*;
use crate::domain::store_area::{Category, FieldDefinition, FieldSet};

/// The button that cancels reservations.
pub(super) const CANCEL: &str = "cancel";

/// The input of a form that undoes a change of several animals, which needs no question.
pub(super) const UNDOES: &str = "undoes";

/// How many choices are proposed for a value.
const PROPOSED: usize = 200;

/// The actions for the selected animals, each behind its button.
pub(super) fn bar(
    (categories, fields): (&[Category], &FieldSet),
    (form, end): (&Form, &str),
    errors: &Errors,
) -> Markup {
    let until = if form.get("until").is_empty() { end } else { form.get("until") };
    let input = |name, label| Input::of(name, label, form, errors);
    let given: Vec<&FieldDefinition> =
        fields.all().iter().filter(|field| !field.is_unique).collect();
    let label = |field: &FieldDefinition| markup::readable(field.label.as_str(), SHORT);
    let mut of = vec![(String::new(), texts::CHOOSE_FIELD.to_owned())];
    of.extend(given.iter().map(|field| (field.name.as_str().to_owned(), label(field))));
    let choices = given.iter().filter_map(|field| Some((field, field.choices.as_ref()?)));
    let words =
        choices.flat_map(|(field, choices)| choices.all().iter().map(|one| field.shown(one)));
    // With what is wrong in it, it is open.
    let part = |label: &str, names: &[&str], content: Markup| {
        html! {
            details name="act" open[names.iter().any(|name| errors.of(name).is_some())] {
                summary.button { (label) }
                div.row { (content) }
            }
        }
    };
    html! {
        fieldset.card #selected tabindex="-1" {
            legend { (texts::WITH_SELECTED) " " span.ticked {} span.hint { (texts::ALL_OR_NONE) } }
            // For the Enter key, which presses the first button.
            button.hidden name="do" value="" tabindex="-1" aria-hidden="true" { (texts::SAVE) }
            div.acts {
                (part(texts::RESERVE_OR_SELL, &["until", "contact", "price"], html! {
                    (forms::day_input(until, errors.of("until")))
                    (input("contact", texts::CONTACT).show())
                    (Input { inputmode: "decimal", ..input("price", texts::PRICE_OF_EACH) }.show())
                    button name="do" value="reserve" { (texts::RESERVE) }
                    button name="do" value="sell" { (texts::SELL) }
                }))
                button name="do" value=(CANCEL) { (texts::CANCEL_RESERVATIONS) }
                (part(texts::MOVE_MORE, &["to"], html! {
                    (Input { list: Some("categories"), ..input("to", texts::CATEGORY) }.show())
                    button name="do" value="move" { (texts::MOVE) }
                }))
                (part(texts::VALUE_MORE, &["value"], html! {
                    (input("of", texts::FIELD).choose(&of))
                    (Input { list: Some("values"), ..input("value", texts::VALUE).hint(texts::VALUE_HINT) }.show())
                    button name="do" value="value" { (texts::CHANGE_VERB) }
                }))
                (part(texts::WITHDRAW_SEVERAL, &["why"], html! {
                    (input("why", texts::REASON).choose(&forms::withdrawal_reasons()))
                    button.danger name="do" value="withdraw" { (texts::WITHDRAW) }
                }))
            }
            (forms::category_list(categories))
            datalist #values { @for one in words.take(PROPOSED) { option value=(one) {} } }
        }
    }
}
