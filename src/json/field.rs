//! A field as JSON.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{
    Invalid, Object,
    members::{BOOLEAN, Kind, LABEL, Members, VERSION},
};
use crate::domain::store_area::{Choices, Field, FieldDefinition, FieldKind, FieldName};

/// The members that a request can have.
pub(crate) const FIELD: [&str; 7] =
    ["label", "kind", "choices", "choiceLabels", "public", "unique", "position"];

const NAME: Kind<FieldName> =
    Kind { read: |value| FieldName::new(&super::string(value)?), is: FieldName::IS };
const KIND: Kind<FieldKind> = Kind {
    read: |value| super::string(value)?.parse().ok(),
    is: "one of text, longText, integer, decimal, date, boolean and choice",
};
const CHOICES: Kind<Choices> = Kind {
    read: choices,
    is: "an array of 1 to 100 strings, each of 1 to 64 characters without U+0000, which differ in \
         more than their case",
};
const CHOICE_LABELS: Kind<BTreeMap<String, String>> = Kind {
    read: |value| {
        let members = super::members(value.get().as_bytes(), "").ok()?;
        members.into_iter().map(|(value, label)| Some((value, super::string(label)?))).collect()
    },
    is: LABELS_ARE,
};
const LABELS_ARE: &str = "an object from values to labels, at most 200, each a string of 1 to 100 characters without \
    U+0000, which differ from each other and from all values in more than their case";
const POSITION: Kind<i64> = Kind {
    read: |value| {
        super::integer(value)
            .filter(|place| (0..=FieldDefinition::HIGHEST_POSITION).contains(place))
    },
    is: "an integer from 0 to 10000",
};

fn choices(value: &RawValue) -> Option<Choices> {
    let elements = super::elements(value.get().as_bytes()).ok()?;
    Choices::new(elements.into_iter().map(super::string).collect::<Option<_>>()?)
}

/// The field with this name in the members of a request. `None` without a name, if these are valid.
pub(crate) fn read_field(
    name: Option<FieldName>,
    members: &Members<'_>,
) -> Result<Option<FieldDefinition>, Invalid> {
    let label = members.required("label", &LABEL)?;
    let kind = members.required("kind", &KIND)?;
    let choices = match members.patch("choices", &CHOICES)? {
        Field::Set(choices) => Some(choices),
        Field::Keep | Field::Clear => None,
    };
    let labels = members.optional_or_null("choiceLabels", &CHOICE_LABELS)?;
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
    let is_public = members.optional("public", &BOOLEAN)?.unwrap_or_default();
    let is_unique = members.optional("unique", &BOOLEAN)?.unwrap_or_default();
    let position = members.optional("position", &POSITION)?.unwrap_or_default();
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
    let (name, version) =
        (members.required("name", &NAME)?, members.required("version", &VERSION)?);
    let field = read_field(Some(name), &members)?;
    field
        .map(|field| FieldDefinition { version, ..field })
        .ok_or_else(|| Invalid::of("name is missing"))
}

pub(crate) fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    let mut object = Object::begin(out);
    object.text("name", field.name.as_str());
    object.text("label", field.label.as_str());
    object.text("kind", field.kind.as_str());
    object.or_null("choices", field.choices.as_ref(), |object, choices| {
        object.texts("choices", choices.all().iter().map(String::as_str));
    });
    object.or_null("choiceLabels", field.choices.as_ref(), |object, choices| {
        object.name("choiceLabels").extend(super::render(choices.labels()));
    });
    object.boolean("public", field.is_public);
    object.boolean("unique", field.is_unique);
    object.integer("position", field.position);
    object.integer("version", field.version);
    object.end();
}
