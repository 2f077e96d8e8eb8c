//! The values of an animal's fields: in each form that has them, and on its page.

use jiff::Timestamp;
use petstore_domain::store_area::{
    Choices, Currency, FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValue, FieldValues,
    Given, is_shortened_number,
};

use super::cells;
pub(super) use crate::words::{in_words, input_of};
use crate::{merge, prelude::*, words::PREFIX};
pub(super) use petstore_languages::look::label_of;

/// So many inputs are always shown.
const SHOWN: usize = 6;

/// A value as an input holds it.
fn as_typed(kind: FieldKind, value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) if kind == FieldKind::Decimal => numbers().plain(text),
        FieldValue::Text(text) if kind != FieldKind::LongText => text.replace(['\r', '\n'], ""),
        value => value.to_string(),
    }
}

/// The inputs with the values of an animal, as a browser sends them.
pub(super) fn input_values(fields: &FieldSet, values: &FieldValues) -> Vec<(String, String)> {
    let typed = |field: &FieldDefinition| {
        let value = values.get(field.name.as_str());
        (
            input_of(field),
            value
                .map(|value| as_typed(field.kind, value))
                .unwrap_or_default(),
        )
    };
    fields.all().iter().map(typed).collect()
}

/// An input for each field but those with these names, in their order. Those behind the first ones are closed if
/// none has a value.
pub(super) fn inputs(fields: &FieldSet, but: &[&str], form: &Form, errors: &Errors) -> Markup {
    let shown = fields
        .all()
        .iter()
        .filter(|field| !but.contains(&field.name.as_str()));
    let shown: Vec<_> = shown.collect();
    let (first, others) = shown.split_at(shown.len().min(SHOWN));
    let is_used = |field: &&FieldDefinition| {
        let id = input_of(field);
        !form.get(&id).is_empty() || errors.message_for(&id).is_some()
    };
    html! {
        @for field in first { (input(field, form, errors)) }
        @if !others.is_empty() {
            details open[others.iter().any(is_used)] {
                summary { (texts().more_fields) }
                div.fields { @for field in others { (input(field, form, errors)) } }
            }
        }
        @for (name, _) in removed(fields, form) {
            @if let Some(error) = errors.message_for(name) { p.error #(name) tabindex="-1" { (error) } }
        }
    }
}

/// The values that were typed for fields deleted since the form was shown.
fn removed<'f>(fields: &FieldSet, form: &'f Form) -> impl Iterator<Item = &'f (String, String)> {
    form.fields().iter().filter(move |(name, typed)| {
        let is_removed = name
            .strip_prefix(PREFIX)
            .is_some_and(|name| fields.find(name).is_none());
        is_removed && !typed.trim().is_empty() && merge::is_touched(form, name)
    })
}

/// Names what was typed for fields that were deleted since the form was shown, because it cannot be saved.
pub(super) fn report_deleted_fields(fields: &FieldSet, form: &Form, errors: &mut Errors) {
    for (name, typed) in removed(fields, form) {
        let field = name.trim_start_matches(PREFIX);
        errors.add(
            name.clone(),
            texts().field_removed(
                &wording::readable_name(field),
                &markup::readable(typed, LONG),
            ),
        );
    }
}

/// What can be chosen for a field: nothing, its values, and the present one if it is no longer a value.
pub(super) fn options(field: &FieldDefinition, none: &str, value: &str) -> Vec<(String, String)> {
    let mut options = vec![(String::new(), none.to_owned())];
    if field.kind == FieldKind::Boolean {
        let words = [("true", window_texts().yes), ("false", window_texts().no)];
        options.extend(words.map(|(value, word)| (value.to_owned(), word.to_owned())));
        return options;
    }
    let all = field
        .choices
        .as_ref()
        .map(Choices::all)
        .unwrap_or_default()
        .iter();
    let other = Some(value).filter(|value| !value.is_empty() && all.clone().all(|of| of != value));
    let shown = |text: &str| (text.to_owned(), markup::readable(field.shown(text), SHORT));
    options.extend(all.map(String::as_str).chain(other).map(shown));
    options
}

pub(super) fn input(field: &FieldDefinition, form: &Form, errors: &Errors) -> Markup {
    let id = input_of(field);
    let label = label_of(field);
    let input = Input::from_form(&id, &label, form, errors);
    match field.kind {
        FieldKind::Choice | FieldKind::Boolean => {
            // One that is not offered any more can stay, but not be given.
            let value = if input.error.is_none() {
                input.value
            } else {
                ""
            };
            input.choose(&options(field, texts().no_value, value))
        }
        FieldKind::LongText => Input {
            kind: "textarea",
            ..input
        }
        .show(),
        FieldKind::Date => Input {
            kind: "date",
            ..input
        }
        .show(),
        FieldKind::Decimal => Input {
            inputmode: "decimal",
            ..input
        }
        .show(),
        FieldKind::Integer => Input {
            inputmode: "numeric",
            ..input
        }
        .show(),
        // A chip has digits only.
        FieldKind::Text if field.name.as_str() == "microchip" => Input {
            inputmode: "numeric",
            ..input
        }
        .show(),
        FieldKind::Text => input.show(),
    }
}

