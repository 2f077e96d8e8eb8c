//! Form inputs: renders them with the submitted values and the errors, and parses what people
//! typed.

mod errors;
mod parsing;

use maud::{Markup, html};
use petstore_domain::{
    PetStatus,
    store_area::{Category, WithdrawalReason, zone_regions},
};
use petstore_languages::console_texts as texts;

use super::{markup, visit::Form, zone};

pub(super) use self::{
    errors::Errors,
    parsing::{
        RESERVATION_END, RESERVATION_END_OFFSET, ambiguous_number_message, find_category, is_named,
        names_of, parse_contact, parse_id, parse_label, parse_listing, parse_name,
        parse_optional_text, parse_price, parse_reservation_end, parse_status,
        parse_withdrawal_reason,
    },
};

/// What people type into a text input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum InputKind {
    /// A text of one line.
    #[default]
    Line,
    /// A text of several lines, in a `textarea`.
    Paragraph,
    Date,
    Password,
    Url,
    /// A file, which people choose on their device.
    File,
}

impl InputKind {
    /// Returns the HTML `type` of the `input` element.
    fn html_type(self) -> &'static str {
        match self {
            Self::Line | Self::Paragraph => "text",
            Self::Date => "date",
            Self::Password => "password",
            Self::Url => "url",
            Self::File => "file",
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
    pub(super) kind: InputKind,
    pub(super) is_optional: bool,
    pub(super) is_required: bool,
    /// Whether the input has the focus when the page is loaded.
    pub(super) has_autofocus: bool,
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
        self.kind = InputKind::Paragraph;
        self
    }

    /// Renders the input as a single-line text input or a `textarea`, with its label, its hint and
    /// its error.
    pub(super) fn show(&self) -> Markup {
        let control = if self.kind == InputKind::Paragraph {
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
        // HTML parsers drop a line feed at the beginning of a `textarea`. Without the extra one,
        // they would drop one of the value.
        html! {
            textarea #{ (self.id_prefix) (self.id) } name=(self.id) dir="auto"
                aria-describedby=[described_by] rows=(row_count)
                aria-invalid=[invalid] { "\n" (self.value) }
        }
    }

    /// Renders the single-line `input`.
    fn text_input(&self) -> Markup {
        let html_type = self.kind.html_type();
        let autocomplete = non_empty(self.autocomplete).unwrap_or("off");
        let inputmode = non_empty(self.inputmode);
        let described_by = self.described_by();
        let invalid = self.error.map(|_| "true");
        html! {
            input #{ (self.id_prefix) (self.id) } name=(self.id) type=(html_type)
                value=(self.value) dir="auto"
                autocomplete=(autocomplete) required[self.is_required] list=[self.list]
                autofocus[self.has_autofocus] inputmode=[inputmode]
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
            select #{ (self.id_prefix) (self.id) } name=(self.id) aria-describedby=[described_by]
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
    let place = match zone.split_once('/') {
        Some((_region, place)) => place,
        None => zone,
    };
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

/// Returns the options of a dropdown with the reasons for a withdrawal. The first option is
/// selected initially and has an empty value, so that nobody gives a reason without choosing it.
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

/// Returns the options of a dropdown for whether the store's website may show an animal.
pub(super) fn listing_options() -> Vec<(&'static str, &'static str)> {
    vec![
        ("true", texts().on_website),
        ("false", texts().not_on_website),
    ]
}

/// Returns the words for whether the store's website may show an animal.
pub(super) fn listing_words(is_listed: bool) -> &'static str {
    if is_listed {
        texts().on_website
    } else {
        texts().not_on_website
    }
}

/// Renders the date input for the end of a reservation, which [`parse_reservation_end`] parses. If
/// the store has no time zone, the page's script replaces the 0 in the hidden field by the UTC
/// offset of the browser.
pub(super) fn day_input(value: &str, error: Option<&str>) -> Markup {
    let input = Input {
        id: RESERVATION_END,
        label: texts().until,
        value,
        error,
        kind: InputKind::Date,
        ..Input::default()
    };
    html! {
        (input.show())
        @if zone::store_zone().is_none() {
            input type="hidden" name=(RESERVATION_END_OFFSET) value="0";
        }
    }
}
