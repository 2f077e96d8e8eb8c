//! Searches with everyday words in each language, and what they find.

use std::collections::BTreeMap;

use jiff::civil::date;
use petstore_databases::fields_of_new_database;
use petstore_domain::{
    PetId, PetName,
    store_area::{FieldValue, FieldValues, Label},
};

use super::*;
use crate::relabelled_fields;

const TODAY: Date = date(2026, 11, 28);

/// The animals of a store: name, category, and the values of species, sex, born, colour and size.
const ANIMALS: [(&str, i64, [&str; 5]); 8] = [
    ("Rex", 1, ["Dog", "Male", "2020-01-01", "black", "Large"]),
    (
        "Bella",
        1,
        ["Dog", "Female", "2021-01-01", "black", "Small"],
    ),
    ("Pim", 1, ["Dog", "Male", "2026-09-01", "white", "Small"]),
    ("Mia", 2, ["Cat", "Female", "2019-01-01", "black", "Small"]),
    ("Tom", 2, ["Cat", "Male", "2018-01-01", "grey", "Medium"]),
    ("Kit", 2, ["Cat", "Female", "2026-08-01", "white", "Small"]),
    ("Kitten", 3, ["Bird", "Female", "2015-01-01", "", ""]),
    ("Catalina", 3, ["Bird", "Male", "2015-01-01", "", ""]),
];

/// Returns the colours of [`ANIMALS`] in a language, in which the store writes them.
fn colours(language: Language) -> [(&'static str, &'static str); 3] {
    match language {
        Language::English => [("black", "black"), ("white", "white"), ("grey", "grey")],
        Language::German => [("black", "schwarz"), ("white", "weiß"), ("grey", "grau")],
        Language::French => [("black", "noir"), ("white", "blanc"), ("grey", "gris")],
        Language::Spanish => [("black", "negro"), ("white", "blanco"), ("grey", "gris")],
    }
}

struct Shop {
    fields: FieldSet,
    categories: Vec<Category>,
    language: Language,
}

impl Shop {
    fn new(language: Language) -> Self {
        let fields = fields_of_new_database().unwrap();
        let relabelled = relabelled_fields(&fields, language);
        let kept = fields
            .all()
            .iter()
            .filter(|field| relabelled.iter().all(|other| other.name != field.name));
        let all = kept.chain(&relabelled).cloned().collect();
        Self {
            fields: FieldSet::new(1, all, Vec::new()),
            categories: Vec::new(),
            language,
        }
    }

    fn understand(&self, text: &str) -> UnderstoodPhrase {
        let vocabulary = Vocabulary {
            fields: &self.fields,
            categories: &self.categories,
            language: self.language,
            today: TODAY,
        };
        understand(Phrase::new(text).unwrap(), &vocabulary)
    }

    /// The names of the animals that a text finds.
    fn found(&self, text: &str) -> Vec<&'static str> {
        let meaning = self.understand(text).phrase.interpret(&self.fields);
        let mut names = Vec::new();
        for (number, (name, category, values)) in (1..).zip(ANIMALS) {
            let mut given = BTreeMap::new();
            for (field, value) in ["species", "sex", "born", "colour", "size"]
                .iter()
                .zip(values)
            {
                let colour = colours(self.language)
                    .into_iter()
                    .find(|(english, _)| *english == value);
                let text = colour.map_or(value, |(_, text)| text);
                if !text.is_empty() {
                    given.insert((*field).to_owned(), FieldValue::Text(text.to_owned()));
                }
            }
            let values = FieldValues::new(given).unwrap();
            let pet_name = PetName::new(name.to_owned()).unwrap();
            if meaning.matches(PetId::new(number).unwrap(), category, &pet_name, &values) {
                names.push(name);
            }
        }
        names
    }

    fn chips(&self, text: &str) -> Vec<String> {
        let words = self.understand(text).words;
        words.into_iter().map(|word| word.text).collect()
    }
}

#[test]
fn everyday_words_find_what_they_mean_in_each_language() {
    let dogs = ["Rex", "Bella", "Pim"];
    let cats = ["Mia", "Tom", "Kit"];
    for (language, searches) in [
        (
            Language::English,
            &[
                ("dogs", &dogs[..]),
                ("Dogs!", &dogs),
                ("black cats", &["Mia"]),
                ("puppies", &["Pim"]),
                ("small dogs", &["Bella", "Pim"]),
                ("tomcats", &["Tom"]),
                ("black", &["Rex", "Bella", "Mia"]),
            ][..],
        ),
        (
            Language::German,
            &[
                ("Hunde", &dogs),
                ("Katzen", &cats),
                ("schwarze Katze", &["Mia"]),
                ("schwarzer Hund", &["Rex", "Bella"]),
                ("weiße Katzen", &["Kit"]),
                ("kleiner Hund", &["Bella", "Pim"]),
                ("großen Hunden", &["Rex"]),
                ("Hündin", &["Bella"]),
                ("Huendin", &["Bella"]),
                ("Rüden", &["Rex", "Pim"]),
                ("Kater", &["Tom"]),
                ("Welpe", &["Pim"]),
                ("Kätzchen", &["Kit"]),
            ],
        ),
        (
            Language::French,
            &[
                ("chiens", &dogs),
                ("chiots", &["Pim"]),
                ("chienne noire", &["Bella"]),
                ("chatte noire", &["Mia"]),
                ("chaton", &["Kit"]),
                ("chatte blanche", &["Kit"]),
                ("petits chiens", &["Bella", "Pim"]),
            ],
        ),
        (
            Language::Spanish,
            &[
                ("perros", &dogs),
                ("perra", &["Bella"]),
                ("gata negra", &["Mia"]),
                ("gata blanca", &["Kit"]),
                ("cachorro", &["Pim"]),
                ("perro pequeño", &["Bella", "Pim"]),
            ],
        ),
    ] {
        let shop = Shop::new(language);
        for (text, names) in searches {
            assert_eq!(shop.found(text), *names, "{text}");
        }
    }
}

