//! Merges a submitted form with the changes that other people have made since it was rendered.
//!
//! This is a three-way merge of the value that an input showed, the submitted value, and the
//! current value. The form changes only the inputs that the person touched, and the person learns
//! what somebody else has changed in the meantime.
//!
//! An entry is what the form shows and changes, such as an animal or an order.

use maud::{Markup, html};
use petstore_domain::store_area::{Decimal, Preconditions};
use petstore_formats::cells::parse_number;
use petstore_languages::console_texts as texts;

use super::{forms::Errors, visit::Form};

/// The prefix of hidden fields with the initial values of inputs: `was-name` holds what the input
/// `name` showed.
const INITIAL_VALUE_PREFIX: &str = "was-";

/// The hidden field with the version of the entry that the form shows.
const VERSION: &str = "version";

/// Renders the hidden fields that a form needs for the merge: the version, and the initial value of
/// each input. `current_form` has the values that the form shows.
pub(super) fn hidden_fields(current_form: &Form) -> Markup {
    html! {
        @for (name, value) in current_form.fields() {
            @if name == VERSION {
                input type="hidden" name=(name) value=(value);
            } @else {
                input type="hidden" name={ (INITIAL_VALUE_PREFIX) (name) } value=(value);
            }
        }
    }
}

/// Finds the initial value of an input: what it showed when the form was rendered. Returns `None`
/// if the form has no hidden field with the initial value.
pub(super) fn find_initial_value<'f>(submitted_form: &'f Form, name: &str) -> Option<&'f str> {
    let field = format!("{INITIAL_VALUE_PREFIX}{name}");
    submitted_form.all(&field).next()
}

/// Whether this is the name of a hidden field with an initial value.
pub(super) fn is_initial_value_name(name: &str) -> bool {
    name.starts_with(INITIAL_VALUE_PREFIX)
}

/// Whether the person changed the value of an input before submitting the form. An input without a
/// recorded initial value counts as touched.
pub(super) fn is_touched(submitted_form: &Form, name: &str) -> bool {
    let initial_value = find_initial_value(submitted_form, name);
    submitted_form.all(name).any(|value| match initial_value {
        Some(initial_text) => !is_same_text(value, initial_text),
        None => true,
    })
}

/// Whether two forms have different values for an input. An input that only one form has does not
/// count.
pub(super) fn differs(form: &Form, other_form: &Form, name: &str) -> bool {
    let mut value_pairs = form.all(name).zip(other_form.all(name));
    value_pairs.any(|(value, other_value)| !is_same_text(value, other_value))
}

/// Whether two texts are equal apart from their line endings.
fn is_same_text(text: &str, other_text: &str) -> bool {
    with_line_feeds(text) == with_line_feeds(other_text)
}

/// Converts the line endings of a text to line feeds, as in the store. Browsers submit CR LF.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The result of merging a submitted form with the current values.
pub(super) struct MergedForm {
    /// The submitted values, with the current value for each input that the person did not touch.
    pub(super) form: Form,
    /// The changes by others since the form was rendered.
    concurrent_changes: Vec<ConcurrentChange>,
    /// The version that the entry must have when the form is applied. See [`required_version`].
    required_version: Option<i64>,
}

/// A change of one value by somebody else since the form was rendered.
struct ConcurrentChange {
    /// The name of the input.
    name: String,
    initial_value: Option<String>,
    current_value: String,
    /// Whether the person who submitted the form has changed the value, too.
    is_touched: bool,
}

/// The changes by others that are reported to the person who submitted the form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedChanges {
    All,
    /// Only changes of inputs that the person has touched, too.
    Conflicts,
}

impl MergedForm {
    /// Merges a submitted form with `current_form`, the form as it would be rendered now.
    pub(super) fn new(submitted_form: &Form, current_form: &Form) -> Self {
        let shown_version = submitted_form.get(VERSION);
        // A form without a version does not say which changes came after it, so none is reported.
        let is_current = shown_version.is_empty() || shown_version == current_form.get(VERSION);
        let concurrent_changes = if is_current {
            Vec::new()
        } else {
            find_concurrent_changes(submitted_form, current_form)
        };

        Self {
            form: merge_values(submitted_form, current_form),
            concurrent_changes,
            required_version: required_version(submitted_form, current_form),
        }
    }