/// The typed values as a change of these. A value that an input cannot hold stays as it is, and so does
/// a field that the form did not have.
pub(super) fn patch(
    fields: &FieldSet,
    form: &Form,
    (before, now, currency): (&FieldValues, Timestamp, Option<&Currency>),
    errors: &mut Errors,
) -> FieldPatch {
    let mut patch = FieldPatch::new();
    for field in fields.all() {
        let (id, name) = (input_of(field), field.name.as_str());
        let Some(typed) = form.all(&id).next() else {
            continue;
        };
        let typed = match field.kind {
            FieldKind::Text => typed.to_owned(),
            // Browsers send CR LF.
            FieldKind::LongText => typed.replace("\r\n", "\n"),
            _ => typed.trim().to_owned(),
        };
        let label = label_of(field);
        let present = before.get(name);
        let shown = present.map(|value| as_typed(field.kind, value).replace("\r\n", "\n"));
        if shown.as_ref() == Some(&typed) {
            continue;
        }
        // Not every browser has an input for a date.
        let is_read = matches!(
            field.kind,
            FieldKind::Decimal | FieldKind::Integer | FieldKind::Date
        );
        let read = if is_read {
            cells::normalize(field, &typed, currency)
        } else {
            Ok(typed)
        };
        let typed = match read {
            Ok(typed) => typed,
            Err(message) => {
                errors.add(id, [&*label, window_texts().colon, &*message].concat());
                continue;
            }
        };
        if field.is_unique && is_shortened_number(&typed) {
            let shown = markup::readable(&typed, SHORT);
            errors.add(id, texts().number_shortened(&label, &shown));
            continue;
        }
        if typed.trim().is_empty() {
            if present.is_some() {
                patch.insert(name.to_owned(), Given::Clear);
            }
        } else if !is_read || present.is_none_or(|value| value.to_string() != typed) {
            let given = FieldPatch::from([(name.to_owned(), field.in_cell(&typed))]);
            if fields.apply(&FieldValues::NONE, &given, now).is_err() {
                let message = match field.kind {
                    FieldKind::Choice => {
                        texts().choice_removed(&label, &markup::readable(&typed, SHORT))
                    }
                    _ => wording::value_invalid(&label, field),
                };
                errors.add(id, message);
            }
            patch.extend(given);
        }
    }
    patch
}

/// The values that are set, each with the label of its field.
pub(super) fn set_values(
    desk: &Desk<'_>,
    fields: &FieldSet,
    values: &FieldValues,
) -> Vec<(String, Markup)> {
    let value = |field: &FieldDefinition| {
        let value = values.get(field.name.as_str())?;
        Some((label_of(field), value_markup(desk, field, value)))
    };
    fields.all().iter().filter_map(value).collect()
}

/// A value in words.
pub(super) fn value_markup(desk: &Desk<'_>, field: &FieldDefinition, value: &FieldValue) -> Markup {
    match value {
        FieldValue::Text(text) if field.is_price() => {
            html! { (amount(text, desk.currency())) }
        }
        FieldValue::Text(text) if field.kind == FieldKind::Date => html! { (wording::day(text)) },
        FieldValue::Text(text) if field.kind == FieldKind::Decimal => {
            html! { (numbers().number(text)) }
        }
        FieldValue::Text(text) => markup::lines(field.shown(text)),
        FieldValue::Integer(number) => html! { (number) },
        FieldValue::Boolean(true) => html! { (window_texts().yes) },
        FieldValue::Boolean(false) => html! { (window_texts().no) },
    }
}

/// The values in the store of all fields that the form has, and whether each differs from what was
/// typed.
pub(super) fn compared(
    desk: &Desk<'_>,
    fields: &FieldSet,
    values: &FieldValues,
    form: &Form,
) -> Vec<(String, Markup, bool)> {
    let changes = patch(
        fields,
        form,
        (values, desk.visit.now, desk.currency()),
        &mut Errors::default(),
    );
    let has_input = |field: &&FieldDefinition| form.all(&input_of(field)).next().is_some();
    let row = |field: &FieldDefinition| {
        let name = field.name.as_str();
        let value = values
            .get(name)
            .map(|value| value_markup(desk, field, value));
        let shown = value.unwrap_or_else(|| html! { (texts().no_value) });
        (label_of(field), shown, changes.contains_key(name))
    };
    fields.all().iter().filter(has_input).map(row).collect()
}
