//! The members of an animal: in each form that has them, and on its page.

use jiff::Timestamp;
use petstore_domain::store_area::{Category, Currency, FieldSet, Order, PetPatch, StorePet};

use super::values;
use crate::prelude::*;

/// A name as an input holds it, which is one line.
fn as_typed(name: &str) -> String {
    name.replace(['\r', '\n'], "")
}

/// The form as it is in the store.
pub(super) fn form_of(pet: &StorePet, categories: &[Category], fields: &FieldSet) -> Form {
    let members = [
        ("name", as_typed(pet.name.as_str())),
        ("category", markup::category(categories, pet.category_id)),
        ("status", pet.status.to_string()),
        ("version", pet.version.to_string()),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value));
    members
        .into_iter()
        .chain(values::input_values(fields, &pet.fields))
        .collect()
}

/// A form that was sent, with the category as somebody would type it.
pub(super) fn typed_again(form: &Form, categories: &[Category]) -> Form {
    let again = |(name, typed): &(String, String)| {
        let mut typed = typed.clone();
        if name == "category"
            && let Ok(id) = forms::find_category(typed.trim(), categories)
        {
            let shown = markup::category(categories, id);
            let is_clear = forms::find_category(&shown, categories) == Ok(id);
            typed = if is_clear { shown } else { id.to_string() };
        }
        (name.clone(), typed)
    };
    form.fields().iter().map(again).collect()
}

/// The input for the category.
pub(super) fn category(
    form: &Form,
    categories: &[Category],
    errors: &Errors,
    hint: &str,
) -> Markup {
    let category = Input::from_form("category", texts().category, form, errors).with_hint(hint);
    html! {
        (Input { list: Some("categories"), ..category }.show())
        (forms::category_list(categories))
    }
}

/// The inputs for an animal.
pub(super) fn inputs(
    form: &Form,
    (categories, fields): (&[Category], &FieldSet),
    errors: &Errors,
    held: Option<(&StorePet, &Order)>,
) -> Markup {
    html! {
        (Input::from_form("name", texts().name, form, errors).show())
        (category(form, categories, errors, texts().category_hint))
        @if let Some((pet, order)) = held {
            div.field {
                strong { (texts().status_label) }
                div {
                    (markup::pet_badge(pet)) ", "
                    a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
                }
                div.hint { (texts().status_held) }
            }
        } @else {
            (Input::from_form("status", texts().status_label, form, errors).choose(&forms::status_options()))
        }
        (values::inputs(fields, &[], form, errors))
    }
}

/// The typed values as a change. A value that an input cannot hold stays as it is.
pub(super) fn patch(
    form: &Form,
    (pet, now, currency): (&StorePet, Timestamp, Option<&Currency>),
    (categories, fields): (&[Category], &FieldSet),
    errors: &mut Errors,
) -> PetPatch {
    let typed = form.raw("name");
    let name = if typed == as_typed(pet.name.as_str()) {
        None
    } else {
        errors.take("name", forms::parse_name(typed))
    };
    let typed = form.get("category");
    // Even if several categories have this name.
    let present = [
        markup::category(categories, pet.category_id),
        pet.category_id.to_string(),
    ];
    let category_id = if present.iter().any(|present| present == typed) {
        None
    } else {
        errors.take("category", forms::find_category(typed, categories))
    };
    let status = form.get("status");
    // It is not in the form of a reserved animal.
    let status = (!status.is_empty()).then(|| errors.take("status", forms::parse_status(status)));
    let fields = values::patch(fields, form, (&pet.fields, now, currency), errors);
    PetPatch {
        name,
        category_id,
        status: status.flatten(),
        fields,
    }
}

/// The stored value, and whether it differs from the typed one.
pub(super) fn compared(
    desk: &Desk<'_>,
    pet: &StorePet,
    typed: &Form,
    (categories, fields): (&[Category], &FieldSet),
) -> Vec<(String, Markup, bool)> {
    let status = typed.get("status");
    let members = [
        (
            texts().name,
            markup::name(pet.name.as_str(), LONG),
            typed.raw("name") != as_typed(pet.name.as_str()),
        ),
        (
            texts().category,
            html! { bdi { (markup::category(categories, pet.category_id)) } },
            forms::find_category(typed.get("category"), categories) != Ok(pet.category_id),
        ),
        (
            texts().status_label,
            markup::pet_badge(pet),
            !status.is_empty() && status != pet.status.as_str(),
        ),
    ];
    let members = members.map(|(label, value, differs)| (label.to_owned(), value, differs));
    members
        .into_iter()
        .chain(values::compared(desk, fields, &pet.fields, typed))
        .collect()
}

/// The facts on the page of an animal next to its name and status.
pub(super) fn facts(
    desk: &Desk<'_>,
    pet: &StorePet,
    (categories, fields): (&[Category], &FieldSet),
) -> Markup {
    let now = desk.visit.now;
    html! {
        dl {
            dt { (texts().number) }
            dd { (pet.id.get()) }
            dt { (texts().category) }
            dd { bdi { (markup::category(categories, pet.category_id)) } }
            @for (label, value) in values::set_values(desk, fields, &pet.fields) {
                dt { (label) }
                dd { (value) }
            }
            @for (label, at) in
                [(texts().added_at, pet.created_at), (texts().changed_at, pet.updated_at)] {
                @if let Some(at) = at { dt { (label) } dd { (markup::time(at, now)) } }
            }
        }
    }
}
