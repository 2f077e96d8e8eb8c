//! The values of an animal: its name, its category, its status, whether it is on the website, and
//! the values of the fields that the store defines.
//!
//! Renders the values in forms and on the page of the animal, parses them from a submitted form,
//! and compares a form with the stored values.

use petstore_domain::store_area::{
    Category, FieldKind, FieldSet, FieldValue, Order, PetPatch, StorePet,
};

use super::{
    pet_schema::PetSchema,
    value_reader::{ComparedValue, ValueReader},
    values,
};
use crate::prelude::*;

/// The name of the input for the name of an animal.
pub(super) const NAME_INPUT: &str = "name";

/// The name of the input for the category of an animal.
pub(super) const CATEGORY_INPUT: &str = "category";

/// The name of the input for the status of an animal.
pub(super) const STATUS_INPUT: &str = "status";

/// The name of the input that says whether the window, the public website, may show the animal.
pub(super) const LISTED: &str = "listed";

/// Returns a name as its input shows and submits it: without line breaks, because browsers remove
/// them from an input with one line.
fn name_in_input(name: &str) -> String {
    name.replace(['\r', '\n'], "")
}

/// Returns the form whose inputs show the stored values of an animal.
pub(super) fn form_of_pet(pet: &StorePet, schema: PetSchema<'_>) -> Form {
    let mut inputs = vec![
        (NAME_INPUT.to_owned(), name_in_input(pet.name.as_str())),
        (
            CATEGORY_INPUT.to_owned(),
            markup::category(schema.categories, pet.category_id),
        ),
        (STATUS_INPUT.to_owned(), pet.status.to_string()),
        (LISTED.to_owned(), pet.is_listed.to_string()),
        ("version".to_owned(), pet.version.to_string()),
    ];
    inputs.extend(values::collect_submittable_values(
        schema.fields,
        &pet.fields,
    ));
    inputs.into_iter().collect()
}

/// Returns a submitted form with the category spelled as in [`form_of_pet`], so that both forms can
/// be compared.
///
/// A member can type the name or the number of a category. The number `3` becomes `Cats` if
/// category 3 has this name. It stays a number if several categories have the name, because the
/// name would be ambiguous.
pub(super) fn with_named_category(form: &Form, categories: &[Category]) -> Form {
    let mut inputs = form.fields().to_vec();
    for (name, value) in &mut inputs {
        if name != CATEGORY_INPUT {
            continue;
        }
        let Ok(id) = forms::find_category(value.trim(), categories) else {
            continue;
        };
        let category_name = markup::category(categories, id);
        let is_unambiguous = forms::find_category(&category_name, categories) == Ok(id);
        *value = if is_unambiguous {
            category_name
        } else {
            id.to_string()
        };
    }
    inputs.into_iter().collect()
}

/// Renders the text input for the category, with these categories as suggestions.
pub(super) fn category_input(
    form: &Form,
    categories: &[Category],
    errors: &Errors,
    hint: &str,
) -> Markup {
    let mut input =
        Input::from_form(CATEGORY_INPUT, texts().category, form, errors).with_hint(hint);
    input.list = Some("categories");
    html! {
        (input.show())
        (forms::category_list(categories))
    }
}

/// Renders all inputs for an animal.
///
/// `holding_order` is the order by which the animal is reserved or sold. This order determines the
/// status, so the form shows the status with a link to the order instead of an input.
pub(super) fn animal_inputs(
    form: &Form,
    schema: PetSchema<'_>,
    errors: &Errors,
    pet: &StorePet,
    holding_order: Option<&Order>,
) -> Markup {
    let status_input = Input::from_form(STATUS_INPUT, texts().status_label, form, errors);
    html! {
        (Input::from_form(NAME_INPUT, texts().name, form, errors).show())
        (category_input(form, schema.categories, errors, texts().category_hint))
        @if let Some(order) = holding_order {
            div.field {
                strong { (texts().status_label) }
                div {
                    (markup::pet_badge(pet)) " · "
                    a href={ "/orders/" (order.id) } { (texts().this_order(order.id.get())) }
                }
                div.hint { (texts().status_held) }
            }
        } @else {
            (status_input.show_dropdown(&forms::status_options()))
        }
        (listing_input(form, errors))
        (values::collapsible_inputs(schema.fields, &[], form, errors))
    }
}

/// Renders the dropdown that says whether the public window may show the animal.
pub(super) fn listing_input(form: &Form, errors: &Errors) -> Markup {
    Input::from_form(LISTED, texts().website, form, errors)
        .with_hint(texts().website_hint)
        .show_dropdown(&forms::listing_options())
}

