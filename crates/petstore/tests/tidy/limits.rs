//! The limits in the document of the store area and in `docs/limits.md` are those of the code.

use std::collections::{BTreeMap, BTreeSet};

use petstore_domain::{
    Limit, PetId, PetName,
    store_area::{
        About, Address, AltText, ChangeType, Choices, Contact, ContractText, FieldDefinition,
        FieldName, FieldValues, Label, LinkLabel, Links, NAME_KEY_LENGTH, Note, NoteText, PetQuery,
        PhotoSize, Photos, Phrase, Reason, Reference, StoreName, Webhook,
    },
};
use serde_json::Value;

use crate::{files, sources};

fn declared() -> Value {
    serde_saphyr::from_str(include_str!("../../../../openapi/openapi-store.yaml")).unwrap()
}

fn has_label(value: &str, label: &str) -> bool {
    let choices = Choices::new(vec!["Calm".to_owned()]).unwrap();
    choices
        .with_labels([(value.to_owned(), label.to_owned())].into())
        .is_some()
}

/// Whether the code takes a text.
type Takes = fn(String) -> bool;

/// The texts of the document, with what takes them.
const TEXTS: [(&str, Takes); 18] = [
    ("Reference", |text| Reference::new(text).is_some()),
    ("Note", |text| Note::new(text).is_some()),
    ("NoteText", |text| NoteText::new(text).is_some()),
    ("ReasonText", |text| Reason::new(text).is_some()),
    ("Contact", |text| Contact::new(text).is_some()),
    ("Alt", |text| AltText::new(text).is_some()),
    ("CategoryLabel", |text| Label::new(text).is_some()),
    ("FieldLabel", |text| Label::new(text).is_some()),
    ("ProfileName", |text| StoreName::new(text).is_some()),
    ("ProfileAddress", |text| Address::new(text).is_some()),
    ("ProfileHours", |text| Address::new(text).is_some()),
    ("ProfileAbout", |text| About::new(text).is_some()),
    ("ProfileContract", |text| ContractText::new(text).is_some()),
    ("ProfileLink/properties/label", |text| {
        LinkLabel::new(text).is_some()
    }),
    ("WebhookDescription", |text| Label::new(text).is_some()),
    ("Choices/items", |text| Choices::new(vec![text]).is_some()),
    ("ChoiceLabels/propertyNames", |text| {
        has_label(&text, "Quiet")
    }),
    ("ChoiceLabels/additionalProperties", |text| {
        has_label("Calm", &text)
    }),
];

#[test]
fn the_longest_text_of_each_type_is_the_longest_in_the_document() {
    let declared = declared();
    for (path, is_valid) in TEXTS {
        let schema = declared
            .pointer(&format!("/components/schemas/{path}"))
            .unwrap();
        let longest = usize::try_from(schema["maxLength"].as_u64().unwrap()).unwrap();
        assert!(is_valid("é".repeat(longest)), "{path}");
        assert!(!is_valid("é".repeat(longest + 1)), "{path}");
        let may_be_empty = schema.get("minLength").is_none();
        assert_eq!(is_valid(String::new()), may_be_empty, "{path}");
    }
}

/// The value of the only constant of `src` with this name.
fn constant(name: &str) -> u64 {
    let start = format!("const {name}: ");
    let sources = sources();
    let lines = sources.iter().flat_map(|(_, text)| text.lines());
    let declarations: Vec<_> = lines.filter_map(|line| line.split_once(&start)).collect();
    assert_eq!(declarations.len(), 1, "constants with the name {name}");
    let (_, value) = declarations[0].1.split_once(" = ").unwrap();
    let value = value.trim_end_matches(';').replace('_', "");
    let (number, bits) = value.split_once(" << ").unwrap_or((&value, "0"));
    number.parse::<u64>().unwrap() << bits.parse::<u32>().unwrap()
}

