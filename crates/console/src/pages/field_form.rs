//! The form of a field: its inputs, and what is typed into them.

use petstore_domain::store_area::{Choices, FieldDefinition, FieldKind, FieldName, normalized};

use crate::prelude::*;

/// The inputs for all members but the label and the name.
pub(super) fn inputs(form: &Form, errors: &Errors) -> Markup {
    let kinds = FieldKind::ALL.map(|kind| (kind.as_str(), texts().kind(kind).0));
    let kinds = [[("", texts().choose_kind)].as_slice(), &kinds].concat();
    let has_choices = form
        .fields()
        .iter()
        .any(|(name, _)| name.starts_with(LABEL));
    let label = if has_choices {
        texts().more_choices
    } else {
        texts().field_choices
    };
    let choices =
        Input::from_form("choices", label, form, errors).with_hint(texts().field_choices_hint);
    let position = Input::from_form("position", texts().field_position, form, errors);
    let boxes = [
        ("public", texts().field_public, texts().field_public_hint),
        ("unique", texts().field_unique, texts().field_unique_hint),
    ];
    html! {
        (Input::from_form("kind", texts().field_kind, form, errors).choose(&kinds))
        (choices.as_textarea().as_optional().show())
        (position.with_hint(texts().field_position_hint).show())
        fieldset {
            @for (name, label, hint) in boxes {
                div {
                    label {
                        input #(name) type="checkbox" name=(name) value="yes" checked[!form.get(name).is_empty()];
                        (label) " " span.hint { (hint) }
                    }
                    @if let Some(error) = errors.message_for(name) { p.error { (error) } }
                }
            }
        }
    }
}

/// How the name of the input for the label of a choice begins.
const LABEL: &str = "label.";

fn label_of(value: &str) -> String {
    format!("{LABEL}{value}")
}

/// The form of a field as it is. The text of its choices is for more of them.
pub(super) fn form_of(field: &FieldDefinition) -> Form {
    let checked = |is| if is { "yes" } else { "" };
    let members = [
        ("label", field.label.as_str()),
        ("kind", field.kind.as_str()),
        ("position", &field.position.to_string()),
        ("public", checked(field.is_public)),
        ("unique", checked(field.is_unique)),
        ("version", &field.version.to_string()),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let labels = values_of(field)
        .iter()
        .map(|value| (label_of(value), field.shown(value).to_owned()));
    members.into_iter().chain(labels).collect()
}

pub(super) fn values_of(field: &FieldDefinition) -> &[String] {
    field.choices.as_ref().map(Choices::all).unwrap_or_default()
}

/// The choices of a field, each with its label, and whether it is taken off.
pub(super) fn choices(field: &FieldDefinition, form: &Form, errors: &Errors) -> Markup {
    html! {
        @if !values_of(field).is_empty() {
            fieldset {
                legend { (texts().field_choices) }
                p.hint { (texts().field_labels_hint) }
                @for value in values_of(field) {
                    @let (id, shown) = (label_of(value), markup::readable(value, SHORT));
                    div.row {
                        @let input = Input::from_form(&id, &shown, form, errors);
                        // Somebody else has added it meanwhile.
                        @let is_new = form.all(&id).next().is_none();
                        @let label = if is_new { field.shown(value) } else { input.value };
                        (Input { value: label, ..input }.show())
                        label {
                            input type="checkbox" name="remove" value=(value)
                                checked[form.all("remove").any(|removed| removed == value)];
                            (texts().remove_choice) span.hidden { (window_texts().colon) (shown) }
                        }
                    }
                }
            }
        }
    }
}

/// The choices that were typed: those that the field had and nobody took off, and more. Each with its label.
fn read_choices(
    before: Option<&FieldDefinition>,
    form: &Form,
    errors: &mut Errors,
) -> Option<Choices> {
    let mut values = before.map(values_of).unwrap_or_default().to_vec();
    values.retain(|value| form.all("remove").all(|removed| removed != value));
    for line in form
        .raw("choices")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        if before.is_none_or(|before| !values_of(before).iter().any(|value| value == line)) {
            values.push(line.to_owned());
        }
    }
    let known = before
        .and_then(|before| before.choices.as_ref())
        .map(Choices::labels);
    let mut labels = known.cloned().unwrap_or_default();
    for value in &values {
        let Some(typed) = form.all(&label_of(value)).next().map(str::trim) else {
            continue;
        };
        labels.remove(value);
        if !typed.is_empty() && typed != value {
            labels.insert(value.clone(), typed.to_owned());
        }
    }
    let choices = Choices::new(values).ok_or_else(|| texts().field_choices_invalid);
    let choices = errors.take("choices", choices)?;
    let choices = choices
        .labelled(labels)
        .ok_or_else(|| texts().field_labels_invalid);
    errors.take("choices", choices)
}

