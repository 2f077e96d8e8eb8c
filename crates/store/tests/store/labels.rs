//! The labels that the fields of a new database get.

use petstore_domain::store_area::FieldLabels;
use petstore_store::OpenMode;
use petstore_testing::stores::AnyStore;

pub(crate) const LABELLED: OpenMode = OpenMode::CreateLabelled(&[
    FieldLabels {
        name: "sex",
        label: "Geschlecht",
        choices: &[("Male", "Männlich")],
    },
    FieldLabels {
        name: "breed",
        label: "Rasse",
        choices: &[],
    },
    FieldLabels {
        name: "unknown",
        label: "Unbekannt",
        choices: &[],
    },
]);

/// Expects the labels of [`LABELLED`], or else those of the schema.
pub(crate) async fn expect(store: &AnyStore, are_given: bool) {
    let fields = store.fields().await.unwrap();
    let shown = ["sex", "breed", "born"].map(|name| fields.find(name).unwrap().label.as_str());
    let sex = fields.find("sex").unwrap();
    let values = ["Female", "Male"].map(|value| sex.display_text(value));
    let expected = if are_given {
        (["Geschlecht", "Rasse", "Born"], ["Female", "Männlich"])
    } else {
        (["Sex", "Breed", "Born"], ["Female", "Male"])
    };
    assert_eq!((shown, values), expected);
    assert_eq!((fields.version, sex.version), (1, 1));
    assert_eq!(fields.all().len(), 9);
}
