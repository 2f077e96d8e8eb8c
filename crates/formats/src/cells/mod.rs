//! The cells of tables: values of fields, as people, spreadsheets and programs write them.
//!
//! The import and the console read cells with this code. A cell with one meaning is accepted. A
//! cell with two meanings is rejected, and the error contains both.

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

use self::{dates::MonthWithDigits, numbers::parse_whole_number};
pub use self::{
    no_value::is_spreadsheet_error,
    numbers::{AmbiguousNumber, currency_of_sign, parse_number},
    words::{AgeUnit, ChoiceWord, TableWords},
};

/// The name of the field with the species, whose choices have words of their own.
const SPECIES: &str = "species";

/// The name of the field with the sex.
const SEX: &str = "sex";

/// The words that say whether an animal is neutered.
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

/// A parser of cells. Its fields are the context that decides what a cell means.
#[derive(Debug, Clone, Copy)]
pub struct CellReader<'r> {
    /// The words for values in all languages.
    pub words: &'r TableWords,
    /// The currency of the store. It decides how a price is read.
    pub currency: Option<&'r Currency>,
    /// The day to which ages in the table refer.
    pub today: Date,
}

/// The reason why a cell has no clear value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellProblem {
    /// A number with two possible meanings.
    Number(AmbiguousNumber),
    /// A date with two possible meanings.
    Date([Date; 2]),
    /// A text that is not one of the choices of the field.
    NoChoice,
    /// A number in a unique field whose last digits a spreadsheet has dropped, such as `2.76E+14`.
    Shortened,
    /// An error value of a spreadsheet, such as `#REF!`.
    SpreadsheetError,
}

