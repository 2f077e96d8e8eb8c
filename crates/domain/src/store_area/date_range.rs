//! Ranges of dates, and the ages that they stand for.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{ToSpan, civil::Date};

use super::{FieldKind, FieldName, FieldProblem, FieldSet, FieldValue, FieldValues, kind::is_date};
use crate::words::words;

/// The days that a date of animals must be one of: from one day to another, both included. `None` is no
/// limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateRange {
    /// Of the kind `date`.
    pub field: FieldName,
    pub from: Option<Date>,
    pub to: Option<Date>,
}

impl DateRange {
    /// Its first and its last day, as values have them.
    pub fn bounds(&self) -> [String; 2] {
        let text = |end: Option<Date>, otherwise: &str| {
            end.map_or_else(|| otherwise.to_owned(), |date| date.to_string())
        };
        [text(self.from, "0000-01-01"), text(self.to, "9999-12-31")]
    }

    /// Whether the value of its field is one of the days.
    pub(super) fn contains(&self, values: &FieldValues) -> bool {
        let [from, to] = self.bounds();
        matches!(values.get(self.field.as_str()), Some(FieldValue::Text(text))
            if is_date(text) && (&from..=&to).contains(&text))
    }
}

impl FieldSet {
    /// Returns the range of a search, from one day to another. `None` stands for no limit.
    pub fn date_range(
        &self,
        name: &str,
        ends: [Option<&str>; 2],
    ) -> Result<DateRange, FieldProblem> {
        let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
        if field.kind != FieldKind::Date {
            return Err(FieldProblem::Invalid(format!(
                "field.{name}.from and field.{name}.to are for fields of the kind date; {name} is of the kind {}.",
                field.kind
            )));
        }
        let date = |end: &str, text: Option<&str>| match text {
            Some(text) if !is_date(text) => Err(FieldProblem::Invalid(format!(
                "field.{name}.{end} must be a date of the form YYYY-MM-DD."
            ))),
            text => Ok(text.and_then(|text| text.parse().ok())),
        };
        let [from, to] = ends;
        let from = date("from", from)?;
        let to = date("to", to)?;
        Ok(DateRange {
            field: field.name.clone(),
            from,
            to,
        })
    }
}

words! {
    /// How many whole years old an animal is. One that was born on 29 February gets a year older on 1 March
    /// in years without that day.
    pub enum Age {
        /// Or not born yet.
        UnderOne = "0",
        UnderThree = "under3",
        OneToThree = "1",
        ThreeToEight = "3",
        EightOrMore = "8",
    }
}

impl Age {
    /// Returns the days of birth of animals that have this age on the day `today`.
    pub fn birth_range(self, field: &FieldName, today: Date) -> DateRange {
        // The last day of birth of those that are so many years old. Of 29 February it is the 28th.
        let last = |years: i64| today.saturating_sub(years.years());
        let after = |years| last(years).tomorrow().unwrap_or(Date::MAX);
        let (from, to) = match self {
            Self::UnderOne => (Some(after(1)), None),
            Self::UnderThree => (Some(after(3)), None),
            Self::OneToThree => (Some(after(3)), Some(last(1))),
            Self::ThreeToEight => (Some(after(8)), Some(last(3))),
            Self::EightOrMore => (None, Some(last(8))),
        };
        DateRange {
            field: field.clone(),
            from,
            to,
        }
    }
}
