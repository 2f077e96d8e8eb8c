//! Form inputs: renders them with the submitted values and the errors, and parses what people
//! typed.

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

/// The validation errors of a form.
#[derive(Debug, Default)]
pub(super) struct Errors {
    by_field: Vec<FieldError>,
    /// An error of the form as a whole.
    general: Option<Markup>,
    /// A link below the errors, to a page that helps to resolve them: its path and its label.
    pub(super) link: Option<(String, String)>,
}

/// An error of one field.
#[derive(Debug)]
struct FieldError {
    field: Cow<'static, str>,
    message: String,
}

impl Errors {
    /// Returns a single error of the form as a whole.
    pub(super) fn from_markup(message: Markup) -> Self {
        Self {
            general: Some(message),
            ..Self::default()
        }
    }

    /// Returns a single error of the form as a whole, with this plain text.
    pub(super) fn from_text(message: &str) -> Self {
        Self::from_markup(html! { (message) })
    }

    /// Returns a single error of this field.
    pub(super) fn for_field(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        let mut errors = Self::default();
        errors.add(field, message);
        errors
    }

    /// Adds an error of a field.
    pub(super) fn add(&mut self, field: impl Into<Cow<'static, str>>, message: impl Into<String>) {
        self.by_field.push(FieldError {
            field: field.into(),
            message: message.into(),
        });
    }

    /// Returns the value of a result. An error becomes `None`, and its message is added to this
    /// field.
    pub(super) fn ok_or_add<T>(
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
    pub(super) fn message_for(&self, field: &str) -> Option<&str> {
        self.by_field
            .iter()
            .find(|error| error.field == field)
            .map(|error| &*error.message)
    }

    /// Returns the error messages of all fields, without the error of the form as a whole.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        self.by_field.iter().map(|error| &*error.message)
    }

    /// Whether there are no errors.
    pub(super) fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.general.is_none()
    }

    /// Renders all errors, each with a link to its field. Renders nothing if there are none.
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

/// An input of a form, with its label, its hint and its error. [`Self::show`] renders it as a text
/// input, and [`Self::show_dropdown`] as a dropdown.
#[derive(Default)]
pub(super) struct Input<'a> {
    /// The name of the input. The HTML id is the same, after `id_prefix`.
    pub(super) id: &'a str,
    /// The prefix of the HTML id, which keeps the ids unique on pages with two inputs of one name.
    pub(super) id_prefix: &'a str,
    pub(super) label: &'a str,
    pub(super) hint: Option<&'a str>,
    pub(super) value: &'a str,
    pub(super) error: Option<&'a str>,
    /// The HTML `type`, or `textarea` for a multi-line text; `text` if empty.
    pub(super) kind: &'a str,
    pub(super) is_optional: bool,
    pub(super) is_required: bool,
    /// Whether the input has the focus when the page is loaded.
    pub(super) is_first: bool,
    /// The HTML `autocomplete`, for password managers; `off` if empty.
    pub(super) autocomplete: &'a str,
    /// The HTML `inputmode`, which selects the on-screen keyboard; omitted if empty.
    pub(super) inputmode: &'a str,
    /// The HTML id of a `datalist` with suggestions.
    pub(super) list: Option<&'a str>,
}

impl<'a> Input<'a> {
    /// Returns an input with its value in the submitted form, and the error of this value.
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

    /// Adds "optional" to the label.
    pub(super) fn make_optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Makes the browser reject an empty value.
    pub(super) fn make_required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Makes the input a `textarea`.
    pub(super) fn make_multiline(mut self) -> Self {
        self.kind = "textarea";
        self
    }

    /// Renders the input as a single-line text input or a `textarea`, with its label, its hint and
    /// its error.
    pub(super) fn show(&self) -> Markup {
        let control = if self.kind == "textarea" {
            self.textarea()
        } else {
            self.text_input()
        };
        self.with_label(&control)
    }

