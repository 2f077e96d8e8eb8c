//! The form of a field: its inputs, and how the typed values are read.

use std::collections::BTreeMap;

use petstore_domain::store_area::{
    Choices, FieldDefinition, FieldKind, FieldName, Label, search_key,
};

use petstore_languages::fee_label;

use crate::prelude::*;

/// The prefix of the name of the input for the label of a choice, before the value of the choice.
const CHOICE_LABEL_PREFIX: &str = "label.";

/// The largest number of characters in a name that a label suggests.
const MAX_NAME_LENGTH: usize = 32;

/// Returns the name of the input for the label of a choice.
fn choice_label_input(value: &str) -> String {
    format!("{CHOICE_LABEL_PREFIX}{value}")
}

/// Returns the values of the choices of a field.
pub(super) fn choice_values(field: &FieldDefinition) -> &[String] {
    field
        .choices
        .as_ref()
        .map(Choices::values)
        .unwrap_or_default()
}

/// Returns the form that shows a field as it is. Its input for choices is empty, because it only adds choices.
pub(super) fn form_of_field(field: &FieldDefinition) -> Form {
    let label = fee_label(field).unwrap_or(field.label.as_str());
    let position = field.position.to_string();
    let version = field.version.to_string();
    let members = [
        ("label", label),
        ("kind", field.kind.as_str()),
        ("position", &*position),
        ("public", box_value(field.is_public)),
        ("unique", box_value(field.is_unique)),
        ("version", &*version),
    ];
    let mut inputs = Vec::new();
    for (name, value) in members {
        inputs.push((name.to_owned(), value.to_owned()));
    }
    for value in choice_values(field) {
        inputs.push((
            choice_label_input(value),
            field.display_text(value).to_owned(),
        ));
    }
    inputs.into_iter().collect()
}

/// Returns the value of a box in a form, with a tick or without.
fn box_value(is_ticked: bool) -> &'static str {
    if is_ticked { "yes" } else { "" }
}

/// Shows the inputs for all members of a field except its label and its name.
pub(super) fn inputs(form: &Form, errors: &Errors) -> Markup {
    let mut kind_options = vec![("", texts().choose_kind)];
    for kind in &FieldKind::ALL {
        kind_options.push((kind.as_str(), texts().kind(*kind).0));
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
        (Input::from_form("kind", texts().field_kind, form, errors).choose(&kind_options))
        (choices_input.show())
        (position_input.show())
        fieldset {
            (tick_box(&public_box))
            (tick_box(&unique_box))
        }
    }
}

/// Shows an input as a box, which has a tick if the input has a value.
fn tick_box(input: &Input<'_>) -> Markup {
    let is_ticked = !input.value.trim().is_empty();
    html! {
        div {
            label {
                input #(input.id) type="checkbox" name=(input.id) value="yes" checked[is_ticked];
                (input.label) " " span.hint { (input.hint.unwrap_or_default()) }
            }
            @if let Some(error) = input.error { p.error { (error) } }
        }
    }
}

/// Shows the choices of a field, each with an input for its label and a box that removes it.
pub(super) fn choice_inputs(field: &FieldDefinition, form: &Form, errors: &Errors) -> Markup {
    html! {
        @if !choice_values(field).is_empty() {
            fieldset {
                legend { (texts().field_choices) }
                p.hint { (texts().field_labels_hint) }
                @for value in choice_values(field) { (choice_row(field, value, form, errors)) }
            }
        }
    }
}

/// Shows a choice with the input for its label and the box that removes it.
fn choice_row(field: &FieldDefinition, value: &str, form: &Form, errors: &Errors) -> Markup {
    let id = choice_label_input(value);
    let readable_value = markup::readable(value, SHORT_LENGTH);
    let mut label_input = Input::from_form(&id, &readable_value, form, errors);
    // Somebody else has added the choice since the form was shown.
    if form.all(&id).next().is_none() {
        label_input.value = field.display_text(value);
    }
    html! {
        div.row {
            (label_input.show())
            label {
                input type="checkbox" name="remove" value=(value) checked[is_removed(form, value)];
                (texts().remove_choice) span.hidden { (window_texts().colon) (readable_value) }
            }
        }
    }
}

/// Whether a form removes a choice.
fn is_removed(form: &Form, value: &str) -> bool {
    form.all("remove")
        .any(|removed_value| removed_value == value)
}

