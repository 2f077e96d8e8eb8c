//! The words that people write in tables, in all languages that petstore knows.

use petstore_domain::{
    PetStatus,
    store_area::{letters_and_digits, search_key},
    text::comparison_key,
};

/// A unit of an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgeUnit {
    /// A year.
    Year,
    /// A month.
    Month,
    /// A week.
    Week,
}

/// A word for a default choice: a choice of a field of a new store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceWord {
    /// The name of the field with the choice.
    pub field: &'static str,
    /// The key of the word, by [`whole_key`](petstore_domain::store_area::whole_key).
    pub key: String,
    /// The value of the choice that the word means.
    pub value: &'static str,
}

/// The words in tables in all languages, and how one of the languages writes dates. Unless a field
/// says otherwise, words are keys by [`whole_key`](petstore_domain::store_area::whole_key).
#[derive(Debug, Clone)]
pub struct TableWords {
    /// Whether `03/04` is a day in April in this language.
    pub day_first: bool,
    /// The names of months, with their numbers.
    pub months: Vec<(String, i8)>,
    /// The names of the weekdays.
    pub weekdays: Vec<String>,
    /// The words for yes.
    pub yes: Vec<String>,
    /// The words for no.
    pub no: Vec<String>,
    /// The words for a missing value, as keys by
    /// [`letters_and_digits`].
    pub no_values: Vec<String>,
    /// The words such as `keiner`, which mean a missing value or no, with the same keys as
    /// `no_values`.
    pub none_values: Vec<String>,
    /// The words and signs that mark an estimate, such as `ca`.
    pub estimates: Vec<String>,
    /// The units of ages.
    pub age_units: Vec<(String, AgeUnit)>,
    /// The words in an age without a meaning of their own, such as `old`.
    pub age_fillers: Vec<String>,
    /// The headings of columns with ages, as keys by
    /// [`letters_and_digits`].
    pub age_headings: Vec<String>,
    /// The words for statuses, as keys by
    /// [`comparison_key`].
    pub statuses: Vec<(String, PetStatus)>,
    /// The words that say whether the window may show an animal, in addition to the words for yes
    /// and no, as keys by [`comparison_key`].
    pub listings: Vec<(String, bool)>,
    /// The words for default choices, and the words that mean `true` or `false` only in one field.
    pub choices: Vec<ChoiceWord>,
    /// The function that returns the species of a text: `Dog` for `Hunde`.
    pub find_species: fn(&str) -> Option<&'static str>,
    /// The usual headings of columns, as keys by
    /// [`letters_and_digits`]. Each has the name
    /// of a member, or of a field of a new store.
    pub headings: Vec<(String, &'static str)>,
}

impl TableWords {
    /// Returns the status that a word means in any language, regardless of upper and lower case.
    pub fn find_status(&self, text: &str) -> Option<PetStatus> {
        let key = comparison_key(text);
        if let Ok(status) = key.parse() {
            return Some(status);
        }
        let (_, status) = self.statuses.iter().find(|(word, _)| *word == key)?;
        Some(*status)
    }

    /// Whether a heading announces a column with ages.
    pub fn is_age_heading(&self, heading: &str) -> bool {
        self.age_headings.contains(&letters_and_digits(heading))
    }

    /// Returns whether a word means yes or no in any language, regardless of upper and lower case.
    /// Returns `None` for other words.
    pub(super) fn find_yes_or_no(&self, text: &str) -> Option<bool> {
        let word = search_key(text.trim());
        // In pandas, a column of integers with an empty cell becomes one of decimals: `1.0`.
        let word = word.strip_suffix(".0").unwrap_or(&word);
        if self.yes.iter().any(|yes| yes == word) {
            Some(true)
        } else if self.no.iter().any(|no| no == word) {
            Some(false)
        } else {
            None
        }
    }

    /// Returns whether the window, the public pages of the store, may show an animal according to a
    /// word in any language. Returns `None` for other words.
    pub fn find_listing(&self, text: &str) -> Option<bool> {
        let key = comparison_key(text);
        match self.listings.iter().find(|(word, _)| *word == key) {
            Some((_, is_listed)) => Some(*is_listed),
            None => self.find_yes_or_no(text),
        }
    }
}