/// Every upper limit in the document, by its path below the components.
fn upper_limits(value: &Value, path: &str, found: &mut BTreeMap<String, u64>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(elements) => (0..).map(|i: u8| i.to_string()).zip(elements).collect(),
        _ => vec![],
    };
    for (key, value) in children {
        let path = format!("{path}/{key}");
        match (key.as_str(), value.as_u64()) {
            ("maxLength" | "maxItems" | "maxProperties" | "maximum", Some(limit)) => {
                found.insert(path, limit);
            }
            ("example" | "examples", _) => {}
            _ => upper_limits(value, &path, found),
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn every_highest_number_in_the_document_is_that_of_the_code() {
    let mut declared_limits = BTreeMap::new();
    upper_limits(&declared()["components"], "", &mut declared_limits);
    let size = |number: usize| u64::try_from(number).unwrap();
    let (page, commands) = (u64::from(Limit::MAX), constant("MAX_COMMANDS"));
    let (changes, longer_side) = (
        constant("MAX_LIMIT"),
        u64::from(PhotoSize::Large.longer_side()),
    );
    let of_code = BTreeMap::from([
        ("/parameters/Limit/schema/maximum", page),
        ("/schemas/StorePets/maxItems", page),
        ("/schemas/Orders/maxItems", page),
        ("/schemas/Categories/maxItems", page),
        ("/schemas/PetNotes/maxItems", page),
        ("/schemas/AuditEntries/maxItems", page),
        ("/schemas/Attempts/maxItems", page),
        ("/parameters/ChangeLimit/schema/maximum", changes),
        ("/schemas/Changes/maxItems", changes),
        ("/schemas/Batch/maxItems", commands),
        ("/schemas/BatchResults/maxItems", commands),
        // No request changes more.
        ("/schemas/RevertResults/maxItems", commands),
        (
            "/schemas/BatchError/properties/failedIndex/maximum",
            commands - 1,
        ),
        (
            "/parameters/NameFilter/schema/maxLength",
            size(NAME_KEY_LENGTH),
        ),
        (
            "/parameters/PhraseFilter/schema/maxLength",
            size(Phrase::MAX_LENGTH),
        ),
        // Both ends of a range.
        ("/parameters/DateFilter/schema/maxProperties", 2),
        (
            "/parameters/FieldFilter/schema/maxProperties",
            size(PetQuery::MAX_VALUE_FILTERS),
        ),
        (
            "/schemas/FieldValues/maxProperties",
            size(FieldDefinition::MAX),
        ),
        ("/schemas/Fields/maxItems", size(FieldDefinition::MAX)),
        (
            "/schemas/FieldPosition/maximum",
            FieldDefinition::HIGHEST_POSITION.cast_unsigned(),
        ),
        (
            "/schemas/StorePet/properties/photos/maxItems",
            size(Photos::MAX),
        ),
        ("/schemas/PhotoOrder/maxItems", size(Photos::MAX)),
        (
            "/schemas/Photo/properties/position/maximum",
            size(Photos::MAX - 1),
        ),
        // Two numbers, which are shares of a side.
        ("/schemas/Focus/maxItems", 2),
        ("/schemas/Focus/items/maximum", 1),
        ("/schemas/Photo/properties/width/maximum", longer_side),
        ("/schemas/Photo/properties/height/maximum", longer_side),
        ("/schemas/Webhooks/maxItems", Webhook::MAX.cast_unsigned()),
        ("/schemas/ProfileLinks/maxItems", size(Links::MAX)),
        (
            "/schemas/ProfilePatch/properties/links/maxItems",
            size(Links::MAX),
        ),
        (
            "/schemas/WebhookTypes/maxItems",
            size(ChangeType::ALL.len()),
        ),
    ]);
    // Of these, the lengths of texts and the choices are compared with what the types take.
    let of_texts = TEXTS.map(|(path, _)| format!("/schemas/{path}/maxLength"));
    let others = [
        "/parameters/Cursor/schema/maxLength",
        "/parameters/After/schema/maxLength",
        "/parameters/LastEventId/schema/maxLength",
        "/schemas/Choices/maxItems",
        "/schemas/ChoiceLabels/maxProperties",
        "/schemas/ErrorStatus/maximum",
        "/schemas/Attempt/properties/status/maximum",
        "/schemas/WebhookTestMessage/properties/data/maxProperties",
        "/schemas/WebhookUrl/maxLength",
        "/schemas/ProfileEmail/maxLength",
        "/schemas/ProfileTelephone/maxLength",
        "/schemas/ProfileContactPage/maxLength",
        "/schemas/ProfileLink/properties/url/maxLength",
    ];
    let known: BTreeSet<&str> = of_texts.iter().map(String::as_str).chain(others).collect();
    for (path, limit) in &declared_limits {
        match of_code.get(path.as_str()) {
            Some(of_code) => assert_eq!(limit, of_code, "{path}"),
            None if known.contains(path.as_str()) => {}
            // A number of an animal, a version or another one that the database counts.
            None => assert_eq!(*limit, PetId::MAX.cast_unsigned(), "{path}"),
        }
    }
    for path in of_code.keys().chain(&known) {
        assert!(declared_limits.contains_key(*path), "{path}");
    }
    let many = |count: u64| Choices::new((0..count).map(|number| number.to_string()).collect());
    let most = declared_limits["/schemas/Choices/maxItems"];
    assert!(many(most).is_some() && many(most + 1).is_none());
    let labelled = |count: u64| {
        let labels = (0..count).map(|number| (number.to_string(), format!("label {number}")));
        many(1).unwrap().with_labels(labels.collect())
    };
    let most = declared_limits["/schemas/ChoiceLabels/maxProperties"];
    assert!(labelled(most).is_some() && labelled(most + 1).is_none());
    assert!(FieldName::new(&"a".repeat(32)).is_some() && FieldName::new(&"a".repeat(33)).is_none());
}

/// A number as people write it.
fn written(number: u64) -> String {
    match number {
        1_000.. if number.is_multiple_of(1 << 20) => format!("{} MiB", number >> 20),
        4_097.. if number.is_multiple_of(1 << 10) => format!("{} KiB", number >> 10),
        1_000.. => format!("{},{:03}", number / 1_000, number % 1_000),
        _ => number.to_string(),
    }
}

#[test]
fn the_limits_in_the_table_for_users_are_those_of_the_code() {
    let schemas = &declared()["components"]["schemas"];
    let longest = |schema: &str| schemas[schema]["maxLength"].as_u64().unwrap();
    let size = |number: usize| u64::try_from(number).unwrap();
    let (_, table) = files(&["docs"], "docs/limits.md").remove(0);
    for (what, limit) in [
        ("Header fields", constant("MAX_FIELDS")),
        ("Body", size(PetName::MAX_LENGTH)),
        ("Depth of JSON", constant("MAX_DEPTH")),
        ("Animals, orders or categories on a page", Limit::MAX.into()),
        (
            "Requests with an `Idempotency-Key` that are in progress at the same time",
            constant("MAX_IN_FLIGHT"),
        ),
        ("Commands of a batch", constant("MAX_COMMANDS")),
        ("Note of an order or a withdrawal", longest("Note")),
        ("Contact of an order", longest("Contact")),
        (
            "Reference and reason of an order, label of a category",
            longest("Reference"),
        ),
        (
            "Reference and reason of an order, label of a category",
            longest("ReasonText"),
        ),
        (
            "Reference and reason of an order, label of a category",
            longest("CategoryLabel"),
        ),
        ("Fields", size(FieldDefinition::MAX)),
        ("Label of a field", longest("FieldLabel")),
        (
            "Choices of a field",
            schemas["Choices"]["maxItems"].as_u64().unwrap(),
        ),
        (
            "Values of all fields of an animal, as JSON",
            size(FieldValues::MAX_LENGTH),
        ),
        ("Fields in a search", size(PetQuery::MAX_VALUE_FILTERS)),
        ("Photos of an animal", size(Photos::MAX)),
        (
            "A picture that is sent",
            size(petstore_photos::Photos::MAX_SIZE),
        ),
        ("Text of a photo", longest("Alt")),
        ("Name to search for", size(NAME_KEY_LENGTH)),
        ("Changes on a page of the feed", constant("MAX_LIMIT")),
        ("Webhooks", Webhook::MAX.cast_unsigned()),
        ("A row of an imported file", constant("MAX_ROW_BYTES")),
    ] {
        let start = format!("| {what} | {}", written(limit));
        let row = table.lines().find(|row| row.starts_with(&start));
        let rest = row.unwrap_or_else(|| panic!("no row of the table begins with {start}"));
        assert!(
            !rest[start.len()..].starts_with(|next: char| next.is_ascii_digit()),
            "{rest}"
        );
    }
}
