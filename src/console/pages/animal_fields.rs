//! The inputs for an animal, in each form that has them.

use maud::{Markup, html};

use crate::{
    console::{
        forms::{self, Errors, Input},
        markup, texts,
        visit::Form,
    },
    domain::store_area::Category,
};

/// A name as an input holds it, which is one line.
pub(super) fn as_typed(name: &str) -> String {
    name.replace(['\r', '\n'], "")
}

/// A category as somebody would type it.
pub(super) fn category_typed(id: i64, categories: &[Category]) -> String {
    let shown = markup::category(categories, id);
    if forms::category(&shown, categories) == Ok(id) { shown } else { id.to_string() }
}

/// The inputs for an animal.
pub(super) fn inputs(
    form: &Form,
    categories: &[Category],
    errors: &Errors,
    has_order: bool,
) -> Markup {
    let category = Input {
        hint: Some(texts::CATEGORY_HINT),
        list: Some("categories"),
        ..Input::of("category", texts::CATEGORY, form, errors)
    };
    html! {
        (Input::of("name", texts::NAME, form, errors).show())
        (category.show())
        (forms::category_list(categories))
        @if has_order {
            p.hint { (texts::STATUS_HELD) }
        } @else {
            (Input::of("status", texts::STATUS, form, errors).choose(&forms::statuses()))
        }
    }
}