impl CellReader<'_> {
    /// Converts a cell of a table into the canonical text of a value, as the store writes it. The
    /// text is empty if the cell means that there is no value.
    ///
    /// In a field for free text, `N/A` and `-` are ordinary text. A text that is not a valid value
    /// stays as it is, as in [`Self::canonical_text`].
    ///
    /// # Errors
    ///
    /// The cell has an error value of a spreadsheet, such as `#REF!`, or [`Self::canonical_text`]
    /// fails.
    pub fn read_cell(&self, field: &FieldDefinition, cell: &str) -> Result<String, CellProblem> {
        let cell = trim_cell(cell);
        // A choice may look like an error or like a missing value, so it is recognized first.
        if self.is_choice(field, cell) {
            return self.canonical_text(field, cell);
        }
        if is_spreadsheet_error(cell) {
            return Err(CellProblem::SpreadsheetError);
        }
        if is_free_text(field) {
            return self.canonical_text(field, cell);
        }
        let content = unwrap_text_formula(cell);
        if no_value::is_missing(field.kind, content, self.words) {
            return Ok(String::new());
        }
        if field.kind == FieldKind::Text {
            // A unique text keeps its formula, because the comparison of unique texts ignores it.
            return self.canonical_text(field, cell);
        }
        self.canonical_text(field, content)
    }

    /// Whether a cell names a choice of a field by its value, its label, or a word for a default
    /// choice.
    fn is_choice(&self, field: &FieldDefinition, cell: &str) -> bool {
        field.kind == FieldKind::Choice && self.canonical_choice(field, cell).is_ok()
    }

    /// Converts a typed text into the canonical text of a value of this field, as the store writes
    /// it.
    ///
    /// In a field for yes or no, `Ja` becomes `true`. The label of a choice becomes its value. A
    /// text that is not a valid value stays as it is: the validation of the value, which follows,
    /// rejects it.
    ///
    /// # Errors
    ///
    /// The text has two meanings, the field has no such choice, or a spreadsheet has dropped the
    /// last digits of a number.
    pub fn canonical_text(
        &self,
        field: &FieldDefinition,
        text: &str,
    ) -> Result<String, CellProblem> {
        if field.is_unique && is_shortened_number(text) {
            return Err(CellProblem::Shortened);
        }
        match field.kind {
            FieldKind::Boolean => Ok(self.canonical_boolean(field, text)),
            FieldKind::Integer => Ok(self.canonical_integer(text)),
            FieldKind::Decimal => self.canonical_decimal(field, text),
            FieldKind::Date => self.canonical_date(field, text),
            FieldKind::Choice if !text.is_empty() => self.canonical_choice(field, text),
            FieldKind::Choice | FieldKind::Text | FieldKind::LongText => Ok(text.to_owned()),
        }
    }

    /// Returns the day of birth for an age on the day [`Self::today`], such as `ca. 3 Jahre`.
    pub fn birth_for_age(&self, age: &str) -> Option<Date> {
        ages::parse_age(age, self.today, self.words)
    }

    /// Returns `true` or `false` for a word that means yes or no, and any other text as it is. In
    /// the field for neutered animals, `kastriert` means yes.
    fn canonical_boolean(&self, field: &FieldDefinition, text: &str) -> String {
        if let Some(value) = self.words.find_yes_or_no(text) {
            return value.to_string();
        }
        let meaning = self.find_word(field.name.as_str(), &whole_key(text));
        meaning.unwrap_or(text).to_owned()
    }

    /// Returns an integer as the store writes it, and any other text without its spaces and its
    /// currency.
    fn canonical_integer(&self, text: &str) -> String {
        let number = parse_whole_number(text, self.currency);
        strip_zero_decimals(&number).to_owned()
    }

    /// Returns a number as the store writes it. Fails if the number is ambiguous.
    fn canonical_decimal(
        &self,
        field: &FieldDefinition,
        text: &str,
    ) -> Result<String, CellProblem> {
        // A price in a currency without decimals, such as yen, is a whole number.
        let has_no_decimals = self
            .currency
            .is_some_and(|currency| currency.decimals() == 0);
        let is_whole_price = field.is_price() && has_no_decimals;
        parse_number(text, self.currency, is_whole_price).map_err(CellProblem::Number)
    }

    /// Returns a date as the store writes it, and any other text as it is. A day of birth can also
    /// be given as a year, a month or an age.
    fn canonical_date(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        let mut date = self.parse_date(text)?;
        if date.is_none() && field.is_birth() {
            date = self.parse_estimated_birth(text)?;
        }
        Ok(date.map_or_else(|| text.to_owned(), |date| date.to_string()))
    }

    /// Parses a complete date. Returns an error for a date with two meanings, such as `Mar-24`,
    /// which can be a day or a month.
    fn parse_date(&self, text: &str) -> Result<Option<Date>, CellProblem> {
        let date = dates::parse_date(text, self.words).map_err(CellProblem::Date)?;
        if date.is_some() {
            return Ok(date);
        }
        match dates::parse_month_with_digits(text, self.today, self.words) {
            Some(MonthWithDigits::Ambiguous(meanings)) => Err(CellProblem::Date(meanings)),
            Some(MonthWithDigits::Month(_)) | None => Ok(None),
        }
    }

    /// Whether a text is only an estimate of a day of birth: a year, a month, an age, or a date
    /// after a word such as `ca.`.
    pub fn is_estimated_birth(&self, field: &FieldDefinition, text: &str) -> bool {
        let text = trim_cell(text);
        field.is_birth()
            && matches!(self.parse_date(text), Ok(None))
            && matches!(self.parse_estimated_birth(text), Ok(Some(_)))
    }

    /// Parses an estimate of a day of birth, such as `ca. 2019`, `05/2019`, `Mai 99` or `3 years`.
    fn parse_estimated_birth(&self, text: &str) -> Result<Option<Date>, CellProblem> {
        let key = whole_key(text);
        let estimate = ages::strip_estimate_words(&key, self.words);
        let date = self
            .parse_date(estimate)?
            .or_else(|| dates::parse_month_or_year(estimate, self.words));
        if date.is_some() {
            return Ok(date);
        }
        match dates::parse_month_with_digits(estimate, self.today, self.words) {
            Some(MonthWithDigits::Month(month)) => Ok(Some(month)),
            Some(MonthWithDigits::Ambiguous(_)) | None => Ok(self.birth_for_age(estimate)),
        }
    }

    /// Returns the value of the choice that a text names: by its value, its label, or a word for a
    /// default choice in any language.
    fn canonical_choice(&self, field: &FieldDefinition, text: &str) -> Result<String, CellProblem> {
        let choices = field.choices.as_ref().ok_or(CellProblem::NoChoice)?;
        if let Some(choice) = choices.find_by_value_or_label(text) {
            return Ok(choice.clone());
        }
        let value = self
            .find_default_choice(field.name.as_str(), text)
            .ok_or(CellProblem::NoChoice)?;
        choices.find(value).cloned().ok_or(CellProblem::NoChoice)
    }

    /// Returns the value of the choice that a word means in the fields of a new store: `Male` for
    /// `Rüde` in the field `sex`.
    fn find_default_choice(&self, field_name: &str, text: &str) -> Option<&'static str> {
        let key_with_end = whole_key(text);
        let key = key_with_end.trim_end_matches(['.', ' ']);
        let meaning = self.find_word(field_name, key);
        if meaning.is_some() {
            return meaning;
        }
        match field_name {
            SPECIES => (self.words.find_species)(text),
            SEX => self.find_sex(key),
            _ => None,
        }
    }

    /// Returns the value that the word with this key means in a field.
    fn find_word(&self, field_name: &str, key: &str) -> Option<&'static str> {
        let word = self
            .words
            .choices
            .iter()
            .find(|word| word.field == field_name && word.key == key)?;
        Some(word.value)
    }

    /// Returns the sex that a text names: `Male` for `neutered male` and `Male (intact)`. All other
    /// words of the text must say whether the animal is neutered.
    fn find_sex(&self, key: &str) -> Option<&'static str> {
        let mut sexes = Vec::new();
        for word in key.split(|character: char| !character.is_alphanumeric()) {
            if word.is_empty() || NEUTERED_OR_NOT.contains(&word) {
                continue;
            }
            sexes.push(self.find_word(SEX, word)?);
        }
        match *sexes {
            [sex] => Some(sex),
            _ => None,
        }
    }
}

