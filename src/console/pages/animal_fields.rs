//! The inputs for an animal, in each form that has them.

use maud::{Markup, html};

use crate::{
    console::{
        forms::{self, Errors, Fields, Input},
        markup, texts,
    },
    domain::store_area::Category,
};

/// A name as an input holds it, which is one line.
pub(super) fn as_typed(name: &str) -> String {
    name.replace(['\r', '\n'], "")
}

/// A category as somebody would type it.
pub(super) fn category_typed(id: i64, categories: &[Category]) -> String {
    let label = categories.iter().find(|category| category.id == id);
    label.map_or_else(|| id.to_string(), |_| markup::category(categories, id))
}

/// The inputs for an animal.
pub(super) fn inputs(
    fields: &Fields,
    categories: &[Category],
    errors: &Errors,
    has_order: bool,
) -> Markup {
    let name = Input {
        id: "name",
        label: texts::NAME,
        value: fields.raw("name"),
        error: errors.of("name"),
        ..Input::default()
    };
    let category = Input {
        id: "category",
        label: texts::CATEGORY,
        hint: Some(texts::CATEGORY_HINT),
        value: fields.get("category"),
        error: errors.of("category"),
        list: Some("categories"),
        ..Input::default()
    };
    let status = Input {
        id: "status",
        label: texts::STATUS,
        value: fields.get("status"),
        error: errors.of("status"),
        ..Input::default()
    };
    html! {
        (name.show())
        (category.show())
        (forms::category_list(categories))
        @if has_order {
            p.hint { (texts::STATUS_HELD) }
        } @else {
            (status.choose(&forms::statuses()))
        }
    }
}
