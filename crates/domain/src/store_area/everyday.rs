//! Everyday words of a phrase: words that mean properties of an animal, and words with other endings than values have.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{DateRange, FieldValues, NamePrefix, ValueFilter};

/// A word of a phrase, or several that belong together, with what it means besides its letters.
///
/// `Hündin` has two properties: the species is dog, and the sex is female. `schwarze` has the stem `schwarz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EverydayWord {
    /// The position among the words of the phrase, from 0.
    pub first_word: usize,
    pub word_count: usize,
    /// The properties that an animal must all have. Without any, the word means no property.
    pub properties: Vec<Property>,
    /// The beginning of the values that have the word with another ending.
    pub stem: Option<NamePrefix>,
}

/// A property: an animal has it with one of the values, in one of the categories, or with one of the dates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Property {
    pub values: Vec<ValueFilter>,
    pub categories: Vec<i64>,
    pub dates: Option<DateRange>,
}

impl Property {
    /// Whether no animal can have it.
    pub fn is_impossible(&self) -> bool {
        self.values.is_empty() && self.categories.is_empty() && self.dates.is_none()
    }

    /// Whether an animal in this category, with these values, has it.
    pub(super) fn matches(&self, category_id: i64, values: &FieldValues) -> bool {
        self.categories.contains(&category_id)
            || self.values.iter().any(|filter| filter.matches(values))
            || self
                .dates
                .as_ref()
                .is_some_and(|dates| dates.contains(values))
    }
}
