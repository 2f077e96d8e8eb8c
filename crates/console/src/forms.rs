//! The inputs of forms and their errors: the problems next to each input, and what was typed into it.

mod parsing;

use std::borrow::Cow;

use maud::{Markup, html};
use petstore_domain::{
    PetStatus,
    store_area::{Category, WithdrawalReason, zone_regions},
};
use petstore_languages::console_texts as texts;

pub(super) use self::parsing::{
    ambiguous_number_message, find_category, is_named, names_of, parse_contact, parse_id,
    parse_label, parse_listing, parse_name, parse_optional_text, parse_price,
    parse_reservation_end, parse_status, parse_withdrawal_reason,
};
use super::{markup, visit::Form, zone};

/// The problems of a form.
#[derive(Debug, Default)]
pub(super) struct Errors {
    by_field: Vec<FieldError>,
    /// A problem that concerns no field, or is not about the form.
    general: Option<Markup>,
    /// The path of a page that explains the problems, and its name.
    pub(super) link: Option<(String, String)>,
}

/// A problem of one field.
#[derive(Debug)]
struct FieldError {
    field: Cow<'static, str>,
    message: String,
}

impl Errors {
    /// Returns a problem that concerns no field.
    pub(super) fn from_markup(message: Markup) -> Self {
        Self {
            general: Some(message),
            ..Self::default()
        }
    }

    /// Returns a problem that concerns no field, as plain text.
    pub(super) fn from_text(message: &str) -> Self {
        Self::from_markup(html! { (message) })
    }

    /// Returns a problem of this field.
    pub(super) fn for_field(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    /// Adds a problem of a field.
    pub(super) fn add(&mut self, field: impl Into<Cow<'static, str>>, message: impl Into<String>) {
        self.by_field.push(FieldError {
            field: field.into(),
            message: message.into(),
        });
    }

    /// Returns the value of a result. Adds the message of an error as a problem of this field.
    pub(super) fn take<T>(
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

    /// Returns the first problem of this field.
    pub(super) fn message_for(&self, field: &str) -> Option<&str> {
        self.by_field
            .iter()
            .find(|error| error.field == field)
            .map(|error| &*error.message)
    }

    /// Returns the problems of all fields.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        self.by_field.iter().map(|error| &*error.message)
    }

    /// Whether there are no problems.
    pub(super) fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.general.is_none()
    }

    /// Renders all problems, with links to their fields, or nothing if there are none.
    pub(super) fn summary(&self) -> Markup {
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

/// An input with its label, its hint and its error.
#[derive(Default)]
pub(super) struct Input<'a> {
    pub(super) id: &'a str,
    /// The beginning of the identifier, on a page with two inputs of this name.
    pub(super) id_prefix: &'a str,
    pub(super) label: &'a str,
    pub(super) hint: Option<&'a str>,
    pub(super) value: &'a str,
    pub(super) error: Option<&'a str>,
    /// The `type` in HTML, `text` if empty; `textarea` for several lines.
    pub(super) kind: &'a str,
    pub(super) is_optional: bool,
    pub(super) is_required: bool,
    /// Whether the input has the focus when the page opens.
    pub(super) is_first: bool,
    /// The kind of value that a password manager may fill in; nothing if empty.
    pub(super) autocomplete: &'a str,
    /// The keyboard of a phone; the one for texts if empty.
    pub(super) inputmode: &'a str,
    /// The identifier of a list of proposals.
    pub(super) list: Option<&'a str>,
}

impl<'a> Input<'a> {
    /// Returns an input with what was typed into it, and with the problem of that text.
    pub(super) fn from_form(
        id: &'a str,
        label: &'a str,
        form: &'a Form,
        errors: &'a Errors,
    ) -> Self {
        Self {
            id,
            label,
            value: form.raw(id),
            error: errors.message_for(id),
            ..Self::default()
        }
    }

    /// Adds a hint below the input.
    pub(super) fn with_hint(mut self, hint: &'a str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Marks the input as one that people may leave empty.
    pub(super) fn make_optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Makes the browser demand a value.
    pub(super) fn make_required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Makes the input one for several lines.
    pub(super) fn make_multiline(mut self) -> Self {
        self.kind = "textarea";
        self
    }

    /// Renders the input with its label, its hint and its error.
    pub(super) fn show(&self) -> Markup {
        let control = if self.kind == "textarea" {
            self.textarea()
        } else {
            self.text_input()
        };
        self.with_label(&control)
    }

    /// Renders the element for several lines, as high as its text.
    fn textarea(&self) -> Markup {
        let height = self.value.lines().count().clamp(3, 16);
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            textarea #{ (self.id_prefix) (self.id) } name=(self.id) dir="auto"
                aria-describedby=[described_by] rows=(height)
                aria-invalid=[invalid] { "\n" (self.value) }
        }
    }

