//! Parses what people type into forms. An error is the message for the person, in the language of
//! the request.

use jiff::{SignedDuration, Timestamp, ToSpan, civil::Date};
use petstore_domain::{
    PetName, PetStatus,
    store_area::{
        Category, Contact, Currency, Decimal, Label, Order, StoreTimeZone, Text, WithdrawalReason,
        search_key,
    },
    text,
};
use petstore_formats::cells::{AmbiguousNumber, parse_number};
use petstore_languages::{console_texts as texts, language, numbers, table_words};

use crate::{
    markup,
    visit::{Form, Visit},
};

/// The name of the input for the last day of a reservation.
pub(crate) const RESERVATION_END: &str = "until";

/// The hidden field with the browser's UTC offset in minutes, for [`RESERVATION_END`]. The offset
/// is what JavaScript returns: positive if local time is behind UTC.
pub(crate) const RESERVATION_END_OFFSET: &str = "until-offset";

const MINUTES_PER_DAY: i64 = 24 * 60;

/// Parses the id of an animal or an order as people write it: `7`, `#7` or `No. 7`.
pub(crate) fn parse_id(typed_text: &str) -> Option<i64> {
    let search_text = search_key(typed_text.trim());
    for prefix in texts().before_number.map(search_key) {
        if let Some(digits) = search_text.strip_prefix(&*prefix) {
            return text::parse_integer(digits.trim());
        }
    }
    text::parse_integer(search_text.trim())
}

/// Finds a category by its label or its number, and returns its number. Fails if there is no such
/// category, or if several categories have the label.
///
/// A number need not be in the list, because an animal can have a category without a label.
pub(crate) fn find_category(typed_text: &str, categories: &[Category]) -> Result<i64, String> {
    if typed_text.is_empty() {
        return Err(texts().category_missing.to_owned());
    }
    let mut matching_ids: Vec<i64> = categories
        .iter()
        .filter(|category| is_named(category, typed_text))
        .map(|category| category.id)
        .collect();
    // Sorted, so that the message about several categories always names the same two.
    matching_ids.sort_unstable();
    matching_ids.dedup();

    match *matching_ids {
        [id] => Ok(id),
        [] => parse_category_number(typed_text),
        [first_id, second_id, ..] => {
            let readable_text = markup::readable(typed_text, markup::SHORT_LENGTH);
            Err(texts().ambiguous_category(&readable_text, first_id, second_id))
        }
    }
}

/// Parses the number of a category without a label, which pages show as `Category 7`.
fn parse_category_number(typed_text: &str) -> Result<i64, String> {
    let prefix = texts().category_prefix;
    let digits = typed_text.strip_prefix(prefix).unwrap_or(typed_text);
    text::parse_integer(digits).ok_or_else(|| {
        let readable_text = markup::readable(typed_text, markup::SHORT_LENGTH);
        texts().unknown_category(&readable_text)
    })
}

/// Whether the typed text is the label of a category, in full or truncated as pages show it.
/// Ignores differences such as upper and lower case, which [`text::comparison_key`] removes.
pub(crate) fn is_named(category: &Category, typed_text: &str) -> bool {
    let typed_key = text::comparison_key(typed_text);
    let label = category.label.as_str();
    let shown_label = markup::readable(label, markup::SHORT_LENGTH);
    text::comparison_key(label) == typed_key || text::comparison_key(&shown_label) == typed_key
}

/// Returns all names by which [`find_category`] finds a category: its label in full and as pages
/// show it, and its number in words and in digits.
pub(crate) fn names_of(category: &Category) -> [String; 4] {
    let label = category.label.as_str();
    [
        label.to_owned(),
        markup::readable(label, markup::SHORT_LENGTH),
        texts().category_number(category.id),
        category.id.to_string(),
    ]
}

/// Parses an animal's status: its name in the API, such as `available`, or a word for it in any
/// language.
pub(crate) fn parse_status(typed_text: &str) -> Result<PetStatus, String> {
    table_words(language())
        .find_status(typed_text)
        .ok_or_else(|| texts().status_invalid.to_owned())
}

/// Parses whether the store's website may show an animal: "yes" or "no" in any language.
pub(crate) fn parse_listing(typed_text: &str) -> Result<bool, String> {
    table_words(language())
        .find_listing(typed_text)
        .ok_or_else(|| texts().listing_invalid.to_owned())
}

/// Parses an animal's name, which must have a visible character. The API also accepts empty names.
pub(crate) fn parse_name(typed_text: &str) -> Result<PetName, String> {
    reject_zero_character(typed_text)?;
    if !markup::is_visible(typed_text) {
        return Err(texts().name_missing.to_owned());
    }
    PetName::new(typed_text.to_owned()).ok_or_else(|| texts().name_too_long.to_owned())
}

/// Rejects a text with U+0000, which PostgreSQL cannot store.
fn reject_zero_character(typed_text: &str) -> Result<(), String> {
    if typed_text.contains('\0') {
        return Err(texts().not_in_text.to_owned());
    }
    Ok(())
}

