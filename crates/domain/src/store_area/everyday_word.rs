//! Everyday words in a search: words that describe properties of an animal, and inflected words
//! whose ending differs from the stored values. Each language has a list of such words, outside of
//! this crate. They are added to a [`Phrase`](super::Phrase) that contains them.

use super::{DateRange, FieldValues, NamePrefix, ValueFilter};

/// One or several consecutive words of a phrase that have a meaning beyond their literal text.
///
/// For example, `Hündin` stands for two properties: the species is dog, and the sex is female.
/// `schwarze` has the stem `schwarz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EverydayWord {
    /// The position of the first word in the phrase, from 0.
    pub first_word: usize,
    /// The number of words of the phrase that belong together.
    pub word_count: usize,
    /// The properties: an animal must have all of them. Empty if the word does not describe a
    /// property.
    pub properties: Vec<Property>,
    /// The stem of an inflected word: values that begin with it match, too.
    pub stem: Option<NamePrefix>,
}

/// A property of an animal. An animal has it if any of the values, categories or dates matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Property {
    /// Filters for the values of fields.
    pub values: Vec<ValueFilter>,
    /// The numbers of categories.
    pub categories: Vec<i64>,
    /// A range of dates, such as of birth.
    pub dates: Option<DateRange>,
}

impl Property {
    /// Whether no animal can have the property.
    pub fn is_impossible(&self) -> bool {
        self.values.is_empty() && self.categories.is_empty() && self.dates.is_none()
    }

    /// Whether an animal in this category, with these values, has the property.
    pub(super) fn matches(&self, category_id: i64, values: &FieldValues) -> bool {
        self.categories.contains(&category_id)
            || self.values.iter().any(|filter| filter.matches(values))
            || self
                .dates
                .as_ref()
                .is_some_and(|dates| dates.matches(values))
    }
}
