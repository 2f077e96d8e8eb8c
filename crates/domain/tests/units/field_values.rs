//! The rules of values over time.

use petstore_domain::store_area::{
    FieldDefinition, FieldKind, FieldName, FieldPatch, FieldSet, FieldValue, FieldValues, Label,
    RequestedValue,
};

fn field(name: &str, kind: FieldKind) -> FieldDefinition {
    FieldDefinition {
        name: FieldName::new(name).unwrap(),
        label: Label::new(name.to_owned()).unwrap(),
        kind,
        choices: None,
        is_public: false,
        is_unique: false,
        position: 0,
        version: 1,
    }
}

fn text(text: &str) -> FieldValue {
    FieldValue::Text(text.to_owned())
}

#[test]
fn an_impossible_value_from_before_stays_and_can_be_sent_again_but_not_given_again() {
    let decimals = ["price", "weight"].map(|name| field(name, FieldKind::Decimal));
    let dates = ["born", "due"].map(|name| field(name, FieldKind::Date));
    let fields = FieldSet::new(1, [decimals, dates].concat(), Vec::new());
    let old = [
        ("price".to_owned(), text("-5.00")),
        ("born".to_owned(), text("2031-01-01")),
    ];
    let old = FieldValues::new(old.into()).unwrap();
    let apply = |before: &FieldValues, name: &str, value: &str, now: &str| {
        let patch = FieldPatch::from([(name.to_owned(), RequestedValue::Set(text(value)))]);
        fields.apply(before, &patch, now.parse().unwrap())
    };
    let (late, none) = ("2026-12-31T23:59:59Z", &FieldValues::NONE);
    assert_eq!(fields.find_problem(&old), None);
    for (name, value) in [("price", "-5.00"), ("born", "2031-01-01")] {
        assert_eq!(apply(&old, name, value, late).unwrap(), old);
        assert!(apply(none, name, value, late).is_err(), "{name}");
    }
    assert!(apply(&old, "price", "-5", late).is_err());
    // Other fields have any number and any day.
    assert!(
        apply(none, "weight", "-5", late).is_ok() && apply(none, "due", "2031-01-01", late).is_ok()
    );
    for (now, born, is_possible) in [
        (late, "2027-01-01", true),
        (late, "2027-01-02", false),
        ("2027-01-01T00:00:00Z", "2027-01-02", true),
    ] {
        assert_eq!(
            apply(none, "born", born, now).is_ok(),
            is_possible,
            "{now} {born}"
        );
    }
}
