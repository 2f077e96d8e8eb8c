//! Parsing and validation of field values, and the error messages about invalid ones.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{Choices, Decimal, FieldDefinition, FieldValue, RequestedValue, valid_text::is_date};

/// The maximum number of choices that an error message lists.
const MAX_CHOICES_IN_MESSAGE: usize = 20;

impl FieldDefinition {
    /// Parses the text in a cell of a table: the JSON form of a value, without quotes, such as `3`,
    /// `true` or `2020-05-01`. A choice is given by its value, regardless of upper and lower case,
    /// and not by its label.
    pub fn parse_cell(&self, text: &str) -> RequestedValue {
        let choice = self.choices.as_ref().and_then(|choices| choices.find(text));
        let value_text = choice.map_or(text, String::as_str);
        match self.kind.parse(value_text) {
            Some(value) => RequestedValue::Set(value),
            None => RequestedValue::Invalid,
        }
    }

    /// Replaces the value or label of a choice by the value as the store spells it. The comparison
    /// is regardless of upper and lower case. Other values are returned unchanged.
    pub fn resolve_choice(&self, requested: RequestedValue) -> RequestedValue {
        let RequestedValue::Set(FieldValue::Text(text)) = &requested else {
            return requested;
        };
        let choice = self
            .choices
            .as_ref()
            .and_then(|choices| choices.find_by_value_or_label(text));
        match choice {
            Some(value) => RequestedValue::Set(FieldValue::Text(value.clone())),
            None => requested,
        }
    }

    /// Returns the requested value if an animal can get it at `now`; `None` if it is invalid.
    pub fn validate(&self, requested: &RequestedValue, now: Timestamp) -> Option<FieldValue> {
        let RequestedValue::Set(value) = requested else {
            return None;
        };
        self.allows_new(value, now).then(|| value.clone())
    }

    /// Whether an animal can get this value at `now`. Prices, dates of birth and choices have
    /// stricter rules than other values of their kind.
    fn allows_new(&self, value: &FieldValue, now: Timestamp) -> bool {
        match (value, &self.choices) {
            // `find` also finds a choice in another case, which is not allowed here.
            (FieldValue::Text(text), Some(choices)) => choices.find(text) == Some(text),
            (FieldValue::Text(text), None) if self.is_price() => {
                Decimal::new(text).is_some_and(|price| !price.has_minus())
            }
            (FieldValue::Text(text), None) if self.is_birth() => is_possible_birth(text, now),
            _ => self.kind.allows(value),
        }
    }

    /// Returns the rule for a value as a complete sentence:
    /// `fields.age is of the kind integer and must be …`.
    ///
    /// `parent` is the part before the dot: `fields` for a member, and `field` for a parameter.
    pub(super) fn rule_sentence(&self, parent: &str) -> String {
        format!("{parent}.{} {}.", self.name.as_str(), self.rule())
    }

    /// Returns the rule for a value, phrased to follow the name of the field.
    pub fn rule(&self) -> String {
        let value_rule = match &self.choices {
            Some(choices) => choices_rule(choices),
            None if self.is_price() => {
                "a string such as \"249.00\", without a minus, with at most 12 digits before the point and \
                 4 after it"
                    .to_owned()
            }
            None if self.is_birth() => format!("{}, not later than tomorrow in UTC", self.kind.rule()),
            None => self.kind.rule().to_owned(),
        };
        format!("is of the kind {} and must be {value_rule}", self.kind)
    }
}

/// Whether a text is a date on which an animal can have been born at `now`.
fn is_possible_birth(text: &str, now: Timestamp) -> bool {
    // In time zones ahead of UTC, it may already be tomorrow.
    let today = now.to_zoned(TimeZone::UTC).date();
    let tomorrow = today.tomorrow().unwrap_or(Date::MAX);
    is_date(text) && text.parse().is_ok_and(|born: Date| born <= tomorrow)
}

/// Returns the rule for choices, such as `one of male, female`.
fn choices_rule(choices: &Choices) -> String {
    let values = choices.values();
    let first_values: Vec<&str> = values
        .iter()
        .take(MAX_CHOICES_IN_MESSAGE)
        .map(String::as_str)
        .collect();
    let ellipsis = if values.len() > MAX_CHOICES_IN_MESSAGE {
        ", …"
    } else {
        ""
    };
    format!("one of {}{ellipsis}", first_values.join(", "))
}
