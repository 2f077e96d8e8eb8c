//! The values of the fields of an animal: their inputs in forms, and how pages show them.

use jiff::civil::Date;
use petstore_domain::store_area::{FieldDefinition, FieldKind, FieldSet, FieldValue, FieldValues};
use petstore_languages::look::estimated_birth_in_words;

use super::parts;
use crate::{merge, prelude::*, words::FIELD_PREFIX};

pub(super) use crate::words::{NO_FIELDS, in_words, input_name_of};
pub(super) use petstore_languages::look::label_of;

/// The name of the field with the number of a microchip.
pub(super) const MICROCHIP: &str = "microchip";

/// The maximum number of inputs that are always visible. The inputs after them are collapsed.
const MAX_INPUTS_IN_VIEW: usize = 6;

/// Returns the field with the day of birth; `None` if the store has none.
pub(super) fn find_birth_field(fields: &FieldSet) -> Option<&FieldDefinition> {
    fields.all().iter().find(|field| field.is_birth())
}

/// Returns the field that marks the day of birth as an estimate; `None` if the store has none.
pub(super) fn find_birth_estimate_field(fields: &FieldSet) -> Option<&FieldDefinition> {
    fields.all().iter().find(|field| field.is_birth_estimate())
}

/// Formats a value as the text that its input shows.
///
/// Line breaks are removed unless the input has several lines. A decimal number gets the decimal
/// separator of the language: the stored `1.5` is `1,5` in German.
pub(super) fn format_for_input(kind: FieldKind, value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) if kind == FieldKind::Decimal => numbers().plain(text),
        FieldValue::Text(text) if kind != FieldKind::LongText => text.replace(['\r', '\n'], ""),
        value => value.to_string(),
    }
}

/// Returns the values of an animal as a browser would submit them: for each field, the name of its
/// input and the text in it.
pub(super) fn collect_submittable_values(
    fields: &FieldSet,
    values: &FieldValues,
) -> Vec<(String, String)> {
    let mut inputs = Vec::new();
    for field in fields.all() {
        let text = match values.get(field.name.as_str()) {
            Some(value) => format_for_input(field.kind, value),
            None => String::new(),
        };
        inputs.push((input_name_of(field), text));
    }
    inputs
}

/// Renders an input for each field whose name is not in `omitted_names`, in the order of the
/// fields.
///
/// The inputs after the first [`MAX_INPUTS_IN_VIEW`] are collapsed, unless one of them has a value
/// or an error. Below the inputs are the errors of deleted fields: see [`report_deleted_fields`].
pub(super) fn collapsible_inputs(
    fields: &FieldSet,
    omitted_names: &[&str],
    form: &Form,
    errors: &Errors,
) -> Markup {
    let mut remaining_fields = Vec::new();
    for field in fields.all() {
        if !omitted_names.contains(&field.name.as_str()) {
            remaining_fields.push(field);
        }
    }

    let view_length = remaining_fields.len().min(MAX_INPUTS_IN_VIEW);
    let (fields_in_view, hidden_fields) = remaining_fields.split_at(view_length);
    let is_open = hidden_fields.iter().any(|field| {
        let input_name = input_name_of(field);
        !form.get(&input_name).is_empty() || errors.message_for(&input_name).is_some()
    });

    html! {
        @for field in fields_in_view { (field_input(field, form, errors)) }
        @if !hidden_fields.is_empty() {
            details open[is_open] {
                summary { (texts().more_fields) }
                div.fields { @for field in hidden_fields { (field_input(field, form, errors)) } }
            }
        }
        (deleted_field_errors(fields, form, errors))
    }
}

/// Renders the errors that [`report_deleted_fields`] has added.
fn deleted_field_errors(fields: &FieldSet, form: &Form, errors: &Errors) -> Markup {
    html! {
        @for (input_name, _) in find_inputs_of_deleted_fields(fields, form) {
            @if let Some(error) = errors.message_for(input_name) {
                p.error #(input_name) tabindex="-1" { (error) }
            }
        }
    }
}

/// Returns the inputs whose fields were deleted after the form was rendered, as pairs of name and
/// value. Leaves out empty inputs, and those that the member has not touched.
fn find_inputs_of_deleted_fields<'f>(
    fields: &FieldSet,
    form: &'f Form,
) -> impl Iterator<Item = &'f (String, String)> {
    form.fields().iter().filter(move |(name, value)| {
        let is_deleted = name
            .strip_prefix(FIELD_PREFIX)
            .is_some_and(|field_name| fields.find(field_name).is_none());
        is_deleted && !value.trim().is_empty() && merge::is_touched(form, name)
    })
}

/// Adds an error for each value that the member entered for a deleted field. Such a value cannot be
/// saved.
pub(super) fn report_deleted_fields(fields: &FieldSet, form: &Form, errors: &mut Errors) {
    for (input_name, value) in find_inputs_of_deleted_fields(fields, form) {
        // The inputs of fields all have the prefix, so the name is never used as it is.
        let field_name = input_name.strip_prefix(FIELD_PREFIX).unwrap_or(input_name);
        let readable_name = wording::readable_name(field_name);
        let message = texts().field_removed(&readable_name, &markup::readable(value, LONG_LENGTH));
        errors.add(input_name.clone(), message);
    }
}

