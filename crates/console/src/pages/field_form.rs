//! The form in which a manager defines a field of the animals: renders its inputs, and reads the
//! submitted values.
//!
//! A field of the kind `choice` has choices: stored values such as `cat`, which can have labels
//! such as `Cats`.

use std::collections::BTreeMap;

use petstore_domain::store_area::{
    Choices, FieldDefinition, FieldKind, FieldName, Label, search_key,
};
use petstore_languages::fee_label;

use crate::prelude::*;

/// The prefix of the name of the input for the label of a choice: the input of the choice `cat` is
/// `label.cat`.
const CHOICE_LABEL_PREFIX: &str = "label.";

/// The maximum length of a suggested field name, in characters. A longer name is hard to read.
const MAX_NAME_LENGTH: usize = 32;

/// Returns the name of the input for the label of a choice.
fn choice_label_input(value: &str) -> String {
    format!("{CHOICE_LABEL_PREFIX}{value}")
}

/// Returns the label of a kind of fields, such as "Number".
pub(super) fn kind_label(kind: FieldKind) -> &'static str {
    let (label, _) = texts().kind(kind);
    label
}

/// Returns the values of the choices of a field. A field of another kind has none.
pub(super) fn choice_values(field: &FieldDefinition) -> &[String] {
    field
        .choices
        .as_ref()
        .map(Choices::values)
        .unwrap_or_default()
}

/// Returns the initial values of the form that edits a stored field. The `choices` input stays
/// empty, because it only adds choices.
pub(super) fn form_of_field(field: &FieldDefinition) -> Form {
    let label = fee_label(field).unwrap_or(field.label.as_str());
    let position = field.position.to_string();
    let version = field.version.to_string();
    let properties = [
        ("label", label),
        ("kind", field.kind.as_str()),
        ("position", &*position),
        ("public", checkbox_value(field.is_public)),
        ("unique", checkbox_value(field.is_unique)),
        ("version", &*version),
    ];
    let mut inputs = Vec::new();
    for (name, value) in properties {
        inputs.push((name.to_owned(), value.to_owned()));
    }
    for choice in choice_values(field) {
        let choice_label = field.display_text(choice).to_owned();
        inputs.push((choice_label_input(choice), choice_label));
    }
    inputs.into_iter().collect()
}

/// Returns the value that a form submits for a checkbox; empty if it is unchecked.
fn checkbox_value(is_checked: bool) -> &'static str {
    if is_checked { "yes" } else { "" }
}

/// Renders the inputs for the kind, the new choices and the position of a field, and the checkboxes
/// that make it public and unique.
pub(super) fn property_inputs(form: &Form, errors: &Errors) -> Markup {
    let mut kind_options = vec![("", texts().choose_kind)];
    for kind in &FieldKind::ALL {
        kind_options.push((kind.as_str(), kind_label(*kind)));
    }
    let has_choices = form
        .fields()
        .iter()
        .any(|(name, _)| name.starts_with(CHOICE_LABEL_PREFIX));
    let choices_label = if has_choices {
        texts().more_choices
    } else {
        texts().field_choices
    };
    let choices_input = Input::from_form("choices", choices_label, form, errors)
        .with_hint(texts().field_choices_hint)
        .make_multiline()
        .make_optional();
    let position_input = Input::from_form("position", texts().field_position, form, errors)
        .with_hint(texts().field_position_hint);
    let public_box = Input::from_form("public", texts().field_public, form, errors)
        .with_hint(texts().field_public_hint);
    let unique_box = Input::from_form("unique", texts().field_unique, form, errors)
        .with_hint(texts().field_unique_hint);
    html! {
        (Input::from_form("kind", texts().field_kind, form, errors).show_dropdown(&kind_options))
        (choices_input.show())
        (position_input.show())
        fieldset {
            (checkbox(&public_box))
            (checkbox(&unique_box))
        }
    }
}