    /// Renders the `textarea`, which has 3 to 16 rows, according to its text.
    fn textarea(&self) -> Markup {
        let row_count = self.value.lines().count().clamp(3, 16);
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            textarea #{ (self.id_prefix) (self.id) } name=(self.id) dir="auto"
                aria-describedby=[described_by] rows=(row_count)
                aria-invalid=[invalid] { "\n" (self.value) }
        }
    }

    /// Renders the single-line `input`.
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

    /// Renders a dropdown with the options in `options`, which are pairs of a value and a label.
    /// The input's value is selected.
    pub(super) fn show_dropdown(&self, options: &[(impl AsRef<str>, impl AsRef<str>)]) -> Markup {
        let option_elements = html! {
            @for (value, label) in options { (self.option(value.as_ref(), label.as_ref())) }
        };
        self.with_label(&self.select(&option_elements, None))
    }

    /// Renders a dropdown of the time zones, grouped by region. The input's value is selected. The
    /// page's script adds the zone of the device as the first group.
    pub(super) fn show_zone_dropdown(&self) -> Markup {
        let option_elements = html! {
            (self.option("", texts().not_chosen))
            (self.option("UTC", "UTC"))
            @for (region, label) in zone_regions().iter().zip(texts().zone_regions) {
                optgroup label=(label) {
                    @for zone in &region.zones { (self.option(zone, &zone_label(zone))) }
                }
            }
        };
        self.with_label(&self.select(&option_elements, Some(texts().zone_of_device)))
    }

    /// Renders the `select` element. For time zones, `device_label` is the label of the group into
    /// which the page's script puts the zone of the device.
    fn select(&self, option_elements: &Markup, device_label: Option<&str>) -> Markup {
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            select #(self.id) name=(self.id) aria-describedby=[described_by]
                aria-invalid=[invalid] data-device=[device_label] { (option_elements) }
        }
    }

    /// Renders an option of a dropdown, selected if it is the input's value.
    fn option(&self, value: &str, label: &str) -> Markup {
        html! { option value=(value) selected[value == self.value] { (label) } }
    }

    /// Returns the HTML ids of the hint and the error, for `aria-describedby`; `None` without them.
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

    /// Renders a control, such as a `select`, with the label above it and the hint and error below
    /// it.
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

/// Returns the label of a time zone within its region: `Argentina, Buenos Aires` for
/// `America/Argentina/Buenos_Aires`.
fn zone_label(zone: &str) -> String {
    let place = zone.split_once('/').map_or(zone, |(_, place)| place);
    place.replace('/', ", ").replace('_', " ")
}

/// Returns the text, or `None` if it is empty.
fn non_empty(text: &str) -> Option<&str> {
    if text.is_empty() { None } else { Some(text) }
}

/// Renders the `datalist` with suggestions for category inputs.
pub(super) fn category_list(categories: &[Category]) -> Markup {
    html! {
        datalist #categories {
            @for category in categories {
                option value=(markup::readable(category.label.as_str(), markup::SHORT_LENGTH)) {}
            }
        }
    }
}

/// Returns the options of a dropdown with the reasons for a withdrawal. The first option has an
/// empty value, so nobody gives a reason without choosing it.
pub(super) fn withdrawal_reason_options() -> Vec<(&'static str, &'static str)> {
    let mut options = vec![("", texts().choose)];
    for reason in WithdrawalReason::ALL {
        options.push((reason.as_str(), texts().reason(reason)));
    }
    options
}

/// Returns the options of a dropdown with all statuses of an animal.
pub(super) fn status_options() -> Vec<(&'static str, &'static str)> {
    PetStatus::ALL
        .map(|status| (status.as_str(), texts().status(status)))
        .to_vec()
}

/// Returns the options of a dropdown for whether the window may show an animal.
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

/// Renders the date input for the end of a reservation, which [`parse_reservation_end`] parses. If
/// the store has no time zone, the page's script submits the browser's UTC offset in the hidden
/// field.
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
