//! The everyday words of a search: `dogs`, `schwarze Katze`, `chiots`. Some mean properties of an animal, and others have
//! another ending than the values of animals.

use jiff::civil::Date;
use petstore_domain::{
    store_area::{
        Age, Category, Choices, EverydayWord, FieldDefinition, FieldKind, FieldSet, Language,
        NamePrefix, Phrase, Property, ValueFilter, whole_key,
    },
    text::readable::{SHORT_LENGTH, readable},
};
use rust_stemmers::{Algorithm, Stemmer};

use crate::{
    all_field_labels,
    look::{GeneralMeaning, LONGEST_PHRASE, Sex, general_meaning, general_words, kind, names_only},
    push_in_lower_case, window_texts,
};

/// The maximum number of categories that count as a kind of animals.
const MAX_CATEGORIES: usize = 100;

/// The number of letters that a stem has at least, because each value that begins with it is found.
const SHORTEST_STEM: usize = 3;

/// Stems of adjectives that are not the beginning of each form, and the beginning of each form.
const IRREGULAR_STEMS: [(&str, &str); 4] = [
    ("blanch", "blanc"),
    ("rouss", "rou"),
    ("dunkl", "dunk"),
    ("vieil", "vie"),
];

/// Words of a search that mean properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderstoodWord {
    /// The properties for people, such as `Dog · female`.
    pub text: String,
    /// The text of the search without the words.
    pub other_words: String,
}

/// A search with the meaning of its everyday words.
pub struct UnderstoodPhrase {
    /// The phrase, which finds what its words mean.
    pub phrase: Phrase,
    /// The words that mean properties.
    pub words: Vec<UnderstoodWord>,
}

/// What a store has in place of everyday words.
pub struct Vocabulary<'s> {
    /// The fields of the store.
    pub fields: &'s FieldSet,
    /// The first categories of the store.
    pub categories: &'s [Category],
    /// The language of the values.
    pub language: Language,
    /// The day on which an animal is young.
    pub today: Date,
}

/// Whether a phrase has words that can mean a category.
pub fn has_general_words(phrase: &Phrase) -> bool {
    let texts: Vec<&str> = phrase.texts().collect();
    (0..texts.len()).any(|position| find_general_words(&texts[position..]).is_some())
}

/// Finds the meaning of the everyday words in a phrase.
///
/// Example: `schwarze Hündin` has the stem `schwarz`, and finds females among the dogs.
pub fn understand(phrase: Phrase, vocabulary: &Vocabulary<'_>) -> UnderstoodPhrase {
    let texts: Vec<&str> = phrase.texts().collect();
    let mut everyday_words = Vec::new();
    let mut words = Vec::new();
    let mut position = 0;
    while position < texts.len() {
        let mut word_count = 1;
        if let Some(general) = find_general_words(&texts[position..])
            && let Some(properties) = vocabulary.resolve(&general, phrase.is_public())
        {
            word_count = general.count;
            let other_texts = [&texts[..position], &texts[position + word_count..]].concat();
            words.push(UnderstoodWord {
                text: properties_in_words(&properties),
                other_words: other_texts.join(" "),
            });
            everyday_words.push(EverydayWord {
                first_word: position,
                word_count,
                properties: properties.into_iter().map(|named| named.property).collect(),
                stem: None,
            });
        } else if let Some(stem) = stem(vocabulary.language, texts[position]) {
            everyday_words.push(EverydayWord {
                first_word: position,
                word_count,
                properties: Vec::new(),
                stem: NamePrefix::new(&stem),
            });
        }
        position += word_count;
    }
    UnderstoodPhrase {
        phrase: phrase.with_everyday_words(everyday_words),
        words,
    }
}

/// Words that stand for every animal of a kind.
struct GeneralWords {
    count: usize,
    meaning: GeneralMeaning,
}

/// Finds the longest general words at the beginning of some words.
fn find_general_words(texts: &[&str]) -> Option<GeneralWords> {
    for count in (1..=LONGEST_PHRASE.min(texts.len())).rev() {
        let words: Vec<String> = texts[..count].iter().map(|text| word_key(text)).collect();
        if let Some(meaning) = general_meaning(&words.join(" ")) {
            return Some(GeneralWords { count, meaning });
        }
    }
    None
}

/// Returns a word as it is compared, without signs around it: `cats` for `Cats!`.
fn word_key(text: &str) -> String {
    let key = whole_key(text);
    key.trim_matches(|character: char| !character.is_alphanumeric())
        .to_owned()
}

/// A property with its name for people.
struct NamedProperty {
    name: String,
    property: Property,
}

/// Returns the names of properties, the first in its own case: `Dog · female`.
fn properties_in_words(properties: &[NamedProperty]) -> String {
    let mut text = String::new();
    for named in properties {
        if text.is_empty() {
            text.push_str(&named.name);
        } else {
            text.push_str(" · ");
            push_in_lower_case(&mut text, &named.name);
        }
    }
    text
}