/// Renders an input as a checkbox, which is checked if the input has a value.
fn checkbox(input: &Input<'_>) -> Markup {
    let is_checked = !input.value.trim().is_empty();
    html! {
        div {
            label {
                input #(input.id) type="checkbox" name=(input.id) value="yes" checked[is_checked];
                (input.label) " " span.hint { (input.hint.unwrap_or_default()) }
            }
            @if let Some(error) = input.error { p.error { (error) } }
        }
    }
}

/// Renders the choices of a field, each with an input for its label and a checkbox that removes it.
pub(super) fn choice_inputs(field: &FieldDefinition, form: &Form, errors: &Errors) -> Markup {
    html! {
        @if !choice_values(field).is_empty() {
            fieldset {
                legend { (texts().field_choices) }
                p.hint { (texts().field_labels_hint) }
                @for choice in choice_values(field) { (choice_row(field, choice, form, errors)) }
            }
        }
    }
}

/// Renders a choice with the input for its label and the checkbox that removes it.
fn choice_row(field: &FieldDefinition, choice: &str, form: &Form, errors: &Errors) -> Markup {
    let id = choice_label_input(choice);
    let readable_choice = markup::readable(choice, SHORT_LENGTH);
    let mut label_input = Input::from_form(&id, &readable_choice, form, errors);
    // A submitted form has no label for a choice that somebody else added in the meantime.
    if form.all(&id).next().is_none() {
        label_input.value = field.display_text(choice);
    }
    html! {
        div.row {
            (label_input.show())
            label {
                input type="checkbox" name="remove" value=(choice) checked[is_removed(form, choice)];
                (texts().remove_choice) span.hidden { (window_texts().colon) (readable_choice) }
            }
        }
    }
}

/// Whether the form marks a choice for removal.
fn is_removed(form: &Form, choice: &str) -> bool {
    form.all("remove")
        .any(|removed_choice| removed_choice == choice)
}

/// A reader of the submitted form of a field.
pub(super) struct FieldFormReader<'r> {
    pub(super) form: &'r Form,
    /// The stored field; `None` for a new one.
    pub(super) current_field: Option<&'r FieldDefinition>,
    /// The position of the field if the form has none.
    pub(super) default_position: i64,
}