    /// Returns the precondition for executing the form: the entry still has the version with which
    /// the form was merged.
    ///
    /// A form that `is_refused` is executed, too, with a precondition that nothing can meet. It may
    /// be the second click of a double click whose first click was applied. The store then returns
    /// the remembered response to the first click.
    pub(super) fn preconditions(&self, is_refused: bool) -> Preconditions {
        match self.required_version {
            Some(version) if !is_refused => Preconditions::version(version),
            _ => Preconditions::IMPOSSIBLE,
        }
    }

    /// Whether the person and somebody else changed the same input.
    pub(super) fn is_conflict(&self) -> bool {
        self.concurrent_changes
            .iter()
            .any(|change| change.is_touched)
    }

    /// Returns a message for each of the reported changes by others. The messages are errors of the
    /// changed inputs, so that the page links each one to its input.
    ///
    /// `in_words` gets the name and a value of an input, and returns the label of the input and the
    /// value in words. An input for which it returns `None` gets no message, because people do not
    /// see the input.
    pub(super) fn change_messages(
        &self,
        reported: ReportedChanges,
        in_words: impl Fn(&str, &str) -> Option<(String, String)>,
    ) -> Errors {
        let mut errors = Errors::default();
        for change in &self.concurrent_changes {
            if reported == ReportedChanges::Conflicts && !change.is_touched {
                continue;
            }
            let Some((label, current_words)) = in_words(&change.name, &change.current_value) else {
                continue;
            };
            let initial_words = match &change.initial_value {
                Some(initial_value) => {
                    in_words(&change.name, initial_value).map(|(_label, words)| words)
                }
                None => None,
            };
            let message = texts().now_changed(&label, &current_words, initial_words.as_deref());
            errors.add(change.name.clone(), message);
        }
        errors
    }
}

/// Returns the version that the entry must have when the merged form is applied. A form with an
/// invalid version gets `None`, and can never be applied.
///
/// A form with initial values was merged input by input, so it applies to the current version. A
/// form without them, but with a version, applies only to that version.
fn required_version(submitted_form: &Form, current_form: &Form) -> Option<i64> {
    let has_initial_values = submitted_form
        .fields()
        .iter()
        .any(|(name, _)| is_initial_value_name(name));
    if submitted_form.get(VERSION).is_empty() || has_initial_values {
        current_form.integer(VERSION)
    } else {
        submitted_form.integer(VERSION)
    }
}

/// Returns the submitted form without the hidden initial values. The version and the values of
/// untouched inputs are replaced by the current ones.
fn merge_values(submitted_form: &Form, current_form: &Form) -> Form {
    let mut values = Vec::new();
    for (name, submitted_value) in submitted_form.fields() {
        if is_initial_value_name(name) {
            continue;
        }
        let takes_current_value = name == VERSION || !is_touched(submitted_form, name);
        // Names are unique in a current form, so a name has at most one current value.
        let value = match current_form.all(name).next() {
            Some(current_value) if takes_current_value => current_value,
            _ => submitted_value,
        };
        values.push((name.clone(), value.to_owned()));
    }
    values.into_iter().collect()
}

/// Finds the inputs of the form whose current values differ from what the form showed, because
/// somebody else has changed them.
///
/// Skips an input whose submitted value is the current one. The change that set it was probably the
/// first click of a double click on this form.
fn find_concurrent_changes(submitted_form: &Form, current_form: &Form) -> Vec<ConcurrentChange> {
    let mut changes = Vec::new();
    for (name, current_value) in current_form.fields() {
        if name == VERSION {
            continue;
        }
        let initial_value = find_initial_value(submitted_form, name);
        let is_in_form = initial_value.is_some() || submitted_form.all(name).next().is_some();
        let is_unchanged = initial_value.is_some_and(|value| is_same_text(value, current_value));
        // A form has a number as a person typed it, and the store has it in its own spelling.
        let equals_submitted_value = submitted_form
            .all(name)
            .any(|value| with_stored_spelling(value) == with_stored_spelling(current_value));

        if is_in_form && !is_unchanged && !equals_submitted_value {
            changes.push(ConcurrentChange {
                name: name.clone(),
                initial_value: initial_value.map(str::to_owned),
                current_value: current_value.clone(),
                is_touched: is_touched(submitted_form, name),
            });
        }
    }
    changes
}

/// Converts a value to the spelling of the store, for a comparison: a number such as `1,5` becomes
/// `1.5`. In other texts, only the line endings change.
fn with_stored_spelling(value: &str) -> String {
    let text = with_line_feeds(value);
    let currency = None;
    let is_whole = false;
    match parse_number(&text, currency, is_whole) {
        Ok(number) if Decimal::new(&number).is_some() => number,
        _ => text,
    }
}
