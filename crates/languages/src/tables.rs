//! The words of tables that people bring, in all languages, for `petstore_formats::cells`.

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

/// Units of age with fewer letters mean different things in different languages: `3 j` is 3 years in German, and 3 days in
/// French.
const MIN_LETTERS_OF_FOREIGN_UNIT: usize = 3;

/// Returns the words of tables in all languages. This language decides which day `03/04` is, and knows its short units of
/// age.
pub fn table_words(language: Language) -> &'static TableWords {
    &WORDS[language as usize]
}

/// The words for each language, in the order of [`Language::ALL`].
static WORDS: LazyLock<[TableWords; Language::ALL.len()]> =
    LazyLock::new(|| Language::ALL.map(collect_words));

fn collect_words(language: Language) -> TableWords {
    TableWords {
        day_first: numbers_in(language).day_first,
        months: months(),
        weekdays: keys(WEEKDAYS),
        yes: keys(YES),
        no: keys(NO),
        no_values: phrases(NO_VALUES),
        none_values: phrases(NONE_VALUES),
        estimates: estimates(),
        age_units: age_units(language),
        age_fillers: keys(AGE_FILLERS),
        age_headings: phrases(AGE_HEADINGS),
        statuses: statuses(),
        listings: listings(),
        choices: choices(),
        find_species,
        headings: headings(),
    }
}

/// Returns the separator of a file that opens as a table in the spreadsheets of a language: a semicolon, if the language has a
/// decimal comma.
pub fn spreadsheet_separator(language: Language) -> Separator {
    if numbers_in(language).point == ',' {
        Separator::Semicolon
    } else {
        Separator::Comma
    }
}

/// Returns the keys of words that are separated by spaces.
fn keys(words: &str) -> Vec<String> {
    words.split_whitespace().map(whole_key).collect()
}

/// Returns the letters and digits of phrases that are separated by commas.
fn phrases(list: &str) -> Vec<String> {
    list.split(',').map(letters_and_digits).collect()
}

/// Returns the words for an estimate. A word with an article comes before the word without it.
fn estimates() -> Vec<String> {
    let phrases = ESTIMATES_OF_DAYS.split(',').map(whole_key);
    phrases.chain(keys(ESTIMATES)).collect()
}

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

fn age_units(own_language: Language) -> Vec<(String, AgeUnit)> {
    let mut units = Vec::new();
    for language in Language::ALL {
        let [texts, _] = console_texts_in(language);
        let units_with_words = [AgeUnit::Year, AgeUnit::Month, AgeUnit::Week]
            .into_iter()
            .zip(texts.ages_typed);
        for (unit, words) in units_with_words {
            for word in words.split_whitespace() {
                let has_one_meaning = word.chars().count() >= MIN_LETTERS_OF_FOREIGN_UNIT;
                if language == own_language || has_one_meaning {
                    units.push((whole_key(word), unit));
                }
            }
        }
    }
    units
}

/// Returns the texts of the pages for the staff: in each language, those of a shop and those of a shelter.
fn all_texts() -> impl Iterator<Item = &'static Texts> {
    Language::ALL.into_iter().flat_map(console_texts_in)
}

fn statuses() -> Vec<(String, PetStatus)> {
    let mut statuses = Vec::new();
    for texts in all_texts() {
        for status in PetStatus::ALL {
            statuses.push((comparison_key(texts.status(status)), status));
        }
    }
    statuses
}

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
            for key in keys(words) {
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

/// Returns the usual headings in all languages: the labels of the console, the labels of the fields of a new store, and other
/// words of [`MORE_HEADINGS`].
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
