//! The rule for the values of a field: how a text becomes a value, which values are valid, and the sentence that says so.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{Choices, Decimal, FieldDefinition, FieldValue, RequestedValue, valid_text::is_date};

/// The maximum number of choices in a message.
const MAX_CHOICES_IN_MESSAGE: usize = 20;

impl FieldDefinition {
    /// Parses the text in a cell of a table, which is the value in JSON without quotes: `3`, `true` or
    /// `2020-05-01`. A choice is its value, not its label, whatever the case of its letters.
    pub fn parse_cell(&self, text: &str) -> RequestedValue {
        let choice = self.choices.as_ref().and_then(|choices| choices.find(text));
        let value_text = choice.map_or(text, String::as_str);
        match self.kind.parse(value_text) {
            Some(value) => RequestedValue::Set(value),
            None => RequestedValue::Invalid,
        }
    }

    /// Returns the stored value of a choice for its value or its label, whatever the case of their letters. Returns
    /// other values as they are.
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

    /// Returns a value that is new at `now`; `None` if it is not valid.
    pub fn validate(&self, requested: &RequestedValue, now: Timestamp) -> Option<FieldValue> {
        let RequestedValue::Set(value) = requested else {
            return None;
        };
        self.allows_new(value, now).then(|| value.clone())
    }

    /// Whether an animal can get this value at `now`. Prices, days of birth and choices have rules beyond their kind.
    fn allows_new(&self, value: &FieldValue, now: Timestamp) -> bool {
        match (value, &self.choices) {
            (FieldValue::Text(text), Some(choices)) => choices.find(text) == Some(text),
            (FieldValue::Text(text), None) if self.is_price() => {
                Decimal::new(text).is_some_and(|price| !price.has_minus())
            }
            (FieldValue::Text(text), None) if self.is_birth() => {
                // Somewhere on earth, the next day of UTC has begun already.
                let today = now.to_zoned(TimeZone::UTC).date();
                let tomorrow = today.tomorrow().unwrap_or(Date::MAX);
                is_date(text) && text.parse().is_ok_and(|born: Date| born <= tomorrow)
            }
            _ => self.kind.allows(value),
        }
    }

    /// Returns the rule for a value, as a sentence about the member or the parameter with this name before the point:
    /// `fields.age is of the kind integer and must be …`.
    pub(super) fn rule_sentence(&self, parent: &str) -> String {
        format!("{parent}.{} {}.", self.name.as_str(), self.rule())
    }

    /// Returns the rule for a value, as the rest of a sentence that begins with the name of the
    /// field.
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

/// Returns a rule such as `one of male, female`.
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
