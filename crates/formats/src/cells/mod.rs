//! The cells of tables: the values of fields as people, spreadsheets and programs write them.
//!
//! An import and the console read cells with this code. A cell with one meaning is taken, and a cell with two meanings is
//! refused with both.

mod ages;
mod dates;
mod no_value;
mod numbers;
mod words;

use jiff::civil::Date;
use petstore_domain::{
    store_area::{Currency, FieldDefinition, FieldKind, is_shortened_number, whole_key},
    text::parse_integer,
};

use self::dates::MonthWithDigits;
pub use self::{
    no_value::is_spreadsheet_error,
    numbers::{AmbiguousNumber, currency_of_sign, parse_number},
    words::{AgeUnit, ChoiceWord, TableWords},
};

/// A reader of cells.
#[derive(Debug, Clone, Copy)]
pub struct CellReader<'r> {
    /// The words of tables.
    pub words: &'r TableWords,
    /// The currency of the store, which decides how a price is read.
    pub currency: Option<&'r Currency>,
    /// The day on which animals have the ages in the table.
    pub today: Date,
}

/// The reason why a cell has no certain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellProblem {
    /// A number with two meanings.
    Number(AmbiguousNumber),
    /// A day with two meanings.
    Date([Date; 2]),
    /// A text that is not one of the choices of the field.
    NoChoice,
    /// A number in a unique field that a spreadsheet has shortened.
    Shortened,
    /// An error of a spreadsheet in place of a value, such as `#REF!`.
    SpreadsheetError,
}

impl CellReader<'_> {
    /// Returns the text in a cell of a table as the store writes the value; empty if the cell says that there is none.
    ///
    /// In a field for free text, `N/A` and `-` are text like any other. See [`Self::normalize`] for texts that are not values,
    /// and for the other errors.
    ///
    /// # Errors
    ///
    /// An error of a spreadsheet, such as `#REF!`.
    pub fn read(&self, field: &FieldDefinition, cell: &str) -> Result<String, CellProblem> {
        let cell = trim_cell(cell);
        if self.is_choice(field, cell) {
            return self.normalize(field, cell);
        }
        if is_spreadsheet_error(cell) {
            return Err(CellProblem::SpreadsheetError);
        }
        if is_free_text(field) {
            return self.normalize(field, cell);
        }
        let content = without_formula(cell);
        if no_value::is_missing(field.kind, content, self.words) {
            return Ok(String::new());
        }
        // The keys of unique texts have no regard to formulas, and the text stays as it is.
        let is_text = matches!(field.kind, FieldKind::Text);
        self.normalize(field, if is_text { cell } else { content })
    }

    /// Whether a cell is a choice of a field, by its value, its label, or a usual word.
    fn is_choice(&self, field: &FieldDefinition, cell: &str) -> bool {
        field.kind == FieldKind::Choice && self.choice(field, cell).is_ok()
    }

    /// Returns a typed text as the store writes the value of a field.
    ///
    /// `Ja` in a field for yes or no becomes `true`, and the label of a choice becomes its value. A text that is not a value
    /// of the kind stays as it is: it is invalid, and the check of all values reports it.
    ///
    /// # Errors
    ///
    /// A text with two meanings, a choice that the field does not have, or a number that has lost its last digits.
    pub fn normalize(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        if field.is_unique && is_shortened_number(text) {
            return Err(CellProblem::Shortened);
        }
        match field.kind {
            FieldKind::Boolean => Ok(self.boolean(field, text)),
            FieldKind::Integer => self.integer(text),
            FieldKind::Decimal => self.decimal(field, text),
            FieldKind::Date => self.date(field, text),
            FieldKind::Choice if !text.is_empty() => self.choice(field, text),
            FieldKind::Choice | FieldKind::Text | FieldKind::LongText => Ok(text.to_owned()),
        }
    }

    /// Returns the day of birth for an age, such as `ca. 3 Jahre`.
    pub fn birth_for_age(&self, age: &str) -> Option<Date> {
        ages::parse_age(age, self.today, self.words)
    }

    /// Returns `true` or `false` for a word for yes or no, and any other text as it is. In the column for neutered animals,
    /// `kastriert` is yes.
    fn boolean(&self, field: &FieldDefinition, text: &str) -> String {
        if let Some(value) = self.words.find_yes_or_no(text) {
            return value.to_string();
        }
        let value = self.find_word(field.name.as_str(), &whole_key(text));
        value.unwrap_or(text).to_owned()
    }

    fn integer(&self, text: &str) -> Result<String, CellProblem> {
        let number = parse_number(text, self.currency, true).map_err(CellProblem::Number)?;
        Ok(without_decimals(&number).to_owned())
    }

    fn decimal(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        let has_no_decimals = self
            .currency
            .is_some_and(|currency| currency.decimals() == 0);
        parse_number(text, self.currency, field.is_price() && has_no_decimals)
            .map_err(CellProblem::Number)
    }

    /// Returns a day in the form that the store has, and any other text as it is. A day of birth can also be a year, a month or
    /// an age.
    fn date(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        let date = self.parse_date(text)?;
        let date = match date {
            None if field.is_birth() => self.estimated_birth(text)?,
            date => date,
        };
        Ok(date.map_or_else(|| text.to_owned(), |date| date.to_string()))
    }

    /// Parses a day with its year. A month with two digits, such as `Mar-24`, has two meanings.
    fn parse_date(&self, text: &str) -> Result<Option<Date>, CellProblem> {
        let date = dates::parse_date(text, self.words).map_err(CellProblem::Date)?;
        if date.is_some() {
            return Ok(date);
        }
        match dates::month_with_digits(text, self.today, self.words) {
            Some(MonthWithDigits::Ambiguous(meanings)) => Err(CellProblem::Date(meanings)),
            Some(MonthWithDigits::Month(_)) | None => Ok(None),
        }
    }

    /// Whether a text is a day of birth that is not certain: a year, a month or an age, or a day after a word for an estimate.
    pub fn is_estimated_birth(&self, field: &FieldDefinition, text: &str) -> bool {
        let text = trim_cell(text);
        field.is_birth()
            && matches!(self.parse_date(text), Ok(None))
            && matches!(self.estimated_birth(text), Ok(Some(_)))
    }

    /// Returns the day of birth that an estimate means: `ca. 2019`, `05/2019`, `Mai 99` or `3 years`.
    fn estimated_birth(&self, text: &str) -> Result<Option<Date>, CellProblem> {
        let key = whole_key(text);
        let estimate = ages::without_estimate(&key, self.words);
        let date = self
            .parse_date(estimate)?
            .or_else(|| dates::parse_month_or_year(estimate, self.words));
        if date.is_some() {
            return Ok(date);
        }
        match dates::month_with_digits(estimate, self.today, self.words) {
            Some(MonthWithDigits::Month(month)) => Ok(Some(month)),
            Some(MonthWithDigits::Ambiguous(_)) | None => Ok(self.birth_for_age(estimate)),
        }
    }

    /// Returns the choice with this value or label, or the choice of a new store for which this word stands in any language.
    fn choice(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        let choices = field.choices.as_ref().ok_or(CellProblem::NoChoice)?;
        if let Some(choice) = choices.find_by_value_or_label(text) {
            return Ok(choice.clone());
        }
        let value = self
            .usual_choice(field.name.as_str(), text)
            .ok_or(CellProblem::NoChoice)?;
        choices.find(value).cloned().ok_or(CellProblem::NoChoice)
    }

    /// Returns the value of a choice of a new store for which a word stands: `Male` for `Rüde` in the field `sex`.
    fn usual_choice(&self, field_name: &str, text: &str) -> Option<&'static str> {
        let key = whole_key(text);
        let key = key.trim_end_matches(['.', ' ']);
        let whole_meaning = self.find_word(field_name, key);
        if whole_meaning.is_some() {
            return whole_meaning;
        }
        match field_name {
            "species" => (self.words.find_species)(text),
            "sex" => self.sex(key),
            _ => None,
        }
    }

    fn find_word(&self, field_name: &str, key: &str) -> Option<&'static str> {
        let word = self
            .words
            .choices
            .iter()
            .find(|word| word.field == field_name && word.key == key)?;
        Some(word.value)
    }

    /// Returns the sex that the first word of a text names, if the others only say that the animal is neutered or not:
    /// `Male` for `neutered male` and `Male (intact)`.
    fn sex(&self, key: &str) -> Option<&'static str> {
        let mut sexes = Vec::new();
        for word in key.split(|character: char| !character.is_alphanumeric()) {
            if word.is_empty() || NEUTERED_OR_NOT.contains(&word) {
                continue;
            }
            sexes.push(self.find_word("sex", word)?);
        }
        match *sexes {
            [sex] => Some(sex),
            _ => None,
        }
    }
}

