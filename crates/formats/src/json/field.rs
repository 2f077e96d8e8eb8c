//! A field as JSON.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::BTreeMap;

use petstore_domain::store_area::{Choices, FieldDefinition, FieldName};
use serde_json::value::RawValue;

use super::{
    Invalid, Object,
    members::{Members, Version, values},
};

/// The members that a request can have.
pub const FIELD: [&str; 7] =
    ["label", "kind", "choices", "choiceLabels", "public", "unique", "position"];

/// The labels of choices, and the position of a field.
struct ChoiceLabels(BTreeMap<String, String>);
struct Position(i64);

values! {
    FieldName: Self::IS, |value| Self::new(&super::string(value)?);
    Choices: "an array of 1 to 100 strings, each of 1 to 64 characters without U+0000, which differ in \
              more than their case", |value| choices(value);
    ChoiceLabels: LABELS_ARE, |value| choice_labels(value).map(Self);
    Position: "an integer from 0 to 10000", |value| {
        let is_place = |place: &i64| (0..=FieldDefinition::HIGHEST_POSITION).contains(place);
        super::integer(value).filter(is_place).map(Self)
    };
}

const LABELS_ARE: &str = "an object from values to labels, at most 200, each a string of 1 to 100 characters without \
    U+0000, which differ from each other and from all values in more than their case";
fn choices(value: &RawValue) -> Option<Choices> {
    let elements = super::elements(value.get().as_bytes()).ok()?;
    Choices::new(elements.into_iter().map(super::string).collect::<Option<_>>()?)
}

fn choice_labels(value: &RawValue) -> Option<BTreeMap<String, String>> {
    let members = super::members(value.get().as_bytes(), "").ok()?;
    members.into_iter().map(|(value, label)| Some((value, super::string(label)?))).collect()
}

/// The field with this name in the members of a request. `None` without a name, if these are valid.
pub fn read_field(
    name: Option<FieldName>,
    members: &Members<'_>,
) -> Result<Option<FieldDefinition>, Invalid> {
    let label = members.required("label")?;
    let kind = members.required("kind")?;
    let choices = members.patch::<Choices>("choices")?.set();
    let labels = members.patch("choiceLabels")?.set().map(|ChoiceLabels(labels)| labels);
    let choices = match (choices, labels) {
        (Some(choices), Some(labels)) => Some(
            choices
                .labelled(labels)
                .ok_or_else(|| Invalid::of(&format!("choiceLabels must be {LABELS_ARE}.")))?,
        ),
        (None, Some(_)) => {
            let problem = "choiceLabels must be null for every kind other than choice.";
            return Err(Invalid::of(problem));
        }
        (choices, None) => choices,
    };
    let is_public = members.optional("public")?.unwrap_or_default();
    let is_unique = members.optional("unique")?.unwrap_or_default();
    let position = members.optional("position")?.map_or(0, |Position(place)| place);
    let Some(name) = name else { return Ok(None) };
    let version = 1;
    let field =
        FieldDefinition { name, label, kind, choices, is_public, is_unique, position, version };
    field.problem().map_or(Ok(Some(field)), |problem| Err(Invalid::of(problem)))
}

/// A field in a file.
pub(crate) fn read_whole_field(object: &[u8]) -> Result<FieldDefinition, Invalid> {
    let names = [&["name", "version"], &FIELD[..]].concat();
    let members = Members::of(object, "The field", &names)?;
    let (name, Version(version)) = (members.required("name")?, members.required("version")?);
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
        object.texts("choices", choices.all().iter().map(String::as_str));
    });
    object.or_null("choiceLabels", field.choices.as_ref(), |object, choices| {
        object.name("choiceLabels").extend(super::render(choices.labels()));
    });
    object.put("public", &field.is_public);
    object.put("unique", &field.is_unique);
    object.integer("position", field.position);
    object.integer("version", field.version);
    object.end();
}
