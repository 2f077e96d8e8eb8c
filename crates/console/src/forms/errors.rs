//! The validation errors of a form, which its page shows again with the submitted values.

use std::borrow::Cow;

use maud::{Markup, html};
use petstore_languages::console_texts as texts;

/// The validation errors of a form.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    by_field: Vec<FieldError>,
    /// An error of the form as a whole.
    general: Option<Markup>,
    /// A link below the errors, to a page that helps to resolve them: its path and its label.
    pub(crate) link: Option<(String, String)>,
}

/// An error of one field.
#[derive(Debug)]
struct FieldError {
    field: Cow<'static, str>,
    message: String,
}

impl Errors {
    /// Returns the errors of a form with a single error, which is of the form as a whole.
    pub(crate) fn from_markup(message: Markup) -> Self {
        Self {
            general: Some(message),
            ..Self::default()
        }
    }

    /// Returns the errors of a form with a single error, which is of the form as a whole and has
    /// this plain text.
    pub(crate) fn from_text(message: &str) -> Self {
        Self::from_markup(html! { (message) })
    }

    /// Returns the errors of a form with a single error, which is of this field.
    pub(crate) fn for_field(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    /// Adds an error of a field.
    pub(crate) fn add(&mut self, field: impl Into<Cow<'static, str>>, message: impl Into<String>) {
        self.by_field.push(FieldError {
            field: field.into(),
            message: message.into(),
        });
    }

    /// Returns the value of a result. If the result is an error, adds its message as an error of
    /// this field, and returns `None`.
    pub(crate) fn ok_or_add<T>(
        &mut self,
        field: &'static str,
        result: Result<T, impl Into<String>>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(message) => {
                self.add(field, message);
                None
            }
        }
    }

    /// Returns the first error message of this field.
    pub(crate) fn message_for(&self, field: &str) -> Option<&str> {
        self.by_field
            .iter()
            .find(|error| error.field == field)
            .map(|error| &*error.message)
    }

    /// Returns the error messages of all fields, without the error of the form as a whole.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> {
        self.by_field.iter().map(|error| &*error.message)
    }

    /// Whether there are no errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.general.is_none()
    }

    /// Renders all errors, with the extra link below them. Each error of a field is a link to the
    /// field. Renders nothing if there are no errors.
    pub(crate) fn summary(&self) -> Markup {
        let link = html! {
            @if let Some((path, name)) = &self.link {
                p { a href=(path) { (name) } }
            }
        };
        html! {
            @if let Some(message) = &self.general {
                div.problem role="alert" tabindex="-1" autofocus { (message) (link) }
            }
            @if !self.by_field.is_empty() {
                div.problem role="alert" tabindex="-1" autofocus {
                    h2 { (texts().problem_heading) }
                    ul {
                        @for error in &self.by_field {
                            li { a href={ "#" (error.field) } { (error.message) } }
                        }
                    }
                    (link)
                }
            }
        }
    }
}