/// Trims a cell: removes whitespace, no-break spaces and invisible characters around its content.
pub(crate) fn trim_cell(cell: &str) -> &str {
    cell.trim_matches(|character: char| {
        character.is_whitespace() || matches!(character, '\u{200B}' | '\u{2060}' | '\u{FEFF}')
    })
}

/// Parses an integer, as a spreadsheet writes it: ` 7`, `7.0` and `="7"` are 7. `007` is not an
/// integer, because its zeros would be lost.
pub fn parse_integer_cell(cell: &str) -> Option<i64> {
    let content = unwrap_text_formula(trim_cell(cell));
    let number = parse_whole_number(content, None);
    parse_integer(strip_zero_decimals(&number))
}

/// Removes decimals that are all zero: `7.0` becomes `7`.
fn strip_zero_decimals(number: &str) -> &str {
    match number.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|byte| byte == b'0') => whole,
        _ => number,
    }
}

/// Whether a field accepts any text. Every word in such a text may be meant literally: `None` and
/// `NA` are names.
///
/// A unique text, such as the number of a chip, identifies one animal. There, a word for a missing
/// value can only mean that.
fn is_free_text(field: &FieldDefinition) -> bool {
    matches!(field.kind, FieldKind::Text | FieldKind::LongText) && !field.is_unique
}

/// Unwraps a text from the formula that keeps a spreadsheet from converting it: `="3"` becomes `3`.
fn unwrap_text_formula(cell: &str) -> &str {
    cell.strip_prefix("=\"")
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(cell)
}
