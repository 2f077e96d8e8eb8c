//! Collects the words in all languages that `petstore_formats::cells` recognizes in imported tables:
//! headings, values, units, months and so on.

use std::sync::LazyLock;

use petstore_domain::{
    PetStatus,
    store_area::{Language, letters_and_digits, whole_key},
    text::comparison_key,
};
use petstore_formats::{
    cells::{AgeUnit, ChoiceWord, TableWords},
    files::Separator,
};

use super::{
    all_field_labels,
    console::Texts,
    console_texts_in,
    look::{SEX_WORDS, find_species},
    numbers_in,
    table_lists::{
        AGE_FILLERS, AGE_HEADINGS, ESTIMATES, ESTIMATES_OF_DAYS, INTAKES, MORE_HEADINGS,
        MORE_MONTHS, NEUTERED, NO, NO_VALUES, NONE_VALUES, NOT_LISTED, OTHER_SPECIES, SEXES, SIZES,
        WEEKDAYS, YES,
    },
};

/// How many letters a unit of age must have to be recognized in every language. Shorter ones are
/// ambiguous: `3 j` is 3 years in German, and 3 days in French.
const MIN_LETTERS_OF_FOREIGN_UNIT: usize = 3;

/// Returns the words of tables, in all languages together. Only two things depend on `language`: which date
/// `03/04` is, and which short units of age are recognized.
pub fn table_words(language: Language) -> &'static TableWords {
    &WORDS[language as usize]
}

/// The words for each language, in the order of [`Language::ALL`].
static WORDS: LazyLock<[TableWords; Language::ALL.len()]> =
    LazyLock::new(|| Language::ALL.map(collect_words));

/// Collects the words of all languages for a reader of `language`.
fn collect_words(language: Language) -> TableWords {
    TableWords {
        day_first: numbers_in(language).day_first,
        months: months(),
        weekdays: word_keys(WEEKDAYS),
        yes: word_keys(YES),
        no: word_keys(NO),
        no_values: phrase_keys(NO_VALUES),
        none_values: phrase_keys(NONE_VALUES),
        estimates: estimates(),
        age_units: age_units(language),
        age_fillers: word_keys(AGE_FILLERS),
        age_headings: phrase_keys(AGE_HEADINGS),
        statuses: statuses(),
        listings: listings(),
        choices: choices(),
        find_species,
        headings: headings(),
    }
}

/// Returns the separator with which spreadsheet programs in a language open a CSV file as a table: a
/// semicolon if the language has a decimal comma, and otherwise a comma.
pub fn spreadsheet_separator(language: Language) -> Separator {
    if numbers_in(language).decimal_point == ',' {
        Separator::Semicolon
    } else {
        Separator::Comma
    }
}

/// Returns the comparison keys of a list of words that are separated by spaces.
fn word_keys(words: &str) -> Vec<String> {
    words.split_whitespace().map(whole_key).collect()
}

/// Returns the comparison keys of a list of phrases that are separated by commas. Only letters and
/// digits count.
fn phrase_keys(list: &str) -> Vec<String> {
    list.split(',').map(letters_and_digits).collect()
}

/// Returns the words for an estimate. Those with an article come first, because the first match wins:
/// `um den` before `um`.
fn estimates() -> Vec<String> {
    let phrases = ESTIMATES_OF_DAYS.split(',').map(whole_key);
    phrases.chain(word_keys(ESTIMATES)).collect()
}

/// Returns the names of the months in all languages, with their numbers.
fn months() -> Vec<(String, i8)> {
    let mut months = Vec::new();
    for language in Language::ALL {
        for (number, name) in (1..).zip(numbers_in(language).months) {
            months.push((whole_key(name), number));
        }
    }
    for (name, number) in MORE_MONTHS {
        months.push((whole_key(name), number));
    }
    months
}

/// Returns the units of age: all of `own_language`, and the unambiguous ones of the other languages.
fn age_units(own_language: Language) -> Vec<(String, AgeUnit)> {
    let mut units = Vec::new();
    for language in Language::ALL {
        let [texts, _] = console_texts_in(language);
        let units_with_words = [AgeUnit::Year, AgeUnit::Month, AgeUnit::Week]
            .into_iter()
            .zip(texts.ages_typed);
        for (unit, words) in units_with_words {
            for word in words.split_whitespace() {
                let is_unambiguous = word.chars().count() >= MIN_LETTERS_OF_FOREIGN_UNIT;
                if language == own_language || is_unambiguous {
                    units.push((whole_key(word), unit));
                }
            }
        }
    }
    units
}

