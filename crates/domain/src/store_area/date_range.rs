//! The search filter for a range of dates.

use jiff::civil::Date;

use super::{
    FieldKind, FieldName, FieldProblem, FieldSet, FieldValue, FieldValues, valid_text::is_date,
};

/// The earliest date that a value can have.
const FIRST_DAY: &str = "0000-01-01";

/// The latest date that a value can have.
const LAST_DAY: &str = "9999-12-31";

/// A search filter that requires the date in a field to be between `from` and `to`, both inclusive.
/// `None` leaves the range open at that end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateRange {
    /// A field of the kind `date`.
    pub field: FieldName,
    /// The first day of the range.
    pub from: Option<Date>,
    /// The last day of the range.
    pub to: Option<Date>,
}

impl DateRange {
    /// Returns the first and the last day of the range in the format of stored values.
    ///
    /// An open end becomes the earliest or latest possible date: until 29 February 2024 becomes
    /// `0000-01-01` and `2024-02-29`.
    pub fn bounds(&self) -> [String; 2] {
        [day_text(self.from, FIRST_DAY), day_text(self.to, LAST_DAY)]
    }

    /// Whether the date in the field is within the range.
    pub(super) fn matches(&self, values: &FieldValues) -> bool {
        let Some(FieldValue::Text(text)) = values.get(self.field.as_str()) else {
            return false;
        };
        // Dates of the form YYYY-MM-DD have the same order as their texts.
        let [first_day, last_day] = self.bounds();
        is_date(text) && (&first_day..=&last_day).contains(&text)
    }
}

/// Formats a day as a stored value. Without a day, this is the `default`.
fn day_text(day: Option<Date>, default: &str) -> String {
    match day {
        Some(day) => day.to_string(),
        None => default.to_owned(),
    }
}

impl FieldSet {
    /// Parses a range filter for the field `name`, which must be of the kind `date`.
    ///
    /// `from` and `to` are dates of the form YYYY-MM-DD; `None` leaves the range open at that end.
    pub fn parse_date_range(
        &self,
        name: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<DateRange, FieldProblem> {
        let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
        if field.kind != FieldKind::Date {
            return Err(FieldProblem::Invalid(format!(
                "field.{name}.from and field.{name}.to are for fields of the kind date; {name} is of the kind {}.",
                field.kind
            )));
        }
        Ok(DateRange {
            field: field.name.clone(),
            from: parse_day(&format!("field.{name}.from"), from)?,
            to: parse_day(&format!("field.{name}.to"), to)?,
        })
    }
}

/// Parses one end of a range. `parameter` is the name of its query parameter, for the error
/// message.
fn parse_day(parameter: &str, text: Option<&str>) -> Result<Option<Date>, FieldProblem> {
    let Some(text) = text else {
        return Ok(None);
    };
    match text.parse() {
        Ok(day) if is_date(text) => Ok(Some(day)),
        _ => Err(FieldProblem::Invalid(format!(
            "{parameter} must be a date of the form YYYY-MM-DD."
        ))),
    }
}