/// The words that say that an animal is neutered, or that it is not.
const NEUTERED_OR_NOT: [&str; 19] = [
    "neutered",
    "spayed",
    "castrated",
    "altered",
    "unaltered",
    "intact",
    "fixed",
    "kastriert",
    "unkastriert",
    "sterilisiert",
    "castre",
    "castree",
    "sterilise",
    "sterilisee",
    "castrado",
    "castrada",
    "esterilizado",
    "esterilizada",
    "entero",
];

/// Returns a cell without the space around it, among it no-break spaces and characters that nobody sees.
pub(crate) fn trim_cell(cell: &str) -> &str {
    cell.trim_matches(|character: char| {
        character.is_whitespace() || matches!(character, '\u{200B}' | '\u{2060}' | '\u{FEFF}')
    })
}

/// Returns an integer as a spreadsheet writes it: 7 for ` 7`, `7.0` and `="7"`. `007` is not an integer, because its zeros would
/// be lost.
pub fn parse_integer_cell(cell: &str) -> Option<i64> {
    let number = parse_number(without_formula(trim_cell(cell)), None, true).ok()?;
    parse_integer(without_decimals(&number))
}

/// Returns a number without decimals that are zero: `7` for `7.0`.
fn without_decimals(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|byte| byte == b'0') => whole,
        _ => number,
    }
}

/// Whether the values of a field are any text. In such a text, every word can be meant: `None` and `NA` are names.
///
/// A unique text, such as the number of a chip, names one animal, so a word for a missing value can only mean this.
fn is_free_text(field: &FieldDefinition) -> bool {
    matches!(field.kind, FieldKind::Text | FieldKind::LongText) && !field.is_unique
}

/// Returns the text of a formula that only keeps a spreadsheet from changing the text: `3` of `="3"`.
fn without_formula(cell: &str) -> &str {
    cell.strip_prefix("=\"")
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(cell)
}
