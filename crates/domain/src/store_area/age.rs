//! The age groups by which people filter animals in a search.

use jiff::{ToSpan, civil::Date};

use super::{DateRange, FieldName};
use crate::named_enum::named_enum;

named_enum! {
    /// An age group of animals in a search, by completed years. An animal that was born on 29
    /// February turns a year older on 1 March in years without that day.
    pub enum Age {
        /// Younger than a year. This includes animals with a date of birth in the future.
        UnderOne = "0",
        /// Younger than three years. This includes [`Age::UnderOne`].
        UnderThree = "under3",
        /// At least one year old, and younger than three.
        OneToThree = "1",
        /// At least three years old, and younger than eight.
        ThreeToEight = "3",
        /// At least eight years old.
        EightOrMore = "8",
    }
}

impl Age {
    /// Converts the age group to a range of dates of birth, as of `today`.
    ///
    /// On 28 November 2026, [`Age::OneToThree`] is the range from 29 November 2023 to 28 November
    /// 2025.
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

/// Returns the latest date of birth of an animal that is at least `years` old on `today`. It is 28
/// February if `today` is 29 February and the year of birth has no such day.
fn last_birth_at_least(years: i64, today: Date) -> Date {
    today.saturating_sub(years.years())
}

/// Returns the earliest date of birth of an animal that is younger than `years` on `today`.
fn first_birth_below(years: i64, today: Date) -> Date {
    // Only the last day of the calendar has no next day.
    last_birth_at_least(years, today)
        .tomorrow()
        .unwrap_or(Date::MAX)
}
