//! The definition of a field as JSON.

use std::collections::BTreeMap;

use petstore_domain::store_area::{Choices, FieldDefinition, FieldKind, FieldName, Label, Patch};
use serde_json::{json, value::RawValue};

use super::{
    Invalid, Object,
    member_values::Version,
    members::{Body, Members, bodies, values},
};

bodies! {
    FieldInput: label, kind, choices, choice_labels as choiceLabels, is_public as public,
        is_unique as unique, position;
}

/// The body of `putField`.
pub struct FieldInput {
    label: Label,
    kind: FieldKind,
    choices: Patch<Choices>,
    choice_labels: Patch<ChoiceLabels>,
    is_public: Option<bool>,
    is_unique: Option<bool>,
    position: Option<Position>,
}

/// The labels of choices, by the values of the choices.
struct ChoiceLabels(BTreeMap<String, String>);

/// The position of a field among all fields.
struct Position(i64);

values! {
    FieldName: Self::RULE, |value| Self::new(&super::as_string(value)?);
    Choices: "an array of 1 to 100 strings, each of 1 to 64 characters without U+0000, which differ in \
              more than their case",
        |value| read_choices(value),
        json!({ "type": "array" });
    ChoiceLabels: CHOICE_LABELS_RULE,
        |value| read_choice_labels(value).map(Self),
        json!({ "type": "object" });
    Position: "an integer from 0 to 10000",
        |value| read_position(value).map(Self),
        json!({ "type": "integer", "minimum": 0, "maximum": FieldDefinition::HIGHEST_POSITION });
}

/// The rule for [`ChoiceLabels`], which completes the sentence "The member must be …".
const CHOICE_LABELS_RULE: &str = "an object from values to labels, at most 200, each a string of 1 to 100 characters without \
    U+0000, which differ from each other and from all values in more than their case";

fn read_choices(value: &RawValue) -> Option<Choices> {
    let elements = super::parse_elements(value.get().as_bytes()).ok()?;
    let values: Option<Vec<String>> = elements.into_iter().map(super::as_string).collect();
    Choices::new(values?)
}

fn read_choice_labels(value: &RawValue) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    // The name of the object is only for messages, which are not used here.
    for (value, label) in super::parse_members(value.get().as_bytes(), "").ok()? {
        labels.insert(value, super::as_string(label)?);
    }
    Some(labels)
}

fn read_position(value: &RawValue) -> Option<i64> {
    let position = super::as_integer(value)?;
    if (0..=FieldDefinition::HIGHEST_POSITION).contains(&position) {
        Some(position)
    } else {
        None
    }
}

/// Reads the definition of a field from the members of a request. The name of the field comes from
/// the path of the request, and is `None` if the path has no valid name.
///
/// The members are checked first, so that a client learns of an invalid body even if there is no
/// such field. If all members are valid and there is no name, returns `Ok(None)`. The version of
/// the result is always 1, because the members of a request have none.
pub fn read_field(
    name: Option<FieldName>,
    members: &Members<'_>,
) -> Result<Option<FieldDefinition>, Invalid> {
    let input: FieldInput = members.read()?;
    let choices = add_labels(input.choices.into_value(), input.choice_labels.into_value())?;
    let Some(name) = name else {
        return Ok(None);
    };

    let field = FieldDefinition {
        name,
        label: input.label,
        kind: input.kind,
        choices,
        is_public: input.is_public.unwrap_or_default(),
        is_unique: input.is_unique.unwrap_or_default(),
        position: input.position.map_or(0, |Position(number)| number),
        version: 1,
    };
    match field.find_problem() {
        Some(problem) => Err(Invalid::from_reason(problem)),
        None => Ok(Some(field)),
    }
}

/// Adds labels to choices. Fails if there are labels without choices.
fn add_labels(
    choices: Option<Choices>,
    labels: Option<ChoiceLabels>,
) -> Result<Option<Choices>, Invalid> {
    let Some(ChoiceLabels(labels)) = labels else {
        return Ok(choices);
    };
    let Some(choices) = choices else {
        return Err(Invalid::from_reason(
            "choiceLabels must be null for every kind other than choice.",
        ));
    };
    match choices.with_labels(labels) {
        Some(choices) => Ok(Some(choices)),
        None => Err(Invalid::Value(format!(
            "choiceLabels must be {CHOICE_LABELS_RULE}."
        ))),
    }
}

/// Reads the definition of a field from an export, including its name and its version.
pub(crate) fn read_exported_field(object: &[u8]) -> Result<FieldDefinition, Invalid> {
    let names = [&["name", "version"], FieldInput::NAMES].concat();
    let members = Members::parse(object, "The field", &names)?;
    let name = members.required("name")?;
    let Version(version) = members.required("version")?;
    match read_field(Some(name), &members)? {
        Some(field) => Ok(FieldDefinition { version, ..field }),
        None => Err(Invalid::from_reason("name is missing")),
    }
}

/// Writes the definition of a field.
pub fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    let mut object = Object::begin(out);
    object.put("name", &field.name);
    object.put("label", &field.label);
    object.put("kind", &field.kind);
    let choices = field.choices.as_ref();
    object.or_null("choices", choices, |object, name, choices| {
        object.texts(name, choices.values().iter().map(String::as_str));
    });
    object.or_null("choiceLabels", choices, |object, name, choices| {
        let labels = super::render(choices.labels());
        object.begin_member(name).extend(labels);
    });
    object.put("public", &field.is_public);
    object.put("unique", &field.is_unique);
    object.integer("position", field.position);
    object.integer("version", field.version);
    object.end();
}
