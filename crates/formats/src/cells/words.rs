//! The words that tables have in the languages of people.

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

/// A word for a choice of a field of a new store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceWord {
    /// The name of the field.
    pub field: &'static str,
    /// The word, as [`whole_key`](petstore_domain::store_area::whole_key) has it.
    pub key: String,
    /// The value that the word means.
    pub value: &'static str,
}

/// The words of all languages in tables, and how one language writes days. The keys are as
/// [`whole_key`](petstore_domain::store_area::whole_key) has them, if nothing else is said.
#[derive(Debug, Clone)]
pub struct TableWords {
    /// Whether `03/04` is a day in April in this language.
    pub day_first: bool,
    /// The names of months, with their numbers.
    pub months: Vec<(String, i8)>,
    /// The names of the days of the week.
    pub weekdays: Vec<String>,
    /// The words for yes.
    pub yes: Vec<String>,
    /// The words for no.
    pub no: Vec<String>,
    /// The words for a missing value, by [`letters_and_digits`](petstore_domain::store_area::letters_and_digits).
    pub no_values: Vec<String>,
    /// The words for none, such as `keiner`, which can also mean no, with the same keys as `no_values`.
    pub none_values: Vec<String>,
    /// The words and signs for an estimate, such as `ca`.
    pub estimates: Vec<String>,
    /// The units of ages.
    pub age_units: Vec<(String, AgeUnit)>,
    /// The words that can be in an age without a meaning of their own, such as `old`.
    pub age_fillers: Vec<String>,
    /// The headings of a column with ages, by [`letters_and_digits`](petstore_domain::store_area::letters_and_digits).
    pub age_headings: Vec<String>,
    /// The words for statuses, by [`comparison_key`](petstore_domain::text::comparison_key).
    pub statuses: Vec<(String, PetStatus)>,
    /// The words for whether the window may show an animal, besides those for yes and no, by
    /// [`comparison_key`](petstore_domain::text::comparison_key).
    pub listings: Vec<(String, bool)>,
    /// The words for choices of the fields of a new store, and for `true` and `false` in fields with words of their own.
    pub choices: Vec<ChoiceWord>,
    /// Returns the species that a text names: `Dog` for `Hunde`.
    pub find_species: fn(&str) -> Option<&'static str>,
    /// The usual headings, by [`heading_key`](petstore_domain::text::heading_key), each with the name of the member or the
    /// field of a new store that the column has.
    pub headings: Vec<(String, &'static str)>,
}

impl TableWords {
    /// Returns the status that a word means, in any language and in any case.
    pub fn find_status(&self, text: &str) -> Option<PetStatus> {
        let key = comparison_key(text);
        if let Ok(status) = key.parse() {
            return Some(status);
        }
        let (_, status) = self.statuses.iter().find(|(word, _)| *word == key)?;
        Some(*status)
    }

    /// Whether a column with this heading has ages.
    pub fn is_age_heading(&self, heading: &str) -> bool {
        self.age_headings.contains(&letters_and_digits(heading))
    }

    /// Returns what a word for yes or no means, in any language and in any case.
    pub(super) fn find_yes_or_no(&self, text: &str) -> Option<bool> {
        let word = search_key(text.trim());
        // A column of numbers with an empty cell becomes one of decimals in pandas.
        let word = word.strip_suffix(".0").unwrap_or(&word);
        if self.yes.iter().any(|yes| yes == word) {
            Some(true)
        } else if self.no.iter().any(|no| no == word) {
            Some(false)
        } else {
            None
        }
    }

    /// Returns whether the window may show an animal, as a word in any language says.
    pub fn find_listing(&self, text: &str) -> Option<bool> {
        let key = comparison_key(text);
        let listing = self.listings.iter().find(|(word, _)| *word == key);
        listing
            .map(|(_, is_listed)| *is_listed)
            .or_else(|| self.find_yes_or_no(text))
    }
}