/// Returns the options of the dropdown for a field with choices or a Boolean, as pairs of value and
/// label. The first one stands for no value.
///
/// `value` is the current value. It is an option even if it is no longer a choice of the field. A
/// Boolean has the same options whatever its value is.
pub(super) fn value_options(
    field: &FieldDefinition,
    no_value_label: &str,
    value: &str,
) -> Vec<(String, String)> {
    let mut options = vec![(String::new(), no_value_label.to_owned())];
    if field.kind == FieldKind::Boolean {
        options.push(("true".to_owned(), window_texts().yes.to_owned()));
        options.push(("false".to_owned(), window_texts().no.to_owned()));
        return options;
    }

    let mut offered_values: Vec<&str> = Vec::new();
    if let Some(choices) = &field.choices {
        offered_values.extend(choices.values().iter().map(String::as_str));
    }
    if !value.is_empty() && !offered_values.contains(&value) {
        offered_values.push(value);
    }
    for offered_value in offered_values {
        let label = markup::readable(field.display_text(offered_value), SHORT_LENGTH);
        options.push((offered_value.to_owned(), label));
    }
    options
}

/// Renders the input for the value of a field.
pub(super) fn field_input(field: &FieldDefinition, form: &Form, errors: &Errors) -> Markup {
    let input_name = input_name_of(field);
    let label = label_of(field);
    let mut input = Input::from_form(&input_name, &label, form, errors);

    match field.kind {
        FieldKind::Choice | FieldKind::Boolean => {
            // An animal can keep a value that is no longer a choice, but no other animal can get
            // it. If the value was rejected for this reason, the dropdown does not offer it again.
            let value = if input.error.is_none() {
                input.value
            } else {
                ""
            };
            return input.show_dropdown(&value_options(field, texts().no_value, value));
        }
        FieldKind::LongText => input.kind = InputKind::Paragraph,
        FieldKind::Date => input.kind = InputKind::Date,
        FieldKind::Decimal => input.inputmode = "decimal",
        FieldKind::Integer => input.inputmode = "numeric",
        // A microchip number consists of digits, so offer the numeric keyboard.
        FieldKind::Text if field.name.as_str() == MICROCHIP => input.inputmode = "numeric",
        FieldKind::Text => {}
    }
    input.show()
}

/// Returns the values of an animal in readable form, each with the label of its field. Leaves out
/// long texts.
///
/// An estimated day of birth is rendered as such. The field that marks it as an estimate is
/// therefore left out, too.
pub(super) fn values_without_long_texts(
    desk: &Desk<'_>,
    fields: &FieldSet,
    values: &FieldValues,
) -> Vec<(String, Markup)> {
    let is_estimated = is_birth_estimated(fields, values);
    let mut labelled_values = Vec::new();
    for field in fields.all() {
        let is_left_out = field.kind == FieldKind::LongText || field.is_birth_estimate();
        if !is_left_out && let Some(value) = values.get(field.name.as_str()) {
            let shown_value = if field.is_birth() && is_estimated {
                estimated_birth(desk, value)
            } else {
                value_markup(desk, field, value)
            };
            labelled_values.push((label_of(field), shown_value));
        }
    }
    labelled_values
}

/// Whether the values of an animal mark its day of birth as an estimate.
pub(super) fn is_birth_estimated(fields: &FieldSet, values: &FieldValues) -> bool {
    match find_birth_estimate_field(fields) {
        Some(field) => values.get(field.name.as_str()) == Some(&FieldValue::Boolean(true)),
        None => false,
    }
}

/// Renders an estimated day of birth, such as `around 2024`. A value that is not a date is rendered
/// as it is.
pub(super) fn estimated_birth(desk: &Desk<'_>, value: &FieldValue) -> Markup {
    let text = value.to_string();
    let Ok(born) = text.parse::<Date>() else {
        return html! { (text) };
    };
    html! { (estimated_birth_in_words(born, parts::today(desk))) }
}

/// Renders a value in readable form, such as "yes" for `true`.
pub(super) fn value_markup(desk: &Desk<'_>, field: &FieldDefinition, value: &FieldValue) -> Markup {
    match value {
        FieldValue::Text(text) if field.is_price() => {
            html! { (amount(text, desk.currency())) }
        }
        FieldValue::Text(text) if field.kind == FieldKind::Date => html! { (wording::day(text)) },
        FieldValue::Text(text) if field.kind == FieldKind::Decimal => {
            html! { (numbers().number(text)) }
        }
        FieldValue::Text(text) => markup::lines(field.display_text(text)),
        FieldValue::Integer(number) => html! { (number) },
        FieldValue::Boolean(true) => html! { (window_texts().yes) },
        FieldValue::Boolean(false) => html! { (window_texts().no) },
    }
}