/// Whether a form has another name than the input for the stored name of an animal shows.
fn is_name_edited(form: &Form, pet: &StorePet) -> bool {
    form.raw(NAME_INPUT) != name_in_input(pet.name.as_str())
}

/// Parses a submitted form as a change of an animal. Adds an error for each invalid value.
///
/// Some stored values cannot be shown exactly by their input, such as a name with two lines. Such a
/// value stays as it is unless the member changes the text of the input.
pub(super) fn parse_patch(
    desk: &Desk<'_>,
    form: &Form,
    pet: &StorePet,
    schema: PetSchema<'_>,
    errors: &mut Errors,
) -> PetPatch {
    let mut patch = PetPatch::default();

    if is_name_edited(form, pet) {
        let name = forms::parse_name(form.raw(NAME_INPUT));
        patch.name = errors.ok_or_add(NAME_INPUT, name);
    }

    // An unchanged category is not looked up: the lookup fails if several categories have its name.
    let category = form.get(CATEGORY_INPUT);
    let stored_category = markup::category(schema.categories, pet.category_id);
    let is_edited = category != stored_category && category != pet.category_id.to_string();
    if is_edited {
        let category_id = forms::find_category(category, schema.categories);
        patch.category_id = errors.ok_or_add(CATEGORY_INPUT, category_id);
    }

    // If an order determines the status, the form has no input for it.
    let status = form.get(STATUS_INPUT);
    if !status.is_empty() {
        patch.status = errors.ok_or_add(STATUS_INPUT, forms::parse_status(status));
    }

    let listing = form.get(LISTED);
    if !listing.is_empty() {
        patch.is_listed = errors.ok_or_add(LISTED, forms::parse_listing(listing));
    }

    patch.fields = ValueReader::new(desk, schema.fields).read_patch(form, &pet.fields, errors);
    patch
}

/// Compares each stored value of an animal with its input in a form. The page about an edit
/// conflict shows the stored values next to the form.
pub(super) fn compare(
    desk: &Desk<'_>,
    pet: &StorePet,
    form: &Form,
    schema: PetSchema<'_>,
) -> Vec<ComparedValue> {
    let category_id = forms::find_category(form.get(CATEGORY_INPUT), schema.categories);
    let status = form.get(STATUS_INPUT);
    let listing = form.get(LISTED);
    let mut compared_values = vec![
        ComparedValue {
            label: texts().name.to_owned(),
            stored_value: markup::name(pet.name.as_str(), LONG_LENGTH),
            differs: is_name_edited(form, pet),
        },
        ComparedValue {
            label: texts().category.to_owned(),
            stored_value: html! {
                bdi { (markup::category(schema.categories, pet.category_id)) }
            },
            differs: category_id != Ok(pet.category_id),
        },
        ComparedValue {
            label: texts().status_label.to_owned(),
            stored_value: markup::pet_badge(pet),
            differs: !status.is_empty() && status != pet.status.as_str(),
        },
        ComparedValue {
            label: texts().website.to_owned(),
            stored_value: html! { (forms::listing_words(pet.is_listed)) },
            differs: !listing.is_empty() && forms::parse_listing(listing) != Ok(pet.is_listed),
        },
    ];
    let reader = ValueReader::new(desk, schema.fields);
    compared_values.extend(reader.compare(desk, &pet.fields, form));
    compared_values
}

/// Renders a card for each long text about an animal, such as its description.
pub(super) fn show_long_texts(pet: &StorePet, fields: &FieldSet) -> Markup {
    html! {
        @for field in fields.all() {
            @if field.kind == FieldKind::LongText
                && let Some(FieldValue::Text(text)) = pet.fields.get(field.name.as_str()) {
                section.card.story.no-print {
                    h2 { (values::label_of(field)) }
                    p { (markup::lines(text)) }
                }
            }
        }
    }
}

/// Renders the list of facts on the page of an animal: its number, its category, its short values,
/// and when it was added and changed.
pub(super) fn show_facts(desk: &Desk<'_>, pet: &StorePet, schema: PetSchema<'_>) -> Markup {
    html! {
        dl {
            dt { (texts().number) }
            dd { (pet.id.get()) }
            dt { (texts().category) }
            dd { bdi { (markup::category(schema.categories, pet.category_id)) } }
            @for (label, value) in values::values_without_long_texts(desk, schema.fields, &pet.fields) {
                dt { (label) }
                dd { (value) }
            }
            @if let Some(created_at) = pet.created_at {
                dt { (texts().added_at) }
                dd { (markup::time(created_at, desk.visit.now)) }
            }
            @if let Some(updated_at) = pet.updated_at {
                dt { (texts().changed_at) }
                dd { (markup::time(updated_at, desk.visit.now)) }
            }
        }
    }
}