impl FieldFormReader<'_> {
    /// Reads the form as a field with this name. Adds an error for each invalid value.
    ///
    /// Returns `None` if the name is missing, or if there is any error. All inputs are read even
    /// without a name, so that the member sees all errors at once.
    pub(super) fn read(
        &self,
        name: Option<FieldName>,
        errors: &mut Errors,
    ) -> Option<FieldDefinition> {
        let form = self.form;
        let label = errors.ok_or_add("label", self.read_label());
        let kind = errors.ok_or_add("kind", self.read_kind());
        let mut choices = None;
        if kind == Some(FieldKind::Choice) {
            choices = self.read_choices(errors);
        } else if !form.get("choices").is_empty() {
            errors.add("choices", texts().field_choices_hint);
        }
        let position = errors.ok_or_add("position", self.read_position());

        let field = FieldDefinition {
            name: name?,
            label: label?,
            kind: kind?,
            choices,
            is_public: !form.get("public").is_empty(),
            is_unique: !form.get("unique").is_empty(),
            position: position?,
            // The store sets the version.
            version: 0,
        };
        if !errors.is_empty() {
            return None;
        }
        // The choices fit the kind by now, so the only possible problem is a kind that cannot be
        // unique.
        let cannot_be_unique = field.find_problem().is_some();
        if cannot_be_unique {
            errors.add("unique", texts().field_unique_hint);
            return None;
        }
        Some(field)
    }

    /// Reads the label, or returns the message that it is invalid.
    ///
    /// In a shelter, the form shows [`fee_label`] instead of the stored label of the price field.
    /// Unless the member edits this label, the stored one stays.
    fn read_label(&self) -> Result<Label, &'static str> {
        if let Some(field) = self.current_field
            && fee_label(field) == Some(self.form.get("label"))
        {
            return Ok(field.label.clone());
        }
        // The messages of `parse_label` are about the name of a category.
        forms::parse_label(self.form.get("label")).map_err(|_| texts().field_label_invalid)
    }

    /// Reads the kind, or returns the message that it is missing.
    fn read_kind(&self) -> Result<FieldKind, &'static str> {
        self.form
            .get("kind")
            .parse()
            .map_err(|_| texts().field_kind_missing)
    }

    /// Reads the position, or returns the message that it is invalid.
    fn read_position(&self) -> Result<i64, &'static str> {
        let position = match self.form.get("position") {
            "" => Some(self.default_position),
            _ => self.form.integer("position"),
        };
        match position {
            Some(position) if (0..=FieldDefinition::HIGHEST_POSITION).contains(&position) => {
                Ok(position)
            }
            _ => Err(texts().field_position_invalid),
        }
    }

    /// Reads the choices with their labels. If they are invalid, adds an error and returns `None`.
    ///
    /// First come the current choices that the form does not remove, then the new choices from the
    /// lines of the `choices` input.
    fn read_choices(&self, errors: &mut Errors) -> Option<Choices> {
        let current_values = self.current_field.map(choice_values).unwrap_or_default();
        let mut values = current_values.to_vec();
        values.retain(|value| !is_removed(self.form, value));
        for line in self.form.raw("choices").lines() {
            let value = line.trim().to_owned();
            if !value.is_empty() && !current_values.contains(&value) {
                values.push(value);
            }
        }

        let labels = self.read_choice_labels(&values);
        let choices = Choices::new(values).ok_or(texts().field_choices_invalid);
        let choices = errors.ok_or_add("choices", choices)?;
        let labelled_choices = choices
            .with_labels(labels)
            .ok_or(texts().field_labels_invalid);
        errors.ok_or_add("choices", labelled_choices)
    }

    /// Reads the labels of choices. The keys of the result are the values of the choices. A choice
    /// without an input in the form keeps its current label.
    ///
    /// A label that is empty or equal to the value is left out, because a choice without a label is
    /// displayed as its value.
    fn read_choice_labels(&self, values: &[String]) -> BTreeMap<String, String> {
        let current_choices = self.current_field.and_then(|field| field.choices.as_ref());
        let mut labels = match current_choices {
            Some(choices) => choices.labels().clone(),
            None => BTreeMap::new(),
        };
        for value in values {
            let Some(label) = self.form.all(&choice_label_input(value)).next() else {
                continue;
            };
            labels.remove(value);
            let label = label.trim();
            if !label.is_empty() && label != value {
                labels.insert(value.clone(), label.to_owned());
            }
        }
        labels
    }
}

/// Derives a field name from a label, such as `coat_length` from "Coat length".
///
/// The result is empty if the label has no Latin letter.
pub(super) fn suggest_name(label: &str) -> String {
    let plain_label = search_key(label);
    let words: Vec<&str> = plain_label
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined_words = words.join("_");
    // The name of a field must begin with a letter.
    let name = joined_words.trim_start_matches(|character: char| !character.is_ascii_lowercase());
    name.chars().take(MAX_NAME_LENGTH).collect()
}

/// Returns the label of an input and its value as readable text, for the messages about changes
/// that somebody else made at the same time. Returns `None` for an unknown input.
pub(super) fn input_in_words(name: &str, value: &str) -> Option<(String, String)> {
    let label = match name {
        "label" => texts().field_label,
        "kind" => texts().field_kind,
        "position" => texts().field_position,
        "public" => texts().field_public,
        "unique" => texts().field_unique,
        choice_input => choice_input.strip_prefix(CHOICE_LABEL_PREFIX)?,
    };
    let words = match (name, value) {
        ("public" | "unique", "") => window_texts().no.to_owned(),
        ("public" | "unique", _) => window_texts().yes.to_owned(),
        ("kind", kind) => match kind.parse() {
            Ok(kind) => kind_label(kind).to_owned(),
            Err(_) => kind.to_owned(),
        },
        _ => markup::readable(value, SHORT_LENGTH),
    };
    Some((markup::readable(label, SHORT_LENGTH), words))
}
