//! The filter of a search for animals with a date in a range.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::civil::Date;

use super::{
    FieldKind, FieldName, FieldProblem, FieldSet, FieldValue, FieldValues, valid_text::is_date,
};

/// A filter of a search: the date of an animal must be one of the days from `from` to `to`, both included. `None`
/// as an end is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateRange {
    /// A field of the kind `date`.
    pub field: FieldName,
    pub from: Option<Date>,
    pub to: Option<Date>,
}

/// The first day that a value can be, and the last one.
const FIRST_DAY: &str = "0000-01-01";
const LAST_DAY: &str = "9999-12-31";

impl DateRange {
    /// Returns the first and the last day in the form of values, such as `0000-01-01` and `2024-02-29`.
    pub fn bounds(&self) -> [String; 2] {
        [day_text(self.from, FIRST_DAY), day_text(self.to, LAST_DAY)]
    }

    /// Whether the value of the field is one of the days.
    pub(super) fn contains(&self, values: &FieldValues) -> bool {
        let Some(FieldValue::Text(text)) = values.get(self.field.as_str()) else {
            return false;
        };
        let [from, to] = self.bounds();
        is_date(text) && (&from..=&to).contains(&text)
    }
}

/// Returns a day in the form of values.
fn day_text(day: Option<Date>, default: &str) -> String {
    match day {
        Some(day) => day.to_string(),
        None => default.to_owned(),
    }
}

impl FieldSet {
    /// Returns the range of a search in the values of the field `name`, from one day to another. `None` is no limit.
    ///
    /// `from` and `to` are dates of the form YYYY-MM-DD.
    pub fn date_range(
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

/// Parses one end of a range. `parameter` is its name in a query.
fn parse_day(parameter: &str, text: Option<&str>) -> Result<Option<Date>, FieldProblem> {
    let Some(text) = text else {
        return Ok(None);
    };
    if !is_date(text) {
        return Err(FieldProblem::Invalid(format!(
            "{parameter} must be a date of the form YYYY-MM-DD."
        )));
    }
    Ok(text.parse().ok())
}
