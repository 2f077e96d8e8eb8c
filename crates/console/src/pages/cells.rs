//! The reader of the texts that members type or paste for the fields of an animal. Also the
//! messages for a text that is ambiguous or not valid for its field.

use jiff::civil::Date;
use petstore_domain::store_area::FieldDefinition;
use petstore_formats::cells::{CellProblem, CellReader};
use petstore_languages::{console_texts as texts, language, numbers, table_words};

use super::{field_form::choice_values, parts};
use crate::{desk::Desk, forms, markup};

/// The maximum number of choices that a message lists, so that the message stays short.
const MAX_CHOICES_IN_MESSAGE: usize = 12;

impl Desk<'_> {
    /// Returns a reader that parses typed texts and pasted cells in the language of the request.
    pub(super) fn cell_reader(&self) -> CellReader<'_> {
        CellReader {
            words: table_words(language()),
            currency: self.currency(),
            today: parts::today(self),
        }
    }
}

/// Returns the message that explains why `text` is not accepted as a value of the field.
pub(super) fn problem_message(
    problem: &CellProblem,
    field: &FieldDefinition,
    text: &str,
) -> String {
    match problem {
        CellProblem::Number(ambiguous) => forms::ambiguous_number_message(text, ambiguous),
        CellProblem::Date([first_date, second_date]) => {
            ambiguous_date_message(text, *first_date, *second_date)
        }
        CellProblem::NoChoice => no_choice_message(field, text),
        CellProblem::SpreadsheetError => spreadsheet_error_message(text),
        CellProblem::Shortened => {
            let readable_text = markup::readable(text, markup::SHORT_LENGTH);
            texts().number_shortened(&readable_text)
        }
    }
}

/// Returns the message that a cell holds an error of the spreadsheet, such as `#REF!`, instead of a
/// value.
pub(super) fn spreadsheet_error_message(cell: &str) -> String {
    texts().spreadsheet_error(&markup::readable(cell, markup::SHORT_LENGTH))
}

/// Returns the message that a date is ambiguous. The message shows both days that the text can
/// mean, each in words and in an unambiguous spelling.
///
/// In English, `03/04/2024` is ambiguous, and the spellings are `2024-03-04` and `2024-04-03`.
fn ambiguous_date_message(text: &str, first_date: Date, second_date: Date) -> String {
    let meanings = [numbers().date(first_date), numbers().date(second_date)];
    let spellings = [first_date.to_string(), second_date.to_string()];
    texts().ambiguous(
        text,
        [&meanings[0], &meanings[1]],
        [&spellings[0], &spellings[1]],
    )
}

/// Returns the message that a text is not one of the choices of the field. The message lists the
/// labels of the first [`MAX_CHOICES_IN_MESSAGE`] choices.
fn no_choice_message(field: &FieldDefinition, text: &str) -> String {
    let choices = choice_values(field);
    let mut labels = Vec::new();
    for choice in choices.iter().take(MAX_CHOICES_IN_MESSAGE) {
        labels.push(markup::readable(
            field.display_text(choice),
            markup::SHORT_LENGTH,
        ));
    }
    if choices.len() > MAX_CHOICES_IN_MESSAGE {
        labels.push("…".to_owned());
    }
    texts().no_choice(
        &markup::readable(text, markup::SHORT_LENGTH),
        &labels.join(", "),
    )
}