/// Returns the texts of the pages for the staff in each language, for a shop and for a shelter.
fn all_texts() -> impl Iterator<Item = &'static Texts> {
    Language::ALL.into_iter().flat_map(console_texts_in)
}

/// Returns the names of the statuses in all languages.
fn statuses() -> Vec<(String, PetStatus)> {
    let mut statuses = Vec::new();
    for texts in all_texts() {
        for status in PetStatus::ALL {
            statuses.push((comparison_key(texts.status(status)), status));
        }
    }
    statuses
}

/// Returns the phrases for whether the window shows an animal.
fn listings() -> Vec<(String, bool)> {
    let mut listings = Vec::new();
    for texts in all_texts() {
        listings.push((comparison_key(texts.on_website), true));
        listings.push((comparison_key(texts.not_on_website), false));
    }
    for phrase in NOT_LISTED.split(',') {
        listings.push((comparison_key(phrase), false));
    }
    listings
}

/// Returns the words for choices of fields: their labels in all languages, and the other words of
/// `table_lists`.
fn choices() -> Vec<ChoiceWord> {
    let mut choices = Vec::new();
    for labels in all_field_labels() {
        for (value, label) in labels.choices {
            choices.push(ChoiceWord {
                field: labels.name,
                key: whole_key(label),
                value,
            });
        }
    }
    for (field, words_by_value) in [("species", OTHER_SPECIES), ("sex", SEXES), ("size", SIZES)] {
        for (value, words) in words_by_value {
            for key in word_keys(words) {
                choices.push(ChoiceWord { field, key, value });
            }
        }
    }
    for (field, phrases_by_value) in [("intake_kind", INTAKES), ("neutered", NEUTERED)] {
        for (value, phrases) in phrases_by_value {
            for phrase in phrases.split(',') {
                choices.push(ChoiceWord {
                    field,
                    key: whole_key(phrase),
                    value,
                });
            }
        }
    }
    for (value, words) in SEX_WORDS {
        for word in words {
            choices.push(ChoiceWord {
                field: "sex",
                key: (*word).to_owned(),
                value,
            });
        }
    }
    choices
}

/// Returns the usual headings of columns, in all languages: the labels of the console, the default
/// labels of fields, and [`MORE_HEADINGS`].
fn headings() -> Vec<(String, &'static str)> {
    let mut headings = Vec::new();
    for texts in all_texts() {
        for (label, name) in [
            (texts.name, "name"),
            (texts.category, "category"),
            (texts.status_label, "status"),
            (texts.website, "listed"),
            (texts.on_website, "listed"),
            (texts.field_public, "listed"),
            (texts.price, "price"),
        ] {
            headings.push((letters_and_digits(label), name));
        }
    }
    for labels in all_field_labels() {
        headings.push((letters_and_digits(labels.label), labels.name));
    }
    for (name, words) in MORE_HEADINGS {
        for heading in words.split(',') {
            headings.push((letters_and_digits(heading), *name));
        }
    }
    headings
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn no_word_of_a_table_has_two_meanings() {
        for language in Language::ALL {
            let words = table_words(language);
            let mut meanings: HashMap<String, String> = HashMap::new();
            let mut learn = |list: &str, key: &str, meaning: &str| {
                let known = meanings
                    .entry(format!("{list} {key}"))
                    .or_insert_with(|| meaning.to_owned());
                assert_eq!(known, meaning, "{list} {key}");
            };
            for (key, name) in &words.headings {
                learn("heading", key, name);
            }
            for word in &words.choices {
                learn(word.field, &word.key, word.value);
            }
            for (key, status) in &words.statuses {
                learn("status", key, status.as_str());
            }
            for (key, unit) in &words.age_units {
                learn("age", key, &format!("{unit:?}"));
            }
            for (list, keys) in [
                ("yes", &words.yes),
                ("no", &words.no),
                ("no value", &words.no_values),
                ("none", &words.none_values),
            ] {
                for key in keys {
                    learn("boolean", key, list);
                }
            }
        }
    }
}
