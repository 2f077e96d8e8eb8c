//! The ages of animals, which a person chooses in a search.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{ToSpan, civil::Date};

use super::{DateRange, FieldName};
use crate::words::words;

words! {
    /// The age of an animal in whole years, as a person chooses it in a search. An animal that was born on 29 February
    /// gets a year older on 1 March in years without that day.
    pub enum Age {
        /// Younger than a year, or not born yet.
        UnderOne = "0",
        UnderThree = "under3",
        OneToThree = "1",
        ThreeToEight = "3",
        EightOrMore = "8",
    }
}

impl Age {
    /// Returns the days of birth of animals that have this age on the day `today`.
    ///
    /// On 28 November 2026, [`Age::OneToThree`] is the range from 29 November 2023 to 28 November 2025.
    pub fn birth_range(self, field: &FieldName, today: Date) -> DateRange {
        let from = match self {
            Self::UnderOne => Some(first_birth_below(1, today)),
            Self::UnderThree | Self::OneToThree => Some(first_birth_below(3, today)),
            Self::ThreeToEight => Some(first_birth_below(8, today)),
            Self::EightOrMore => None,
        };
        let to = match self {
            Self::UnderOne | Self::UnderThree => None,
            Self::OneToThree => Some(last_birth_at_least(1, today)),
            Self::ThreeToEight => Some(last_birth_at_least(3, today)),
            Self::EightOrMore => Some(last_birth_at_least(8, today)),
        };
        DateRange {
            field: field.clone(),
            from,
            to,
        }
    }
}

/// Returns the last day of birth of animals that are at least `years` old on the day `today`. If `today` is 29 February
/// and the other year has no such day, this is 28 February.
fn last_birth_at_least(years: i64, today: Date) -> Date {
    today.saturating_sub(years.years())
}

/// Returns the first day of birth of animals that are younger than `years` on the day `today`.
fn first_birth_below(years: i64, today: Date) -> Date {
    last_birth_at_least(years, today)
        .tomorrow()
        .unwrap_or(Date::MAX)
}