    /// Renders the element for one line.
    fn text_input(&self) -> Markup {
        let kind = non_empty(self.kind).unwrap_or("text");
        let autocomplete = non_empty(self.autocomplete).unwrap_or("off");
        let inputmode = non_empty(self.inputmode);
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            input #{ (self.id_prefix) (self.id) } name=(self.id) type=(kind)
                value=(self.value) dir="auto"
                autocomplete=(autocomplete) required[self.is_required] list=[self.list]
                autofocus[self.is_first] inputmode=[inputmode]
                aria-describedby=[described_by] aria-invalid=[invalid];
        }
    }

    /// Renders a choice between these values and labels; the value of the input is chosen.
    pub(super) fn choose(&self, options: &[(impl AsRef<str>, impl AsRef<str>)]) -> Markup {
        let options = html! {
            @for (value, label) in options { (self.option(value.as_ref(), label.as_ref())) }
        };
        self.with_label(&self.select(&options, None))
    }

    /// Renders a choice between the time zones, by region; the value of the input is chosen. A script offers the zone of the
    /// device first.
    pub(super) fn choose_zone(&self) -> Markup {
        let options = html! {
            (self.option("", texts().not_chosen))
            (self.option("UTC", "UTC"))
            @for (region, label) in zone_regions().iter().zip(texts().zone_regions) {
                optgroup label=(label) {
                    @for zone in &region.zones { (self.option(zone, &zone_label(zone))) }
                }
            }
        };
        self.with_label(&self.select(&options, Some(texts().zone_of_device)))
    }

    /// Renders the element for a choice. `device_label` is the label above an option of the device.
    fn select(&self, options: &Markup, device_label: Option<&str>) -> Markup {
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            select #(self.id) name=(self.id) aria-describedby=[described_by]
                aria-invalid=[invalid] data-device=[device_label] { (options) }
        }
    }

    /// Renders an option of a choice.
    fn option(&self, value: &str, label: &str) -> Markup {
        html! { option value=(value) selected[value == self.value] { (label) } }
    }

    /// Returns the identifiers of the hint and of the error, for `aria-describedby`.
    fn described_by(&self) -> Option<String> {
        let mut ids = Vec::new();
        if self.hint.is_some() {
            ids.push(format!("{}{}-hint", self.id_prefix, self.id));
        }
        if self.error.is_some() {
            ids.push(format!("{}{}-error", self.id_prefix, self.id));
        }
        if ids.is_empty() {
            return None;
        }
        Some(ids.join(" "))
    }

    /// Renders the label, the hint and the error around an element.
    fn with_label(&self, control: &Markup) -> Markup {
        html! {
            div.field {
                label for={ (self.id_prefix) (self.id) } {
                    (self.label)
                    @if self.is_optional { " " span.hint { (texts().optional) } }
                }
                (control)
                @if let Some(hint) = self.hint {
                    div.hint id={ (self.id_prefix) (self.id) "-hint" } { (hint) }
                }
                @if let Some(error) = self.error {
                    p.error id={ (self.id_prefix) (self.id) "-error" } { (error) }
                }
            }
        }
    }
}

/// Returns a time zone as people read it in its region: `Argentina, Buenos Aires` for `America/Argentina/Buenos_Aires`.
fn zone_label(zone: &str) -> String {
    let place = zone.split_once('/').map_or(zone, |(_, place)| place);
    place.replace('/', ", ").replace('_', " ")
}

/// Returns the text, or `None` if it is empty.
fn non_empty(text: &str) -> Option<&str> {
    if text.is_empty() { None } else { Some(text) }
}

/// Renders the proposals for inputs of categories.
pub(super) fn category_list(categories: &[Category]) -> Markup {
    html! {
        datalist #categories {
            @for category in categories {
                option value=(markup::readable(category.label.as_str(), markup::SHORT_LENGTH)) {}
            }
        }
    }
}

/// Returns the values and labels of the reasons for a withdrawal, after one that demands a choice.
pub(super) fn withdrawal_reason_options() -> Vec<(&'static str, &'static str)> {
    let mut options = vec![("", texts().choose)];
    for reason in WithdrawalReason::ALL {
        options.push((reason.as_str(), texts().reason(reason)));
    }
    options
}

/// Returns the values and labels of all statuses.
pub(super) fn status_options() -> Vec<(&'static str, &'static str)> {
    PetStatus::ALL
        .map(|status| (status.as_str(), texts().status(status)))
        .to_vec()
}

/// Returns the values and labels of whether the window may show an animal.
pub(super) fn listing_options() -> Vec<(&'static str, &'static str)> {
    vec![
        ("true", texts().on_website),
        ("false", texts().not_on_website),
    ]
}

/// Returns the words for whether the window may show an animal.
pub(super) fn listing_words(is_listed: bool) -> &'static str {
    if is_listed {
        texts().on_website
    } else {
        texts().not_on_website
    }
}

/// Renders the input for the day that [`parse_reservation_end`] parses. If the store has no time zone, a script sets the offset
/// of the reader.
pub(super) fn day_input(value: &str, error: Option<&str>) -> Markup {
    let input = Input {
        id: "until",
        label: texts().until,
        value,
        error,
        kind: "date",
        ..Input::default()
    };
    html! {
        (input.show())
        @if zone::store_zone().is_none() {
            input type="hidden" name="until-offset" value="0";
        }
    }
}