/// Parses a category's label, which must have a visible character. The API also accepts labels
/// without one.
pub(crate) fn parse_label(typed_text: &str) -> Result<Label, String> {
    if !markup::is_visible(typed_text) {
        return Err(texts().label_missing.to_owned());
    }
    Label::new(typed_text.to_owned()).ok_or_else(|| texts().label_invalid.to_owned())
}

/// Parses an optional text of at most `MAX` characters. `label` is the label of the input, for the
/// error message.
pub(crate) fn parse_optional_text<const MAX: usize>(
    typed_text: &str,
    label: &str,
) -> Result<Option<Text<MAX>>, String> {
    if typed_text.is_empty() {
        return Ok(None);
    }
    reject_zero_character(typed_text)?;
    // Browsers submit CR LF, which must not count as two characters against the length limit.
    match Text::new(typed_text.replace("\r\n", "\n")) {
        Some(text) => Ok(Some(text)),
        None => Err(texts().too_long(label, MAX)),
    }
}

/// Converts a typed price to the stored spelling: `1,50` becomes `1.50` in a language with a
/// decimal comma. Returns text that is not a number unchanged, for [`Decimal::new`] to reject.
///
/// Fails if the text is ambiguous. The message names both prices that it can mean.
fn normalize_price(typed_text: &str, currency: Option<&Currency>) -> Result<String, String> {
    let is_whole = currency.is_some_and(|currency| currency.decimals() == 0);
    parse_number(typed_text, currency, is_whole)
        .map_err(|ambiguous| ambiguous_number_message(typed_text, &ambiguous))
}

/// Returns the message for an ambiguous number, such as `1.250`, which can mean 1250 or 1.25.
pub(crate) fn ambiguous_number_message(typed_text: &str, ambiguous: &AmbiguousNumber) -> String {
    let exact = numbers().plain(&ambiguous.exact);
    let exact_spelling = numbers().plain(&ambiguous.exact_spelling);
    texts().ambiguous(
        typed_text.trim(),
        [&ambiguous.whole, &exact],
        [&ambiguous.whole, &exact_spelling],
    )
}

/// Parses a price. An empty input means no price.
pub(crate) fn parse_price(
    typed_text: &str,
    currency: Option<&Currency>,
) -> Result<Option<Decimal>, String> {
    if typed_text.is_empty() {
        return Ok(None);
    }
    match Decimal::new(&normalize_price(typed_text, currency)?) {
        Some(price) if !price.has_minus() => Ok(Some(price)),
        _ => Err(texts().price_invalid.to_owned()),
    }
}

/// Parses a customer's contact details. An empty input means no contact.
pub(crate) fn parse_contact(typed_text: &str) -> Result<Option<Contact>, String> {
    reject_zero_character(typed_text)?;
    if typed_text.is_empty() {
        return Ok(None);
    }
    match Contact::new(typed_text.to_owned()) {
        Some(contact) => Ok(Some(contact)),
        None => Err(texts().text_too_long.to_owned()),
    }
}

/// Parses the reason for a withdrawal, which the dropdown submits by its name in the API.
pub(crate) fn parse_withdrawal_reason(typed_text: &str) -> Result<WithdrawalReason, String> {
    typed_text
        .parse()
        .map_err(|_| texts().reason_missing.to_owned())
}

/// Parses the last day of a reservation in a form, and returns the end of that day in the store's
/// time zone. Fails unless the end is in the future, and at most [`Order::LONGEST_RESERVATION`]
/// after the request.
///
/// If the store has no time zone, the browser's UTC offset applies, which the page's script
/// submits. `visit` is needed only for the time of the request, and for the store's time zone.
pub(crate) fn parse_reservation_end(form: &Form, visit: &Visit<'_>) -> Result<Timestamp, String> {
    let end = match visit.facts.time_zone().value {
        Some(zone) => day_of_form(form).and_then(|day| zone.end_of_day(day)),
        None => end_of_day_in_browser_zone(form),
    };
    if let Some(end) = end {
        let time_left = end.duration_since(visit.now);
        if time_left > SignedDuration::ZERO && time_left <= Order::LONGEST_RESERVATION {
            return Ok(end);
        }
    }
    Err(texts().day_invalid.to_owned())
}

/// Parses the last day of a reservation, which browsers submit in the form `2026-01-31`.
fn day_of_form(form: &Form) -> Option<Date> {
    form.get(RESERVATION_END).parse().ok()
}

/// Returns the end of the day in a form, in the browser's time zone. Returns `None` if the form has
/// no valid day. An invalid UTC offset counts as 0.
fn end_of_day_in_browser_zone(form: &Form) -> Option<Timestamp> {
    let end_in_utc = StoreTimeZone::default().end_of_day(day_of_form(form)?)?;
    let offset_minutes = match form.integer(RESERVATION_END_OFFSET) {
        Some(minutes) if (-MINUTES_PER_DAY..=MINUTES_PER_DAY).contains(&minutes) => minutes,
        _ => 0,
    };
    end_in_utc.checked_add(offset_minutes.minutes()).ok()
}
