//! The limits in `openapi-store.yaml` are those of the types.

use petstore::domain::{
    Limit, PetId,
    store_area::{
        AltText, Choices, Contact, FieldDefinition, FieldName, Label, Note, Photos, Reason,
        Reference, Webhook,
    },
};
use serde_json::{Value, json};

fn declared() -> Value {
    serde_saphyr::from_str(include_str!("../../openapi-store.yaml")).unwrap()
}

#[test]
fn the_longest_text_of_each_type_is_the_longest_in_the_document() {
    let declared = declared();
    for (path, is_valid) in [
        ("Reference", (|text| Reference::new(text).is_some()) as fn(String) -> bool),
        ("Note", |text| Note::new(text).is_some()),
        ("ReasonText", |text| Reason::new(text).is_some()),
        ("Contact", |text| Contact::new(text).is_some()),
        ("Alt", |text| AltText::new(text).is_some()),
        ("CategoryLabel", |text| Label::new(text).is_some()),
        ("FieldLabel", |text| Label::new(text).is_some()),
        ("Choices/items", |text| Choices::new(vec![text]).is_some()),
    ] {
        let schema = declared.pointer(&format!("/components/schemas/{path}")).unwrap();
        let longest = usize::try_from(schema["maxLength"].as_u64().unwrap()).unwrap();
        assert!(is_valid("é".repeat(longest)), "{path}");
        assert!(!is_valid("é".repeat(longest + 1)), "{path}");
        let may_be_empty = schema.get("minLength").is_none();
        assert_eq!(is_valid(String::new()), may_be_empty, "{path}");
    }
}

#[test]
fn the_highest_numbers_of_each_type_are_the_highest_in_the_document() {
    let declared = declared();
    for (path, highest) in [
        ("parameters/Limit/schema/maximum", json!(Limit::MAX)),
        ("schemas/Id/maximum", json!(PetId::MAX)),
        ("schemas/StorePet/properties/photos/maxItems", json!(Photos::MAX)),
        ("schemas/Photo/properties/position/maximum", json!(Photos::MAX - 1)),
        ("schemas/Fields/maxItems", json!(FieldDefinition::MAX)),
        ("schemas/FieldPosition/maximum", json!(FieldDefinition::HIGHEST_POSITION)),
        ("schemas/Webhooks/maxItems", json!(Webhook::MAX)),
    ] {
        assert_eq!(declared.pointer(&format!("/components/{path}")), Some(&highest), "{path}");
    }
    let many = |count: u64| Choices::new((0..count).map(|number| number.to_string()).collect());
    let most = declared["components"]["schemas"]["Choices"]["maxItems"].as_u64().unwrap();
    assert!(many(most).is_some() && many(most + 1).is_none());
    assert!(FieldName::new(&"a".repeat(32)).is_some() && FieldName::new(&"a".repeat(33)).is_none());
}
