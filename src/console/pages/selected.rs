//! The bar of the list with the actions for the selected animals.

use crate::console::prelude::*;
use crate::domain::store_area::Category;

/// The actions for the selected animals. Enter in a field presses the first button, which needs
/// a category.
pub(super) fn bar(categories: &[Category], form: &Form, end: &str, errors: &Errors) -> Markup {
    let until = if form.get("until").is_empty() { end } else { form.get("until") };
    let to = Input { list: Some("categories"), ..Input::of("to", texts::CATEGORY, form, errors) };
    let why = Input::of("why", texts::REASON, form, errors);
    html! {
        fieldset.card #selected tabindex="-1" {
            // The page of the list.
            input type="hidden" name="after" value=(form.raw("after"));
            legend { (texts::WITH_SELECTED) " " span.hint { (texts::ALL_OR_NONE) } }
            div.row {
                div.row {
                    (to.show())
                    button name="do" value="move" { (texts::MOVE) }
                }
                div.row {
                    (forms::day_input(until, errors.of("until")))
                    (Input::of("contact", texts::CONTACT, form, errors).show())
                    (Input { inputmode: "decimal", ..Input::of("price", texts::PRICE_OF_EACH, form, errors) }.show())
                    button name="do" value="reserve" { (texts::RESERVE) }
                }
                button name="do" value="sell" { (texts::SELL) }
                div.row {
                    (why.choose(&forms::withdrawal_reasons()))
                    button.danger name="do" value="withdraw" { (texts::WITHDRAW) }
                }
            }
            (forms::category_list(categories))
        }
    }
}