/// A reader of the form of a field.
pub(super) struct FieldFormReader<'r> {
    pub(super) form: &'r Form,
    /// The field as it is; `None` for a new field.
    pub(super) present_field: Option<&'r FieldDefinition>,
    /// The position of the field if none was typed.
    pub(super) default_position: i64,
}

impl FieldFormReader<'_> {
    /// Reads the form as a field with this name. Each invalid value becomes an error of its input.
    ///
    /// Reads all inputs even without a name, to find all errors. Returns `None` if there are errors.
    pub(super) fn read(
        &self,
        name: Option<FieldName>,
        errors: &mut Errors,
    ) -> Option<FieldDefinition> {
        let form = self.form;
        let label = errors.take("label", self.read_label());
        let kind = errors.take("kind", self.read_kind());
        let mut choices = None;
        if kind == Some(FieldKind::Choice) {
            choices = self.read_choices(errors);
        } else if !form.get("choices").is_empty() {
            errors.add("choices", texts().field_choices_hint);
        }
        let position = errors.take("position", self.read_position());

        let field = FieldDefinition {
            name: name?,
            label: label?,
            kind: kind?,
            choices,
            is_public: !form.get("public").is_empty(),
            is_unique: !form.get("unique").is_empty(),
            position: position?,
            version: 0,
        };
        if !errors.is_empty() {
            return None;
        }
        if field.problem().is_some() {
            errors.add("unique", texts().field_unique_hint);
            return None;
        }
        Some(field)
    }

    /// Reads the label, or returns the message that it is not valid. The label of the price in a shelter is not the stored
    /// one, which stays unless somebody types another.
    fn read_label(&self) -> Result<Label, &'static str> {
        if let Some(field) = self.present_field
            && fee_label(field) == Some(self.form.get("label"))
        {
            return Ok(field.label.clone());
        }
        forms::parse_label(self.form.get("label")).map_err(|_| texts().field_label_invalid)
    }

    /// Reads the kind, or returns the message that it is missing.
    fn read_kind(&self) -> Result<FieldKind, &'static str> {
        let kind = self.form.get("kind").parse();
        kind.map_err(|_| texts().field_kind_missing)
    }

    /// Reads the position, or returns the message that it is not valid.
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

    /// Reads the choices, each with its label: the present choices that the form does not remove, and the new choices that
    /// were typed, one on each line.
    fn read_choices(&self, errors: &mut Errors) -> Option<Choices> {
        let present_values = self.present_field.map(choice_values).unwrap_or_default();
        let mut values = present_values.to_vec();
        values.retain(|value| !is_removed(self.form, value));
        for line in self.form.raw("choices").lines() {
            let value = line.trim().to_owned();
            if !value.is_empty() && !present_values.contains(&value) {
                values.push(value);
            }
        }

        let labels = self.read_choice_labels(&values);
        let choices = Choices::new(values).ok_or(texts().field_choices_invalid);
        let choices = errors.take("choices", choices)?;
        let labelled_choices = choices
            .with_labels(labels)
            .ok_or(texts().field_labels_invalid);
        errors.take("choices", labelled_choices)
    }

    /// Reads the labels of choices, by the value of the choice. A choice without an input keeps its present label.
    ///
    /// A label that is empty, or that is the value itself, is not stored.
    fn read_choice_labels(&self, values: &[String]) -> BTreeMap<String, String> {
        let present_choices = self.present_field.and_then(|field| field.choices.as_ref());
        let mut labels = match present_choices {
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

/// Returns the name for programs that a label suggests, such as `coat_length` for "Coat length".
///
/// The name is empty if the label has no Latin letter.
pub(super) fn suggested_name(label: &str) -> String {
    let label = search_key(label);
    let words: Vec<&str> = label
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let name = words.join("_");
    let name = name.trim_start_matches(|character: char| !character.is_ascii_lowercase());
    name.chars().take(MAX_NAME_LENGTH).collect()
}

/// Returns the label of an input of the form, and a value of the input in words. Returns `None` for other names.
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
            Ok(kind) => texts().kind(kind).0.to_owned(),
            Err(_) => kind.to_owned(),
        },
        _ => markup::readable(value, SHORT_LENGTH),
    };
    Some((markup::readable(label, SHORT_LENGTH), words))
}