#[test]
fn a_word_that_is_a_name_also_finds_the_name() {
    let shop = Shop::new(Language::English);
    assert_eq!(shop.found("kitten"), ["Kit", "Kitten"]);
    assert_eq!(shop.found("cat"), ["Mia", "Tom", "Kit", "Catalina"]);
    assert_eq!(shop.found("cats"), ["Mia", "Tom", "Kit"]);
}

#[test]
fn a_search_says_what_it_understood_and_what_is_left_without_it() {
    for (language, text, expected) in [
        (Language::English, "black cats", &[("Cat", "black")][..]),
        (Language::English, "kitten", &[("Cat · under 1 year", "")]),
        (
            Language::German,
            "kleine Hündin",
            &[("Hund · weiblich", "kleine")],
        ),
        (
            Language::French,
            "chienne noire",
            &[("Chien · femelle", "noire")],
        ),
        (
            Language::Spanish,
            "gata negra",
            &[("Gato · hembra", "negra")],
        ),
        (
            Language::English,
            "dogs or cats",
            &[("Dog", "or cats"), ("Cat", "dogs or")],
        ),
        (Language::English, "bulldog", &[]),
        (Language::English, "Rex 7", &[]),
    ] {
        let words = Shop::new(language).understand(text).words;
        let found: Vec<_> = words
            .iter()
            .map(|word| (word.text.as_str(), word.other_words.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_category_that_names_only_one_kind_counts_and_without_any_the_word_means_nothing() {
    let mut shop = Shop::new(Language::English);
    let other_fields = shop
        .fields
        .all()
        .iter()
        .filter(|field| field.name.as_str() != "species");
    shop.fields = FieldSet::new(1, other_fields.cloned().collect(), Vec::new());
    assert_eq!(shop.chips("cats"), [""; 0]);
    for (id, label) in [(1, "Dogs and cats"), (2, "Our cats"), (3, "Birds")] {
        shop.categories.push(Category {
            id,
            label: Label::new(label.to_owned()).unwrap(),
            version: 1,
        });
    }
    assert_eq!(shop.chips("cats"), ["Our cats"]);
    assert_eq!(shop.found("cats"), ["Mia", "Tom", "Kit"]);
    assert_eq!(shop.chips("dogs"), [""; 0]);
}

#[test]
fn what_is_not_public_is_no_property_for_the_public() {
    let mut shop = Shop::new(Language::English);
    let mut fields = shop.fields.all().to_vec();
    for field in &mut fields {
        field.is_public = field.name.as_str() == "species";
    }
    shop.fields = FieldSet::new(1, fields, Vec::new());
    let vocabulary = Vocabulary {
        fields: &shop.fields,
        categories: &[],
        language: Language::English,
        today: TODAY,
    };
    let phrase = Phrase::new("bitches kittens").unwrap().public();
    let words = understand(phrase, &vocabulary).words;
    let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(texts, ["Dog", "Cat"]);
}

#[test]
fn the_stem_of_a_word_is_what_its_forms_have_in_common_and_has_3_letters() {
    for (language, word, expected) in [
        (Language::English, "spotted", Some("spot")),
        (Language::English, "tabbies", Some("tabb")),
        (Language::English, "black", None),
        (Language::German, "schwarze", Some("schwarz")),
        (Language::German, "Weißer", Some("weiss")),
        (Language::German, "rote", Some("rot")),
        (Language::German, "dunkler", Some("dunk")),
        (Language::German, "Reh", None),
        (Language::French, "noires", Some("noir")),
        (Language::French, "blanche", Some("blanc")),
        (Language::French, "rousse", Some("rou")),
        (Language::Spanish, "negras", Some("negr")),
        (Language::Spanish, "pequeña", Some("pequen")),
        (Language::Spanish, "gris", None),
        (Language::English, "maine-coons", None),
        (Language::English, "123", None),
    ] {
        assert_eq!(stem(language, word).as_deref(), expected, "{word}");
    }
}

#[test]
fn only_words_that_can_mean_a_kind_need_the_categories_of_the_store() {
    for (text, expected) in [
        ("small animals", true),
        ("black cats", true),
        ("Max", false),
    ] {
        assert_eq!(
            has_general_words(&Phrase::new(text).unwrap()),
            expected,
            "{text}"
        );
    }
}
