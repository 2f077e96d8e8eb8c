//! Three-way merge of forms: the value that an input showed, the submitted value, and the current
//! value. So a form changes only the inputs that the person touched, and the person learns what
//! somebody else has changed since the form was rendered.

use maud::{Markup, html};
use petstore_domain::store_area::Preconditions;
use petstore_formats::cells::parse_number;
use petstore_languages::console_texts as texts;

use super::{forms::Errors, visit::Form};

/// The prefix of hidden fields with the initial values of inputs: `was-name` holds what the input
/// `name` showed.
const INITIAL_VALUE_PREFIX: &str = "was-";

/// The hidden field with the version of the entry that the form shows.
const VERSION: &str = "version";

/// Renders the hidden fields of a form that shows these values: the version, and the initial value
/// of each input.
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

/// Returns the value that an input showed when the form was rendered; `None` if the form does not
/// record it.
pub(super) fn initial_value<'f>(submitted_form: &'f Form, name: &str) -> Option<&'f str> {
    let field = format!("{INITIAL_VALUE_PREFIX}{name}");
    submitted_form.all(&field).next()
}

/// Whether this is the name of a hidden field with an initial value.
pub(super) fn is_initial_value_name(name: &str) -> bool {
    name.starts_with(INITIAL_VALUE_PREFIX)
}

/// Whether the person changed an input before submitting the form. An input without a recorded
/// initial value counts as touched.
pub(super) fn is_touched(submitted_form: &Form, name: &str) -> bool {
    let shown_value = initial_value(submitted_form, name);
    submitted_form
        .all(name)
        .any(|value| shown_value.is_none_or(|initial| !is_same_text(value, initial)))
}

/// Whether two forms have different values for an input. An input that only one of them has does
/// not count.
pub(super) fn differs(form: &Form, other_form: &Form, name: &str) -> bool {
    let mut pairs = form.all(name).zip(other_form.all(name));
    pairs.any(|(value, other_value)| !is_same_text(value, other_value))
}

/// Whether two texts are equal apart from their line endings.
fn is_same_text(text: &str, other_text: &str) -> bool {
    with_line_feeds(text) == with_line_feeds(other_text)
}

/// Returns a text with line feeds, as the store has it. Browsers submit CR LF.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A submitted form, merged with the current values.
pub(super) struct MergedForm {
    /// The submitted values, with the current value for each input that the person did not touch.
    pub(super) form: Form,
    /// What others have changed since the form was rendered.
    changes: Vec<ConcurrentChange>,
    /// The version that the entry must still have for the change to apply; `None` if the change can
    /// never apply.
    version: Option<i64>,
}

/// A value that somebody else has changed since the form was rendered.
struct ConcurrentChange {
    /// The name of the input.
    name: String,
    initial_value: Option<String>,
    current_value: String,
    /// Whether the person who submitted the form has changed it, too.
    is_touched: bool,
}

/// Which changes by others are reported to the person who submitted the form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedChanges {
    All,
    /// Only changes to inputs that the person has touched, too.
    Conflicts,
}

impl MergedForm {
    /// Merges a submitted form with `current_form`, which has the values that its inputs would show
    /// now.
    pub(super) fn new(submitted_form: &Form, current_form: &Form) -> Self {
        let shown_version = submitted_form.get(VERSION);
        let is_current = shown_version.is_empty() || shown_version == current_form.get(VERSION);
        let changes = if is_current {
            Vec::new()
        } else {
            concurrent_changes(submitted_form, current_form)
        };

        // A form that records initial values was compared input by input, so it applies to the
        // current version. Without them, the form applies only to the version that it states, if it
        // states one.
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

    /// Returns the precondition for the form's change: that the entry still has the version against
    /// which the form was merged.
    ///
    /// A refused change must still be sent to the store, with a precondition that can never be met.
    /// This way, the second of two clicks finds the remembered response of the first one, which was
    /// carried out.
    pub(super) fn preconditions(&self, is_refused: bool) -> Preconditions {
        match self.version {
            Some(version) if !is_refused => Preconditions::version(version),
            _ => Preconditions::IMPOSSIBLE,
        }
    }

    /// Whether the person and somebody else changed the same input.
    pub(super) fn is_conflict(&self) -> bool {
        self.changes.iter().any(|change| change.is_touched)
    }

    /// Returns a message for each reported change by others. `in_words` returns an input's label
    /// and a value in words, or `None` for an input that people do not see.
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

/// Returns the submitted form with the current value for each untouched input, and without the
/// hidden initial values.
fn merged_values(submitted_form: &Form, current_form: &Form) -> Form {
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

/// Finds the inputs whose current values differ from what the form showed, because somebody else
/// has changed them.
///
/// Skips a value that the form itself sets to the current value: it was probably changed by the
/// first of two clicks on this very form.
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

/// Returns a value in the store's spelling: a number such as `1,5` becomes `1.5`. In other texts,
/// only the line endings change.
fn with_stored_spelling(value: &str) -> String {
    let text = with_line_feeds(value);
    parse_number(&text, None, false).unwrap_or(text)
}