impl Vocabulary<'_> {
    /// Returns the properties that general words mean in this store. `None` if no animal has the kind. What the store
    /// does not say about animals is left out.
    fn resolve(&self, general: &GeneralWords, is_public: bool) -> Option<Vec<NamedProperty>> {
        let GeneralMeaning {
            kind,
            sex,
            is_young,
        } = general.meaning;
        let mut properties = vec![self.species(kind, is_public)?];
        properties.extend(sex.and_then(|sex| self.sex(sex, is_public)));
        if is_young {
            properties.extend(self.first_year(is_public));
        }
        Some(properties)
    }

    /// Returns a field of this name that the search may look through.
    fn field(&self, name: &str, is_public: bool) -> Option<&FieldDefinition> {
        self.fields
            .find(name)
            .filter(|field| field.is_public || !is_public)
    }

    /// Returns the property of a kind of animals: values of the field `species`, and the categories that name only
    /// this kind.
    fn species(&self, expected_kind: usize, is_public: bool) -> Option<NamedProperty> {
        let species_field = self.field("species", is_public);
        let value_names = species_field.map_or_else(Vec::new, |field| {
            values_for(field, general_words(expected_kind), |text| {
                kind(text) == Some(expected_kind)
            })
        });
        let categories: Vec<&Category> = self
            .categories
            .iter()
            .filter(|category| names_only(category.label.as_str(), expected_kind))
            .take(MAX_CATEGORIES)
            .collect();

        let category_name = categories
            .first()
            .map(|category| readable(category.label.as_str(), SHORT_LENGTH));
        let property = Property {
            values: self.filters("species", &value_names),
            categories: categories.iter().map(|category| category.id).collect(),
            dates: None,
        };
        let value_name = species_field.zip(value_names.first());
        let name = value_name
            .map(|(field, value)| field.display_text(value).to_owned())
            .or(category_name)?;
        (!property.is_impossible()).then_some(NamedProperty { name, property })
    }

    /// Returns the property of a sex: values of the field `sex`.
    fn sex(&self, sex: Sex, is_public: bool) -> Option<NamedProperty> {
        let sex_field = self.field("sex", is_public)?;
        let value_of_new_store = match sex {
            Sex::Female => "Female",
            Sex::Male => "Male",
        };
        let mut known_words = vec![value_of_new_store];
        for labels in all_field_labels().filter(|labels| labels.name == "sex") {
            let label = labels
                .choices
                .iter()
                .find(|(value, _)| *value == value_of_new_store);
            known_words.extend(label.map(|(_, label)| *label));
        }

        let values = values_for(sex_field, &known_words, |text| {
            known_words
                .iter()
                .any(|word| whole_key(word) == whole_key(text))
        });
        let property = Property {
            values: self.filters("sex", &values),
            ..Property::default()
        };
        let name = sex_field.display_text(values.first()?).to_owned();
        (!property.is_impossible()).then_some(NamedProperty { name, property })
    }

    /// Returns the property of animals in their first year, if they have a day of birth.
    fn first_year(&self, is_public: bool) -> Option<NamedProperty> {
        let field = self
            .fields
            .all()
            .iter()
            .find(|field| field.is_birth() && (field.is_public || !is_public))?;
        Some(NamedProperty {
            name: window_texts().age_range(Age::UnderOne).to_owned(),
            property: Property {
                dates: Some(Age::UnderOne.birth_range(&field.name, self.today)),
                ..Property::default()
            },
        })
    }

    fn filters(&self, field: &str, values: &[String]) -> Vec<ValueFilter> {
        values
            .iter()
            .filter_map(|value| self.fields.parse_filter(field, value).ok())
            .collect()
    }
}

/// Returns the choices of a field that are meant, by their value or their label. A field of texts can have each of `words`.
fn values_for(
    field: &FieldDefinition,
    words: &[&str],
    is_meant: impl Fn(&str) -> bool,
) -> Vec<String> {
    match field.kind {
        FieldKind::Choice => field
            .choices
            .iter()
            .flat_map(Choices::values)
            .filter(|value| is_meant(value) || is_meant(field.display_text(value)))
            .cloned()
            .collect(),
        FieldKind::Text => words.iter().map(|word| (*word).to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the beginning that the forms of a word have in common, as Snowball finds it. `None` if it is the word, or
/// shorter than [`SHORTEST_STEM`].
///
/// Example: `schwarz` for `schwarze` in German.
fn stem(language: Language, word: &str) -> Option<String> {
    let algorithm = match language {
        Language::English => Algorithm::English,
        Language::German => Algorithm::German,
        Language::French => Algorithm::French,
        Language::Spanish => Algorithm::Spanish,
    };
    let word = word.to_lowercase();
    if !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let stemmer = Stemmer::create(algorithm);
    let snowball_stem = stemmer.stem(&word);
    let key = whole_key(&snowball_stem);
    let irregular = IRREGULAR_STEMS.iter().find(|(stem, _)| *stem == key);
    let stem = match irregular {
        Some((_, beginning)) => beginning,
        // English has `i` in place of `y` and `ie`.
        None if language == Language::English => key.strip_suffix('i').unwrap_or(&key),
        None => &key,
    };
    let is_long_enough = stem.chars().nth(SHORTEST_STEM - 1).is_some();
    (is_long_enough && stem != whole_key(&word)).then(|| stem.to_owned())
}

#[cfg(test)]
mod tests;