/// The field that was typed, under this name. Reads all inputs even without one, to find all errors.
/// `next` is the position of a field for which none was typed. `before` is the field as it is, if there is one.
pub(super) fn read(
    name: Option<FieldName>,
    (before, next): (Option<&FieldDefinition>, i64),
    form: &Form,
    errors: &mut Errors,
) -> Option<FieldDefinition> {
    let label = forms::parse_label(form.get("label"));
    let label = errors.take("label", label.map_err(|_| texts().field_label_invalid));
    let kind: Result<FieldKind, _> = form.get("kind").parse();
    let kind = errors.take("kind", kind.map_err(|_| texts().field_kind_missing));
    let choices = match kind {
        Some(FieldKind::Choice) => read_choices(before, form, errors),
        _ if !form.get("choices").is_empty() => {
            errors.take("choices", Err(texts().field_choices_hint))
        }
        _ => None,
    };
    let position = match form.get("position") {
        "" => Some(next),
        _ => form.integer("position"),
    };
    let position = position.filter(|at| (0..=FieldDefinition::HIGHEST_POSITION).contains(at));
    let position = errors.take(
        "position",
        position.ok_or_else(|| texts().field_position_invalid),
    );
    let is = |name| !form.get(name).is_empty();
    let (is_public, is_unique) = (is("public"), is("unique"));
    let (name, label, kind, position) = (name?, label?, kind?, position?);
    if !errors.is_empty() {
        return None;
    }
    let field = FieldDefinition {
        name,
        label,
        kind,
        choices,
        is_public,
        is_unique,
        position,
        version: 0,
    };
    if field.problem().is_some() {
        errors.add("unique", texts().field_unique_hint);
    }
    errors.is_empty().then_some(field)
}

/// The name for programs that a label suggests, such as `coat_length` for "Coat length". Empty if it has none.
pub(super) fn name_of(label: &str) -> String {
    let label = normalized(label);
    let parts = label.split(|character: char| !character.is_ascii_alphanumeric());
    let name = parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    let name = name.trim_start_matches(|first: char| !first.is_ascii_lowercase());
    name.chars().take(32).collect()
}

/// The label of an input of the form, and a value of it in words.
pub(super) fn in_words(name: &str, value: &str) -> Option<(String, String)> {
    let label = match name {
        "label" => texts().field_label,
        "kind" => texts().field_kind,
        "position" => texts().field_position,
        "public" => texts().field_public,
        "unique" => texts().field_unique,
        choice => choice.strip_prefix(LABEL)?,
    };
    let words = match (name, value) {
        ("public" | "unique", "") => window_texts().no.to_owned(),
        ("public" | "unique", _) => window_texts().yes.to_owned(),
        ("kind", kind) => kind
            .parse()
            .map_or_else(|_| kind.to_owned(), |kind| texts().kind(kind).0.to_owned()),
        _ => markup::readable(value, SHORT),
    };
    Some((markup::readable(label, SHORT), words))
}
