//! Translates the default labels of fields when a store changes its language.

use petstore_domain::store_area::{FieldDefinition, FieldLabels, FieldSet, Language, relabel};

use super::{field_labels, former_labels::FORMER_FIELDS};

/// Returns the fields that change if the default labels of fields and choices are translated into `language`.
/// Labels that somebody has edited stay.
pub fn relabelled_fields(fields: &FieldSet, language: Language) -> Vec<FieldDefinition> {
    let mut all_labels: Vec<&'static [FieldLabels]> = vec![&FORMER_FIELDS];
    all_labels.extend(Language::ALL.map(field_labels));
    relabel(fields, &all_labels, field_labels(language))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use petstore_databases::fields_of_new_database;
    use petstore_domain::store_area::{Choices, FieldKind, Label, missing_shelter_fields};

    /// Returns `fields` with some of them replaced or added.
    fn with(fields: &FieldSet, changed: &[FieldDefinition]) -> FieldSet {
        let is_same =
            |field: &&FieldDefinition| changed.iter().all(|other| other.name != field.name);
        let others = fields.all().iter().filter(is_same).cloned();
        FieldSet::new(
            fields.version,
            others.chain(changed.iter().cloned()).collect(),
            Vec::new(),
        )
    }

    /// Returns `fields` with a change to the field `name`.
    fn changed(
        fields: &FieldSet,
        name: &str,
        change: impl FnOnce(&mut FieldDefinition),
    ) -> FieldSet {
        let mut field = fields.find(name).unwrap().clone();
        change(&mut field);
        with(fields, &[field])
    }

    /// Returns the label of a field, and the displayed texts of its choices.
    fn shown(fields: &FieldSet, name: &str) -> Vec<String> {
        let field = fields.find(name).unwrap();
        let values = field.choices.iter().flat_map(Choices::values);
        let shown = values.map(|value| field.display_text(value));
        [field.label.as_str()]
            .into_iter()
            .chain(shown)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn each_language_has_a_label_for_each_field_and_value_of_a_new_database() {
        let new = fields_of_new_database().unwrap();
        // The fields of a new database have the English labels.
        assert_eq!(relabelled_fields(&new, Language::English), []);
        for language in Language::ALL {
            let labels = field_labels(language);
            let labels: Vec<_> = labels
                .iter()
                .filter(|labels| new.find(labels.name).is_some())
                .collect();
            assert_eq!(labels.len(), new.all().len());
            let translated = with(&new, &relabelled_fields(&new, language));
            for labels in labels {
                let field = translated.find(labels.name).unwrap();
                assert_eq!(field.label.as_str(), labels.label);
                let before = new.find(labels.name).unwrap();
                assert_eq!(
                    field.choices.as_ref().map(Choices::values),
                    before.choices.as_ref().map(Choices::values)
                );
                // None of the labels was dropped as invalid.
                let written: Vec<_> = field.choices.iter().flat_map(Choices::labels).collect();
                assert_eq!(written.len(), labels.choices.len(), "{labels:?}");
                if field.kind == FieldKind::Choice && language != Language::English {
                    let values = field.choices.as_ref().unwrap().values();
                    let same = values
                        .iter()
                        .filter(|value| field.display_text(value) == *value);
                    assert!(
                        same.eq(values
                            .iter()
                            .filter(|value| *value == "Reptile" && language == Language::French))
                    );
                }
            }
            // From each language to each other one, and back.
            for other in Language::ALL {
                let there = with(&translated, &relabelled_fields(&translated, other));
                assert_eq!(there, with(&new, &relabelled_fields(&new, other)));
            }
        }
        let german = with(&new, &relabelled_fields(&new, Language::German));
        assert_eq!(
            shown(&german, "sex"),
            ["Geschlecht", "Weiblich", "Männlich", "Unbekannt"]
        );
    }

    #[test]
    fn a_shelter_gets_its_fields_in_each_language_and_another_language_renames_them() {
        let new = fields_of_new_database().unwrap();
        for language in Language::ALL {
            let missing = missing_shelter_fields(&new, field_labels(language));
            assert_eq!(missing.len(), 8, "{language:?}");
            let with_all = with(&new, &missing);
            // With all fields, none is missing; with some, the others are.
            assert_eq!(
                missing_shelter_fields(&with_all, field_labels(language)),
                []
            );
            let with_some = with(&new, &missing[..3]);
            assert_eq!(
                missing_shelter_fields(&with_some, field_labels(language)),
                missing[3..]
            );
            for field in &missing {
                assert_eq!(
                    field.is_public,
                    !["intake_kind", "place"].contains(&field.name.as_str())
                );
            }
            for other in Language::ALL {
                let there = with(&with_all, &relabelled_fields(&with_all, other));
                let expected = missing_shelter_fields(&new, field_labels(other));
                for field in expected {
                    assert_eq!(there.find(field.name.as_str()), Some(&field), "{other:?}");
                }
            }
        }
        let german = with(
            &new,
            &missing_shelter_fields(&new, field_labels(Language::German)),
        );
        assert_eq!(
            shown(&german, "intake_kind"),
            [
                "Art der Aufnahme",
                "Fundtier",
                "Abgabetier",
                "Rückläufer",
                "Übernahme",
                "Hier geboren"
            ]
        );
    }

    #[test]
    fn a_label_of_an_earlier_version_stays_until_the_store_takes_new_ones() {
        let new = fields_of_new_database().unwrap();
        let spanish = field_labels(Language::Spanish);
        let mut fields = with(&new, &missing_shelter_fields(&new, spanish));
        for former in &FORMER_FIELDS[12..] {
            fields = changed(&fields, former.name, |field| {
                field.label = Label::new(former.label.to_owned()).unwrap();
                let labels = former.choices.iter();
                let labels =
                    labels.map(|(value, label)| ((*value).to_owned(), (*label).to_owned()));
                let labels: BTreeMap<_, _> = labels.collect();
                field.choices = field
                    .choices
                    .take()
                    .and_then(|choices| choices.with_labels(labels));
            });
        }
        assert_eq!(shown(&fields, "intake"), ["Con nosotros desde"]);
        assert!(shown(&fields, "intake_kind").contains(&"Trasladado".to_owned()));
        for language in Language::ALL {
            let relabelled = with(&fields, &relabelled_fields(&fields, language));
            for expected in missing_shelter_fields(&new, field_labels(language)) {
                assert_eq!(relabelled.find(expected.name.as_str()), Some(&expected));
            }
        }
    }

    #[test]
    fn a_shelter_keeps_a_field_of_its_own_with_the_same_label() {
        let new = fields_of_new_database().unwrap();
        let fields = changed(&new, "breed", |field| {
            field.label = Label::new("NEUTERED".to_owned()).unwrap();
        });
        let missing = missing_shelter_fields(&fields, field_labels(Language::English));
        assert!(
            missing
                .iter()
                .all(|field| field.name.as_str() != "neutered")
        );
        assert_eq!(missing.len(), 7);
    }

    #[test]
    fn a_label_that_another_field_has_is_not_given_to_a_second_one() {
        let new = fields_of_new_database().unwrap();
        let fields = changed(&new, "description", |field| {
            field.label = Label::new("RASSE".to_owned()).unwrap();
        });
        let german = with(&fields, &relabelled_fields(&fields, Language::German));
        assert_eq!(shown(&german, "breed"), ["Breed"]);
        assert_eq!(shown(&german, "colour"), ["Farbe"]);
    }

    #[test]
    fn what_somebody_has_changed_stays() {
        let new = fields_of_new_database().unwrap();
        let fields = changed(&new, "colour", |field| {
            field.label = Label::new("Coat".to_owned()).unwrap();
        });
        let fields = changed(&fields, "size", |field| {
            let labels = BTreeMap::from([("Small".to_owned(), "Tiny".to_owned())]);
            field.choices = field.choices.take().unwrap().with_labels(labels);
        });
        // "Wellensittich" and "Dog" are the store's own, and a value of it has the label that German has for
        // another one.
        let fields = changed(&fields, "species", |field| {
            let values = ["Dog", "Fish", "Wellensittich", "Puppy"].map(str::to_owned);
            let labels = [
                ("Wellensittich", "Welli"),
                ("Puppy", "Hund"),
                ("Bird", "Vogel"),
            ];
            let labels = labels.map(|(value, label)| (value.to_owned(), label.to_owned()));
            field.choices = Choices::new(values.to_vec())
                .unwrap()
                .with_labels(BTreeMap::from(labels));
        });
        let german = with(&fields, &relabelled_fields(&fields, Language::German));
        assert_eq!(shown(&german, "colour"), ["Coat"]);
        assert_eq!(shown(&german, "size"), ["Größe", "Tiny", "Mittel", "Groß"]);
        assert_eq!(
            shown(&german, "species"),
            ["Tierart", "Dog", "Fisch", "Welli", "Hund"]
        );
        // A default label in the previous language does not count as edited.
        let french = with(&german, &relabelled_fields(&german, Language::French));
        assert_eq!(
            shown(&french, "size"),
            ["Taille", "Tiny", "Moyenne", "Grande"]
        );
        assert_eq!(
            shown(&french, "species"),
            ["Espèce", "Chien", "Poisson", "Welli", "Hund"]
        );
        // A deleted field is not recreated.
        let without = FieldSet::new(1, vec![new.find("price").unwrap().clone()], Vec::new());
        assert_eq!(relabelled_fields(&without, Language::Spanish).len(), 1);
    }
}
