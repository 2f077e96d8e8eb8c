//! Three-way merge of forms: what an input showed, what was submitted, and the present value. So a person
//! changes only what that person touched, and learns what somebody else has changed since the form was shown.

use maud::{Markup, html};
use petstore_domain::store_area::Preconditions;
use petstore_formats::cells::parse_number;
use petstore_languages::console_texts as texts;

use super::{forms::Errors, visit::Form};

/// The prefix of a hidden field that holds what the input of the same name showed.
const INITIAL_VALUE_PREFIX: &str = "was-";

/// The name of the field with the version of the entry that a form shows.
const VERSION: &str = "version";

/// Renders the hidden fields of a form that shows these values: its version, and what each input shows before
/// anybody touches it.
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

/// Returns the value that a form showed in an input; `None` if the form does not say so.
pub(super) fn initial_value<'f>(submitted_form: &'f Form, name: &str) -> Option<&'f str> {
    let field = format!("{INITIAL_VALUE_PREFIX}{name}");
    submitted_form.all(&field).next()
}

/// Whether a field of a form has this name because it holds what an input showed.
pub(super) fn is_initial_value_name(name: &str) -> bool {
    name.starts_with(INITIAL_VALUE_PREFIX)
}

/// Whether somebody has touched an input of a form. An input counts as touched if the form does not say what
/// the input showed.
pub(super) fn is_touched(submitted_form: &Form, name: &str) -> bool {
    let shown_value = initial_value(submitted_form, name);
    submitted_form
        .all(name)
        .any(|value| shown_value.is_none_or(|initial| !is_same_text(value, initial)))
}

/// Whether two forms differ in an input that both have.
pub(super) fn differs(form: &Form, other_form: &Form, name: &str) -> bool {
    let mut pairs = form.all(name).zip(other_form.all(name));
    pairs.any(|(value, other_value)| !is_same_text(value, other_value))
}

/// Whether two texts differ at most in their line ends.
fn is_same_text(text: &str, other_text: &str) -> bool {
    with_line_feeds(text) == with_line_feeds(other_text)
}

/// Returns a text with the line ends of the store. Browsers send CR LF.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A submitted form, compared with the present values.
pub(super) struct MergedForm {
    /// The typed values. An input that nobody touched has the present value.
    pub(super) form: Form,
    /// Changes by others since the form was shown.
    changes: Vec<ConcurrentChange>,
    /// The version that the entry must have so that the change is carried out; `None` if nothing can be.
    version: Option<i64>,
}

/// A value that somebody else has changed since the form was shown.
struct ConcurrentChange {
    /// The name of the input.
    name: String,
    initial_value: Option<String>,
    current_value: String,
    /// Whether the person who sent the form has changed it, too.
    is_touched: bool,
}

/// The changes by others about which a person gets messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedChanges {
    All,
    /// The changes of inputs that the person has touched, too.
    Conflicts,
}

impl MergedForm {
    /// Compares a form with what its inputs would show now. An input without an initial value in the form
    /// counts as touched.
    pub(super) fn new(submitted_form: &Form, current_form: &Form) -> Self {
        let shown_version = submitted_form.get(VERSION);
        let is_current = shown_version.is_empty() || shown_version == current_form.get(VERSION);
        let changes = if is_current {
            Vec::new()
        } else {
            concurrent_changes(submitted_form, current_form)
        };

        // A form without initial values says only the version to which it applies.
        let has_initial_values = submitted_form
            .fields()
            .iter()
            .any(|(name, _)| is_initial_value_name(name));
        let version = if shown_version.is_empty() || has_initial_values {
            current_form.integer(VERSION)
        } else {
            submitted_form.integer(VERSION)
        };

        Self {
            form: merged_values(submitted_form, current_form),
            changes,
            version,
        }
    }

    /// Returns the precondition of the change that the form makes: that the entry still has the version with
    /// which the form was compared.
    ///
    /// A change that is refused must be sent to the store all the same, with a precondition that nothing
    /// meets. Then the second click on a form that was carried out finds the response of the first one.
    pub(super) fn preconditions(&self, is_refused: bool) -> Preconditions {
        match self.version {
            Some(version) if !is_refused => Preconditions::version(version),
            _ => Preconditions::IMPOSSIBLE,
        }
    }

    /// Whether two people changed the same input.
    pub(super) fn is_conflict(&self) -> bool {
        self.changes.iter().any(|change| change.is_touched)
    }

    /// Returns a message for each change by others that is reported. `in_words` returns the label of an input,
    /// and a value of the input in words.
    pub(super) fn change_messages(
        &self,
        reported: ReportedChanges,
        in_words: impl Fn(&str, &str) -> Option<(String, String)>,
    ) -> Errors {
        let mut errors = Errors::default();
        for change in &self.changes {
            if reported == ReportedChanges::Conflicts && !change.is_touched {
                continue;
            }
            let Some((label, current_words)) = in_words(&change.name, &change.current_value) else {
                continue;
            };
            let initial_words = change
                .initial_value
                .as_ref()
                .and_then(|value| in_words(&change.name, value))
                .map(|(_, words)| words);
            let message = texts().now_changed(&label, &current_words, initial_words.as_deref());
            errors.add(change.name.clone(), message);
        }
        errors
    }
}

/// Returns the submitted form with the current values of the inputs that nobody touched, and without the hidden inputs
/// that hold the initial values.
fn merged_values(submitted_form: &Form, current_form: &Form) -> Form {
    let mut values = Vec::new();
    for (name, submitted_value) in submitted_form.fields() {
        if is_initial_value_name(name) {
            continue;
        }
        let takes_current_value = name == VERSION || !is_touched(submitted_form, name);
        // Each input of a current form has another name, so a name has at most one current value.
        let value = match current_form.all(name).next() {
            Some(current_value) if takes_current_value => current_value,
            _ => submitted_value,
        };
        values.push((name.clone(), value.to_owned()));
    }
    values.into_iter().collect()
}

/// Returns the values of the form that somebody else has changed since it was shown.
///
/// A value that the form sets to the same value is left out: it was probably changed by the first of two
/// clicks on this form.
fn concurrent_changes(submitted_form: &Form, current_form: &Form) -> Vec<ConcurrentChange> {
    let mut changes = Vec::new();
    for (name, current_value) in current_form.fields() {
        if name == VERSION {
            continue;
        }
        let shown_value = initial_value(submitted_form, name);
        let is_in_form = shown_value.is_some() || submitted_form.all(name).next().is_some();
        let is_unchanged = shown_value.is_some_and(|initial| is_same_text(initial, current_value));
        let sets_same_value = submitted_form
            .all(name)
            .any(|value| with_stored_spelling(value) == with_stored_spelling(current_value));

        if is_in_form && !is_unchanged && !sets_same_value {
            changes.push(ConcurrentChange {
                name: name.clone(),
                initial_value: shown_value.map(str::to_owned),
                current_value: current_value.clone(),
                is_touched: is_touched(submitted_form, name),
            });
        }
    }
    changes
}

/// Returns a value in the spelling of the store: a number such as `1,5` becomes `1.5`, and other texts change only in
/// their line ends.
fn with_stored_spelling(value: &str) -> String {
    let text = with_line_feeds(value);
    parse_number(&text, None, false).unwrap_or(text)
}
