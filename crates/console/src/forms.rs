//! The fields of forms: parsed into values of the domain, with an error next to each field that is
//! wrong, and with what was typed.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp, ToSpan, civil::Date, tz::TimeZone};
use maud::{Markup, html};
use petstore_domain::{
    PetName, PetStatus,
    store_area::{
        Category, Contact, Currency, Decimal, FieldDefinition, FieldKind, Label, Order, Text,
        WithdrawalReason, normalized,
    },
    text,
};
use petstore_languages::{AmbiguousNumber, console_texts as texts, numbers};

use super::{markup, visit::Form};

/// The problems of a form.
#[derive(Debug, Default)]
pub(super) struct Errors {
    by_field: Vec<(Cow<'static, str>, String)>,
    /// A problem that concerns no field, or is not about the form.
    other: Option<Markup>,
    /// A page with more about it, and its name.
    pub(super) link: Option<(String, String)>,
}

impl Errors {
    /// Something that concerns no field.
    pub(super) fn other(what: Markup) -> Self {
        Self {
            other: Some(what),
            ..Self::default()
        }
    }

    /// Something that concerns this field.
    pub(super) fn at(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            by_field: vec![(field.into(), message.into())],
            ..Self::default()
        }
    }

    pub(super) fn text(message: &str) -> Self {
        Self::other(html! { (message) })
    }

    pub(super) fn add(&mut self, field: impl Into<Cow<'static, str>>, message: impl Into<String>) {
        self.by_field.push((field.into(), message.into()));
    }

    /// The value, or an error of this field.
    pub(super) fn take<T>(
        &mut self,
        field: &'static str,
        value: Result<T, impl Into<String>>,
    ) -> Option<T> {
        value.map_err(|message| self.add(field, message)).ok()
    }

    pub(super) fn of(&self, field: &str) -> Option<&str> {
        self.by_field
            .iter()
            .find(|(known, _)| *known == field)
            .map(|(_, message)| &**message)
    }

