//! A field as JSON.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::BTreeMap;

use petstore_domain::store_area::{Choices, FieldDefinition, FieldKind, FieldName, Label, Patch};
use serde_json::{json, value::RawValue};

use super::{
    Invalid, Object,
    members::{Body, Members, Version, bodies, values},
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

/// The labels of choices, and the position of a field.
struct ChoiceLabels(BTreeMap<String, String>);
struct Position(i64);

values! {
    FieldName: Self::RULE, |value| Self::new(&super::string(value)?);
    Choices: "an array of 1 to 100 strings, each of 1 to 64 characters without U+0000, which differ in \
              more than their case", |value| choices(value), json!({ "type": "array" });
    ChoiceLabels: LABELS_ARE, |value| choice_labels(value).map(Self), json!({ "type": "object" });
    Position: "an integer from 0 to 10000", |value| {
        let is_place = |place: &i64| (0..=FieldDefinition::HIGHEST_POSITION).contains(place);
        super::integer(value).filter(is_place).map(Self)
    },
        json!({ "type": "integer", "minimum": 0, "maximum": FieldDefinition::HIGHEST_POSITION });
}

const LABELS_ARE: &str = "an object from values to labels, at most 200, each a string of 1 to 100 characters without \
    U+0000, which differ from each other and from all values in more than their case";
fn choices(value: &RawValue) -> Option<Choices> {
    let elements = super::elements(value.get().as_bytes()).ok()?;
    Choices::new(
        elements
            .into_iter()
            .map(super::string)
            .collect::<Option<_>>()?,
    )
}

fn choice_labels(value: &RawValue) -> Option<BTreeMap<String, String>> {
    let members = super::members(value.get().as_bytes(), "").ok()?;
    members
        .into_iter()
        .map(|(value, label)| Some((value, super::string(label)?)))
        .collect()
}

/// Returns the field with this name in the members of a request. `None` without a name, if these
/// are valid.
pub fn read_field(
    name: Option<FieldName>,
    members: &Members<'_>,
) -> Result<Option<FieldDefinition>, Invalid> {
    let input: FieldInput = members.read()?;
    let labels = input
        .choice_labels
        .into_value()
        .map(|ChoiceLabels(labels)| labels);
    let choices = match (input.choices.into_value(), labels) {
        (Some(choices), Some(labels)) => Some(
            choices
                .with_labels(labels)
                .ok_or_else(|| Invalid::of(&format!("choiceLabels must be {LABELS_ARE}.")))?,
        ),
        (None, Some(_)) => {
            let problem = "choiceLabels must be null for every kind other than choice.";
            return Err(Invalid::of(problem));
        }
        (choices, None) => choices,
    };
    let Some(name) = name else { return Ok(None) };
    let field = FieldDefinition {
        name,
        label: input.label,
        kind: input.kind,
        choices,
        is_public: input.is_public.unwrap_or_default(),
        is_unique: input.is_unique.unwrap_or_default(),
        position: input.position.map_or(0, |Position(place)| place),
        version: 1,
    };
    field
        .problem()
        .map_or(Ok(Some(field)), |problem| Err(Invalid::of(problem)))
}

/// Returns a field in a file.
pub(crate) fn read_whole_field(object: &[u8]) -> Result<FieldDefinition, Invalid> {
    let names = [&["name", "version"], FieldInput::NAMES].concat();
    let members = Members::of(object, "The field", &names)?;
    let name = members.required("name")?;
    let Version(version) = members.required("version")?;
    let field = read_field(Some(name), &members)?;
    field
        .map(|field| FieldDefinition { version, ..field })
        .ok_or_else(|| Invalid::of("name is missing"))
}

pub fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    let mut object = Object::begin(out);
    object.put("name", &field.name);
    object.put("label", &field.label);
    object.put("kind", &field.kind);
    object.or_null("choices", field.choices.as_ref(), |object, choices| {
        object.texts("choices", choices.values().iter().map(String::as_str));
    });
    object.or_null("choiceLabels", field.choices.as_ref(), |object, choices| {
        object
            .name("choiceLabels")
            .extend(super::render(choices.labels()));
    });
    object.put("public", &field.is_public);
    object.put("unique", &field.is_unique);
    object.integer("position", field.position);
    object.integer("version", field.version);
    object.end();
}
