//! Forms that know what they showed. So a person changes only what that person touched, and learns what
//! somebody else has changed meanwhile.

use maud::{Markup, html};
use petstore_domain::store_area::Preconditions;
use petstore_languages::{console_texts as texts, numbers};

use super::{forms::Errors, visit::Form};

/// How the name of the hidden field begins that has what an input showed.
const WAS: &str = "was-";

/// The field with the version of what a form shows.
const VERSION: &str = "version";

/// The hidden fields of a form that shows these values: its version, and what each input shows before
/// anybody touches it.
pub(super) fn shown(now: &Form) -> Markup {
    html! {
        @for (name, value) in now.fields() {
            @let name = if name == VERSION { name.clone() } else { format!("{WAS}{name}") };
            input type="hidden" name=(name) value=(value);
        }
    }
}

/// The value that a form showed of an input; `None` if it does not say so.
pub(super) fn was<'f>(sent: &'f Form, name: &str) -> Option<&'f str> {
    sent.all(&format!("{WAS}{name}")).next()
}

/// Whether a field of a form says what an input showed.
pub(super) fn is_of_before(name: &str) -> bool {
    name.starts_with(WAS)
}

/// Whether somebody has touched an input of a form.
pub(super) fn is_touched(sent: &Form, name: &str) -> bool {
    sent.all(name)
        .any(|typed| was(sent, name).is_none_or(|was| lines(typed) != lines(was)))
}

/// Whether two forms differ in an input that both have.
pub(super) fn differs(form: &Form, other: &Form, name: &str) -> bool {
    form.all(name)
        .zip(other.all(name))
        .any(|(one, other)| lines(one) != lines(other))
}

/// A text with the line ends of the store. Browsers send CR LF.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A form that was sent, and what is there now.
pub(super) struct Merged {
    /// The typed values. An input that nobody touched has the present value.
    pub(super) form: Form,
    /// Changes by others since the form was shown.
    changes: Vec<Change>,
    version: Option<i64>,
}

struct Change {
    name: String,
    was: Option<String>,
    now: String,
    /// Whether the person who sent the form has changed it, too.
    is_touched: bool,
}

impl Merged {
    /// Compares a form with what its inputs would show now. If it does not have what they showed, it
    /// counts as touched.
    pub(super) fn of(sent: &Form, now: &Form) -> Self {
        let present = |name: &str| now.all(name).next();
        let form = sent
            .fields()
            .iter()
            .filter(|(name, _)| !name.starts_with(WAS));
        let form = form.map(|(name, typed)| {
            let is_kept = name == VERSION || !is_touched(sent, name);
            let value = present(name).filter(|_| is_kept).unwrap_or(typed);
            (name.clone(), value.to_owned())
        });
        let version = sent.get(VERSION);
        let is_current = version.is_empty() || version == now.get(VERSION);
        let change = |(name, now): &(String, String)| {
            let was = was(sent, name);
            // As after a second click.
            let is_wanted = sent.all(name).any(|typed| spelled(typed) == spelled(now));
            let is_same = was.is_some_and(|was| lines(was) == lines(now));
            let is_told = was.is_some() || sent.all(name).next().is_some();
            (is_told && !is_wanted && !is_same && name != VERSION).then(|| Change {
                name: name.clone(),
                was: was.map(str::to_owned),
                now: now.clone(),
                is_touched: is_touched(sent, name),
            })
        };
        let changes = now
            .fields()
            .iter()
            .filter(|_| !is_current)
            .filter_map(change)
            .collect();
        // A button that undoes something says only of which version.
        let knows =
            version.is_empty() || sent.fields().iter().any(|(name, _)| name.starts_with(WAS));
        let version = if knows { now } else { sent }.integer(VERSION);
        Self {
            form: form.collect(),
            changes,
            version,
        }
    }

    /// The condition of a change: nothing else changes meanwhile. If it is refused, nothing fulfils it,
    /// but a second click on a form that was carried out still shows its message.
    pub(super) fn preconditions(&self, is_refused: bool) -> Preconditions {
        Preconditions::version(self.version.filter(|_| !is_refused).unwrap_or(0))
    }

    /// Whether two people changed the same input.
    pub(super) fn is_conflict(&self) -> bool {
        self.changes.iter().any(|change| change.is_touched)
    }

    /// Messages about the changes by others, in these words; only about inputs that were also typed, if
    /// only those count.
    pub(super) fn errors(
        &self,
        counts_typed: bool,
        words: impl Fn(&str, &str) -> Option<(String, String)>,
    ) -> Errors {
        let mut errors = Errors::default();
        for Change {
            name,
            was,
            now,
            is_touched,
        } in &self.changes
        {
            let was = was
                .as_ref()
                .and_then(|was| words(name, was))
                .map(|(_, was)| was);
            if let Some((label, now)) = words(name, now).filter(|_| *is_touched || !counts_typed) {
                errors.add(
                    name.clone(),
                    texts().now_changed(&label, &now, was.as_deref()),
                );
            }
        }
        errors
    }
}

/// A value without regard to its spelling, which the store can change.
fn spelled(typed: &str) -> String {
    let typed = lines(typed);
    numbers().parse(&typed, None, false).unwrap_or(typed)
}