    /// The problems of fields.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        self.by_field.iter().map(|(_, message)| &**message)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_field.is_empty() && self.other.is_none()
    }

    /// All of them, with links to their fields. Nothing if there are none.
    pub(super) fn summary(&self) -> Markup {
        let link =
            html! { @if let Some((path, name)) = &self.link { p { a href=(path) { (name) } } } };
        html! {
            @if let Some(other) = &self.other {
                div.problem role="alert" tabindex="-1" autofocus { (other) (link) }
            }
            @if !self.by_field.is_empty() {
                div.problem role="alert" tabindex="-1" autofocus {
                    h2 { (texts().problem_heading) }
                    ul {
                        @for (field, message) in &self.by_field {
                            li { a href={ "#" (field) } { (message) } }
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
    /// What its identifier begins with on a page with two inputs of this name.
    pub(super) of_form: &'a str,
    pub(super) label: &'a str,
    pub(super) hint: Option<&'a str>,
    pub(super) value: &'a str,
    pub(super) error: Option<&'a str>,
    /// `text` if empty; `textarea` for several lines.
    pub(super) kind: &'a str,
    pub(super) is_optional: bool,
    pub(super) is_required: bool,
    pub(super) is_first: bool,
    /// The kind of value that a password manager may fill in; nothing if empty.
    pub(super) autocomplete: &'a str,
    /// The keyboard of a phone; the one for texts if empty.
    pub(super) inputmode: &'a str,
    /// The identifier of a list of proposals.
    pub(super) list: Option<&'a str>,
}

impl<'a> Input<'a> {
    /// An input with what was typed into it, and with what is wrong with that.
    pub(super) fn of(id: &'a str, label: &'a str, form: &'a Form, errors: &'a Errors) -> Self {
        Self {
            id,
            label,
            value: form.raw(id),
            error: errors.of(id),
            ..Self::default()
        }
    }

    pub(super) fn hint(self, hint: &'a str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    pub(super) fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    pub(super) fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// The same with several lines.
    pub(super) fn long(self) -> Self {
        Self {
            kind: "textarea",
            ..self
        }
    }

    pub(super) fn show(&self) -> Markup {
        let described = self.described();
        let invalid = self.error.map(|_| "true");
        let kind = if self.kind.is_empty() {
            "text"
        } else {
            self.kind
        };
        let autocomplete = if self.autocomplete.is_empty() {
            "off"
        } else {
            self.autocomplete
        };
        let inputmode = Some(self.inputmode).filter(|mode| !mode.is_empty());
        let html = html! {
            @if kind == "textarea" {
                textarea #{ (self.of_form) (self.id) } name=(self.id) dir="auto" aria-describedby=[described]
                    rows=(self.value.lines().count().clamp(3, 16)) aria-invalid=[invalid] { "\n" (self.value) }
            } @else {
                input #{ (self.of_form) (self.id) } name=(self.id) type=(kind) value=(self.value) dir="auto"
                    autocomplete=(autocomplete) required[self.is_required] list=[self.list]
                    autofocus[self.is_first] inputmode=[inputmode]
                    aria-describedby=[described] aria-invalid=[invalid];
            }
        };
        self.around(&html)
    }

    fn described(&self) -> Option<String> {
        let hint = self
            .hint
            .map(|_| format!("{}{}-hint", self.of_form, self.id));
        let error = self
            .error
            .map(|_| format!("{}{}-error", self.of_form, self.id));
        let ids: Vec<String> = hint.into_iter().chain(error).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }

    fn around(&self, control: &Markup) -> Markup {
        html! {
            div.field {
                label for={ (self.of_form) (self.id) } {
                    (self.label)
                    @if self.is_optional { " " span.hint { (texts().optional) } }
                }
                (control)
                @if let Some(hint) = self.hint { div.hint id={ (self.of_form) (self.id) "-hint" } { (hint) } }
                @if let Some(error) = self.error { p.error id={ (self.of_form) (self.id) "-error" } { (error) } }
            }
        }
    }

    /// A choice between these values and labels; the value of the input is chosen.
    pub(super) fn choose(&self, options: &[(impl AsRef<str>, impl AsRef<str>)]) -> Markup {
        let html = html! {
            select #(self.id) name=(self.id) aria-describedby=[self.described()]
                aria-invalid=[self.error.map(|_| "true")] {
                @for (value, label) in options {
                    option value=(value.as_ref()) selected[value.as_ref() == self.value] {
                        (label.as_ref())
                    }
                }
            }
        };
        self.around(&html)
    }
}

/// The proposals for categories.
pub(super) fn category_list(categories: &[Category]) -> Markup {
    html! {
        datalist #categories {
            @for category in categories {
                option value=(markup::readable(category.label.as_str(), markup::SHORT)) {}
            }
        }
    }
}

/// The number of an animal or an order as people write it: `7`, `#7` or `No. 7`.
pub(super) fn number(typed: &str) -> Option<i64> {
    let typed = normalized(typed.trim());
    let before = texts().before_number.map(normalized);
    let number = before
        .iter()
        .find_map(|before| typed.strip_prefix(&**before));
    text::integer(number.unwrap_or(&typed).trim())
}

/// A category by its name or its number.
pub(super) fn category(typed: &str, categories: &[Category]) -> Result<i64, String> {
    if typed.is_empty() {
        return Err(texts().category_missing.to_owned());
    }
    let mut named: Vec<i64> = categories
        .iter()
        .filter(|category| is_named(category, typed))
        .map(|category| category.id)
        .collect();
    named.sort_unstable();
    named.dedup();
    let number = || text::integer(typed.strip_prefix(texts().category_prefix).unwrap_or(typed));
    let shown = || markup::readable(typed, markup::SHORT);
    match *named {
        [id] => Ok(id),
        [] => number().ok_or_else(|| texts().unknown_category(&shown())),
        [one, other, ..] => Err(texts().ambiguous_category(&shown(), one, other)),
    }
}

/// Whether a category has the name that was typed.
pub(super) fn is_named(category: &Category, typed: &str) -> bool {
    names_of(category)[..2]
        .iter()
        .any(|name| text::compared(name) == text::compared(typed))
}

/// The names of a category: its label in full and as it is shown, and its number.
pub(super) fn names_of(category: &Category) -> [String; 4] {
    let (label, id) = (category.label.as_str(), category.id);
    let number = texts().category_number(id);
    [
        label.to_owned(),
        markup::readable(label, markup::SHORT),
        number,
        id.to_string(),
    ]
}

/// A status by its name in the contract, or by the word that the pages show.
pub(super) fn status(typed: &str) -> Result<PetStatus, String> {
    let typed = typed.to_lowercase();
    let is_it = |status: &PetStatus| {
        status.as_str() == typed || texts().status(*status).to_lowercase() == typed
    };
    PetStatus::ALL
        .into_iter()
        .find(is_it)
        .ok_or_else(|| texts().status_invalid.to_owned())
}

/// The name of an animal. The interface for programs also accepts an empty one.
pub(super) fn name(typed: &str) -> Result<PetName, String> {
    if typed.contains('\0') {
        return Err(texts().not_in_text.to_owned());
    }
    if !markup::is_visible(typed) {
        return Err(texts().name_missing.to_owned());
    }
    PetName::new(typed.to_owned()).ok_or_else(|| texts().name_too_long.to_owned())
}

/// The name of a category. The interface for programs also accepts an invisible one.
pub(super) fn label(typed: &str) -> Result<Label, String> {
    if !markup::is_visible(typed) {
        return Err(texts().label_missing.to_owned());
    }
    Label::new(typed.to_owned()).ok_or_else(|| texts().label_invalid.to_owned())
}

/// A text with this label that may be left out.
pub(super) fn optional<const MAX: usize>(
    typed: &str,
    label: &str,
) -> Result<Option<Text<MAX>>, String> {
    if typed.is_empty() {
        return Ok(None);
    }
    if typed.contains('\0') {
        return Err(texts().not_in_text.to_owned());
    }
    // Browsers send CR LF, which counts as one character for people.
    let text = Text::new(typed.replace("\r\n", "\n"));
    text.map(Some).ok_or_else(|| texts().too_long(label, MAX))
}

/// A price as people type it, in the form that the store has. Other text stays as it is, and is invalid.
///
/// # Errors
///
/// One with two meanings, which the message names.
pub(super) fn amount(typed: &str, currency: Option<&Currency>) -> Result<String, String> {
    read(
        typed,
        currency,
        currency.is_some_and(|currency| currency.decimals() == 0),
    )
}

/// The same for a field with numbers.
pub(super) fn number_of(
    field: &FieldDefinition,
    typed: &str,
    currency: Option<&Currency>,
) -> Result<String, String> {
    if field.is_price() {
        return amount(typed, currency);
    }
    read(typed, currency, field.kind == FieldKind::Integer)
}

fn read(typed: &str, currency: Option<&Currency>, is_whole: bool) -> Result<String, String> {
    let read = numbers().parse(typed, currency, is_whole);
    read.map_err(
        |AmbiguousNumber {
             meanings: [one, other],
             spellings: [first, second],
         }| { texts().ambiguous(typed.trim(), [&one, &other], [&first, &second]) },
    )
}

/// An empty input means no price.
pub(super) fn price(typed: &str, currency: Option<&Currency>) -> Result<Option<Decimal>, String> {
    if typed.is_empty() {
        return Ok(None);
    }
    let price = Decimal::new(&amount(typed, currency)?).filter(|price| !price.has_minus());
    price
        .map(Some)
        .ok_or_else(|| texts().price_invalid.to_owned())
}

pub(super) fn contact(typed: &str) -> Result<Option<Contact>, String> {
    if typed.contains('\0') {
        return Err(texts().not_in_text.to_owned());
    }
    if typed.is_empty() {
        return Ok(None);
    }
    Contact::new(typed.to_owned())
        .map(Some)
        .ok_or_else(|| texts().text_too_long.to_owned())
}

pub(super) fn withdrawal_reason(typed: &str) -> Result<WithdrawalReason, String> {
    typed.parse().map_err(|_| texts().reason_missing.to_owned())
}

/// The choices of a reason for a withdrawal.
pub(super) fn withdrawal_reasons() -> Vec<(&'static str, &'static str)> {
    let all = WithdrawalReason::ALL.map(|reason| (reason.as_str(), texts().reason(reason)));
    [("", texts().choose)].into_iter().chain(all).collect()
}

/// The choices of a status.
pub(super) fn statuses() -> Vec<(&'static str, &'static str)> {
    PetStatus::ALL
        .map(|status| (status.as_str(), texts().status(status)))
        .to_vec()
}

/// The end of a day in the zone of the reader, whose script sends the offset in minutes.
pub(super) fn end_of_day(form: &Form, now: Timestamp) -> Result<Timestamp, String> {
    let end = || {
        let day: Date = form.get("until").parse().ok()?;
        let offset = form
            .integer("until-offset")
            .filter(|offset| offset.abs() <= 24 * 60);
        let end = day
            .at(23, 59, 59, 0)
            .to_zoned(TimeZone::UTC)
            .ok()?
            .timestamp();
        let end = end.checked_add(offset.unwrap_or(0).minutes()).ok()?;
        let span = end.duration_since(now);
        (span > SignedDuration::ZERO && span <= Order::LONGEST_RESERVATION).then_some(end)
    };
    end().ok_or_else(|| texts().day_invalid.to_owned())
}

/// The input for such a day.
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
        input type="hidden" name="until-offset" value="0";
    }
}
