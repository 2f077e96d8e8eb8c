//! Understands the everyday words of a search, such as `dogs`, `schwarze Katze` or `chiots`. Some mean
//! properties of an animal: `chiots` are young dogs. Others are inflected forms of values: `schwarze`
//! of `schwarz`.

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
    push_uncapitalized, window_texts,
};

/// How many categories that name a kind of animal are searched at most.
const MAX_CATEGORIES: usize = 100;

/// The minimum length of a stem, in letters. A stem finds every value that begins with it, so a shorter
/// one would find too much.
const MIN_STEM_LENGTH: usize = 3;

/// Stems of irregular adjectives that are not a prefix of all their forms, each with the prefix that is.
///
/// Example: the stem of `blanche` is `blanch`, which is not a prefix of `blanc`.
const IRREGULAR_STEMS: [(&str, &str); 4] = [
    ("blanch", "blanc"),
    ("rouss", "rou"),
    ("dunkl", "dunk"),
    ("vieil", "vie"),
];

/// Words of a search that were understood as properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderstoodWord {
    /// The properties as displayed text, such as `Dog · female`.
    pub text: String,
    /// The search text without these words.
    pub other_words: String,
}

/// A search phrase whose everyday words were understood.
pub struct UnderstoodPhrase {
    /// The phrase, with the meaning of its everyday words attached.
    pub phrase: Phrase,
    /// The words that were understood as properties.
    pub words: Vec<UnderstoodWord>,
}

/// What everyday words can refer to in a store.
pub struct Vocabulary<'s> {
    /// The fields of the store.
    pub fields: &'s FieldSet,
    /// The first categories of the store.
    pub categories: &'s [Category],
    /// The language in which stems are found.
    pub language: Language,
    /// Today's date, for the age of young animals.
    pub today: Date,
}

/// Whether a phrase has general words, which can refer to a category. The caller then needs the
/// categories of the store.
pub fn has_general_words(phrase: &Phrase) -> bool {
    let texts: Vec<&str> = phrase.words().collect();
    (0..texts.len()).any(|position| find_general_words(&texts[position..]).is_some())
}

/// Attaches the meaning of its everyday words to a phrase.
///
/// Example: `schwarze Hündin` finds female dogs with a value that begins with the stem `schwarz`.
pub fn understand(phrase: Phrase, vocabulary: &Vocabulary<'_>) -> UnderstoodPhrase {
    let texts: Vec<&str> = phrase.words().collect();
    let mut everyday_words = Vec::new();
    let mut words = Vec::new();
    let mut position = 0;
    while position < texts.len() {
        let mut word_count = 1;
        if let Some(general) = find_general_words(&texts[position..])
            && let Some(properties) = vocabulary.resolve(&general, phrase.is_public())
        {
            word_count = general.word_count;
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

/// Words at the beginning of a text that refer to a kind of animal in general, such as `puppies`.
struct GeneralWords {
    word_count: usize,
    meaning: GeneralMeaning,
}

/// Finds general words at the beginning of `texts`. The longest match wins.
fn find_general_words(texts: &[&str]) -> Option<GeneralWords> {
    for word_count in (1..=LONGEST_PHRASE.min(texts.len())).rev() {
        let words: Vec<String> = texts[..word_count]
            .iter()
            .map(|text| word_key(text))
            .collect();
        if let Some(meaning) = general_meaning(&words.join(" ")) {
            return Some(GeneralWords {
                word_count,
                meaning,
            });
        }
    }
    None
}

/// Returns the comparison key of a word, without punctuation around it: `cats` for `Cats!`.
fn word_key(text: &str) -> String {
    let key = whole_key(text);
    key.trim_matches(|character: char| !character.is_alphanumeric())
        .to_owned()
}

/// A property with its displayed name.
struct NamedProperty {
    name: String,
    property: Property,
}

/// Joins the names of properties, all but the first uncapitalized: `Dog · female`.
fn properties_in_words(properties: &[NamedProperty]) -> String {
    let mut text = String::new();
    for named in properties {
        if text.is_empty() {
            text.push_str(&named.name);
        } else {
            text.push_str(" · ");
            push_uncapitalized(&mut text, &named.name);
        }
    }
    text
}

impl Vocabulary<'_> {
    /// Returns the properties to which general words refer in this store, or `None` if the store cannot
    /// express the kind of animal. A sex or age that it cannot express is ignored.
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

    /// Returns the field with this name, if the search may use it: a public search uses only public fields.
    fn field(&self, name: &str, is_public: bool) -> Option<&FieldDefinition> {
        self.fields
            .find(name)
            .filter(|field| field.is_public || !is_public)
    }

    /// Returns the property for a kind of animal: values of the field `species`, and the categories
    /// that name only this kind. Returns `None` if there are neither.
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

    /// Returns the property for a sex: values of the field `sex`.
    fn sex(&self, sex: Sex, is_public: bool) -> Option<NamedProperty> {
        let sex_field = self.field("sex", is_public)?;
        let default_value = match sex {
            Sex::Female => "Female",
            Sex::Male => "Male",
        };
        let mut known_words = vec![default_value];
        for labels in all_field_labels().filter(|labels| labels.name == "sex") {
            let label = labels
                .choices
                .iter()
                .find(|(value, _)| *value == default_value);
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

    /// Returns the property for animals in their first year, if the store has a field for the date of birth.
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

    /// Returns a filter for each value of a field, except for values that are invalid for it.
    fn filters(&self, field: &str, values: &[String]) -> Vec<ValueFilter> {
        values
            .iter()
            .filter_map(|value| self.fields.parse_filter(field, value).ok())
            .collect()
    }
}

/// Returns the values of a field to which everyday words refer: of a choice field, the choices for
/// whose value or label `is_meant` holds; of a text field, all of `words`; of other fields, none.
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

/// Returns the stem of a word, which is the prefix that its inflected forms have in common, by the
/// Snowball algorithm. Returns `None` if it equals the word, is shorter than [`MIN_STEM_LENGTH`], or if
/// the word contains characters other than letters.
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
    let irregular_stem = IRREGULAR_STEMS.iter().find(|(stem, _)| *stem == key);
    let stem = match irregular_stem {
        Some((_, common_prefix)) => common_prefix,
        // English stems end in `i` in place of `y` or `ie`: `bunny` and `bunnies` have the stem `bunni`.
        None if language == Language::English => key.strip_suffix('i').unwrap_or(&key),
        None => &key,
    };
    let is_long_enough = stem.chars().nth(MIN_STEM_LENGTH - 1).is_some();
    (is_long_enough && stem != whole_key(&word)).then(|| stem.to_owned())
}

#[cfg(test)]
mod tests;
