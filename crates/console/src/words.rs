//! The labels of form inputs, and submitted values as people read them. Messages about changed
//! values show them, and so does the page of a saved form.

use petstore_domain::store_area::{Currency, Decimal, FieldDefinition, FieldKind};
use petstore_formats::cells::parse_number;
use petstore_languages::{amount, console_texts as texts, look::label_of, window_texts};

use super::{
    forms::{self, RESERVATION_END},
    markup::{self, SHORT_LENGTH},
    order_inputs::{ORDER_INPUTS, PRICE},
    store_inputs, wording,
};

/// The prefix of the names of inputs for the store's own fields of animals.
pub(super) const FIELD_PREFIX: &str = "field.";

/// Returns the name of the input for a field, such as `field.coat_length`.
pub(crate) fn input_name_of(field: &FieldDefinition) -> String {
    format!("{FIELD_PREFIX}{}", field.name.as_str())
}

/// No fields, for forms without inputs for the store's own fields.
pub(crate) const NO_FIELDS: &[FieldDefinition] = &[];

/// Returns the label of an input, and a value of the input in words. Returns `None` if the input
/// has no label, because people do not fill it in.
///
/// Example: the input `listed` with the value `true` gets "Website" and "On the website".
pub(crate) fn in_words(
    fields: &[FieldDefinition],
    currency: Option<&Currency>,
    name: &str,
    value: &str,
) -> Option<(String, String)> {
    if let Some(words) = store_inputs::in_words(name, value) {
        return Some(words);
    }
    if let Some(field) = fields.iter().find(|field| input_name_of(field) == name) {
        let words = field_value_in_words(field, currency, value);
        return Some((label_of(field), words));
    }
    let label = input_label(name)?.to_owned();
    let words = value_in_words(currency, name, value);
    Some((label, words))
}

/// Returns the value of an input in words, such as a localized date or price. The input is neither
/// for the store profile nor for a field of the store.
fn value_in_words(currency: Option<&Currency>, name: &str, value: &str) -> String {
    if value.is_empty() {
        return texts().no_value.to_owned();
    }
    let words = match name {
        PRICE => Some(price_in_words(value, currency)),
        RESERVATION_END => Some(wording::day(value)),
        "status" => Some(status_in_words(value)),
        "listed" => forms::parse_listing(value)
            .ok()
            .map(|is_listed| forms::listing_words(is_listed).to_owned()),
        "role" => value.parse().ok().map(|role| texts().role(role).to_owned()),
        _ => None,
    };
    // A free text or an invalid value is shown as it is.
    words.unwrap_or_else(|| markup::readable(value, SHORT_LENGTH))
}

/// Returns the value of a field in words, such as a localized date or price.
fn field_value_in_words(
    field: &FieldDefinition,
    currency: Option<&Currency>,
    value: &str,
) -> String {
    let display_text = field.display_text(value);
    if display_text.is_empty() {
        return texts().no_value.to_owned();
    }
    match (field.kind, display_text) {
        (FieldKind::Boolean, "true") => window_texts().yes.to_owned(),
        (FieldKind::Boolean, "false") => window_texts().no.to_owned(),
        (FieldKind::Date, day) => wording::day(day),
        _ if field.is_price() => price_in_words(display_text, currency),
        _ => markup::readable(display_text, SHORT_LENGTH),
    }
}

/// Returns a price with its currency. Accepts the stored form (`1.50`) and what people type
/// (`1,50`). Returns other text as it is, apart from [`markup::readable`].
fn price_in_words(value: &str, currency: Option<&Currency>) -> String {
    if Decimal::new(value).is_some() {
        return amount(value, currency);
    }
    let is_whole = false;
    if let Ok(number) = parse_number(value, currency, is_whole)
        && Decimal::new(&number).is_some()
    {
        return amount(&number, currency);
    }
    markup::readable(value, SHORT_LENGTH)
}

/// Returns the words for the status of an animal or an order. Returns other text unchanged.
fn status_in_words(value: &str) -> String {
    if let Ok(status) = forms::parse_status(value) {
        return texts().status(status).to_owned();
    }
    match value.parse() {
        Ok(status) => texts().order_status(status).to_owned(),
        Err(_) => value.to_owned(),
    }
}

/// Returns the label of an input that is neither for the store profile nor for a field of the
/// store.
fn input_label(name: &str) -> Option<&'static str> {
    match ORDER_INPUTS.iter().find(|input| input.name == name) {
        Some(input) => Some(input.label()),
        None => wording::input_label(name),
    }
}
