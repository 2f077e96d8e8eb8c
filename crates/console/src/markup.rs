//! Renders values of the store as HTML.

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use petstore_domain::{
    PetStatus,
    store_area::{Category, Order, OrderStatus, StorePet},
};
use petstore_languages::console_texts as texts;
use qrcode::{QrCode, render::svg};

use super::wording;
pub(super) use petstore_domain::text::readable::{LONG_LENGTH, SHORT_LENGTH, is_visible, readable};

/// Returns an animal's name as plain text. A name without a visible character becomes words such as
/// "No name".
pub(super) fn plain_name(name: &str) -> String {
    let readable_name = readable(name, SHORT_LENGTH);
    if is_visible(&readable_name) {
        readable_name
    } else {
        texts().no_name.to_owned()
    }
}

/// Renders a text that a person wrote, truncated to `max_length` characters. The element `bdi`
/// isolates the direction of the text, so that a right-to-left text does not reorder the words
/// around it.
pub(super) fn text(text: &str, max_length: usize) -> Markup {
    html! { bdi { (readable(text, max_length)) } }
}

/// Renders a text of several lines in full, with its line breaks.
pub(super) fn lines(multiline_text: &str) -> Markup {
    html! {
        @for (index, line) in multiline_text.lines().enumerate() {
            @if index > 0 { br; }
            (text(line, usize::MAX))
        }
    }
}

/// Renders an animal's name, truncated to `max_length` characters. See [`plain_name`].
pub(super) fn name(name: &str, max_length: usize) -> Markup {
    let readable_text = readable(name, max_length);
    html! {
        @if is_visible(&readable_text) { bdi { (readable_text) } } @else { (texts().no_name) }
    }
}

/// Renders a time within a week of `now` in relative words, such as `3 hours ago`, and any other
/// time as date and time. The page's script keeps the words up to date.
pub(super) fn time(time: Timestamp, now: Timestamp) -> Markup {
    let exact_words = wording::exact_time(time);
    let words = wording::relative_time(time, now).unwrap_or_else(|| exact_words.clone());
    // Only a future time gets the words for "soon". Otherwise, the script would show a past time as
    // a future one on a device whose clock is slow.
    let soon = (time > now).then_some(texts().soon);
    html! {
        time datetime=(time) title=(exact_words) data-now=(texts().just_now) data-soon=[soon] {
            (words)
        }
    }
}

/// Renders a time as date and time.
pub(super) fn exact_time(time: Timestamp) -> Markup {
    html! { time datetime=(time) data-exact { (wording::exact_time(time)) } }
}

/// Renders a time as date and time. A time within a week of `now` is followed by the relative
/// words.
pub(super) fn time_and_distance(timestamp: Timestamp, now: Timestamp) -> Markup {
    html! {
        (exact_time(timestamp))
        @if wording::relative_time(timestamp, now).is_some() {
            " " span.muted { "(" (time(timestamp, now)) ")" }
        }
    }
}

/// Renders the badge for an animal's status, or for its withdrawal if the animal is withdrawn.
pub(super) fn pet_badge(pet: &StorePet) -> Markup {
    if pet.withdrawal.is_some() {
        return badge("withdrawn", texts().withdrawn);
    }
    status_badge(pet.status)
}

/// Renders the badge for an animal's status, and a second one if the animal is not on the website.
pub(super) fn pet_badges(pet: &StorePet) -> Markup {
    html! {
        (pet_badge(pet))
        @if !pet.is_listed { " " (badge("unlisted", texts().not_on_website)) }
    }
}

/// Renders the badge for the status of an animal.
pub(super) fn status_badge(status: PetStatus) -> Markup {
    badge(status.as_str(), texts().status(status))
}

/// Renders the badge for an order's status. A reservation is overdue if it has expired, but the
/// service has not ended it yet.
pub(super) fn order_badge(order: &Order, now: Timestamp) -> Markup {
    if order.status == OrderStatus::Reserved
        && let Some(end) = order.expires_at
        && end <= now
    {
        return badge("overdue", texts().overdue);
    }
    badge(order.status.as_str(), texts().order_status(order.status))
}

/// Renders a badge. The style sheet selects its shape and colour by the class.
pub(super) fn badge(class: &str, word: &str) -> Markup {
    html! { span.badge.(class) { (word) } }
}

/// Renders a table with these headings and rows.
pub(super) fn table(headings: &Markup, rows: &Markup) -> Markup {
    html! {
        div.table {
            table {
                thead { tr { (headings) } }
                tbody { (rows) }
            }
        }
    }
}

/// Renders the header cells of columns.
pub(super) fn headings(labels: &[&str]) -> Markup {
    html! { @for label in labels { th scope="col" { (label) } } }
}

/// Returns the label of a category, or its number in words if it is not in the list.
pub(super) fn category(categories: &[Category], id: i64) -> String {
    match categories.iter().find(|category| category.id == id) {
        Some(category) => readable(category.label.as_str(), SHORT_LENGTH),
        None => texts().category_number(id),
    }
}

/// The minimum width and height of a QR code, in pixels. Phones can scan it at this size from an
/// arm's length.
const QR_CODE_SIZE: u32 = 200;

/// Renders a URI as a QR code; renders nothing if the URI is too long for one. The code is black on
/// white even in dark mode, because apps cannot scan inverted codes.
pub(super) fn qr_code(uri: &str, label: &str) -> Markup {
    let Ok(code) = QrCode::new(uri) else {
        return html! {};
    };
    let document = code
        .render::<svg::Color<'_>>()
        .min_dimensions(QR_CODE_SIZE, QR_CODE_SIZE)
        .dark_color(svg::Color("#000"))
        .light_color(svg::Color("#fff"))
        .build();
    // An XML declaration is not allowed within HTML.
    let picture = match document.split_once("?>") {
        Some((_, picture)) => picture,
        None => &document,
    };
    html! { p role="img" aria-label=(label) { (PreEscaped(picture)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_in_its_direction_without_control_characters_and_never_as_markup() {
        let render_name = |text: &str| name(text, 5).into_string();
        assert_eq!(render_name("<b>"), "<bdi>&lt;b&gt;</bdi>");
        assert_eq!(render_name("a\u{1}\nb"), "<bdi>a\u{fffd} b</bdi>");
        assert_eq!(render_name("\u{202e}evil"), "<bdi>\u{fffd}evil</bdi>");
        assert_eq!(render_name("🐕🐕🐕🐕🐕🐕"), "<bdi>🐕🐕🐕🐕🐕…</bdi>");
        assert_eq!(render_name(" \n"), texts().no_name);
    }

    #[test]
    fn a_moment_within_a_week_is_shown_by_its_distance() {
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
        let relative_words = |time: &str| wording::relative_time(time.parse().unwrap(), now);
        assert_eq!(relative_words("2026-11-22T11:59:01Z").unwrap(), "just now");
        assert_eq!(relative_words("2026-11-22T12:00:00Z").unwrap(), "just now");
        assert_eq!(
            relative_words("2026-11-22T12:00:59Z").unwrap(),
            "in less than a minute"
        );
        assert_eq!(
            relative_words("2026-11-22T11:59:00Z").unwrap(),
            "1 minute ago"
        );
        assert_eq!(
            relative_words("2026-11-23T11:59:00Z").unwrap(),
            "in 23 hours"
        );
        // The calendar day counts: 36 hours ahead can be tomorrow, and 25 hours ago can be
        // yesterday.
        assert_eq!(relative_words("2026-11-23T23:59:59Z").unwrap(), "tomorrow");
        assert_eq!(relative_words("2026-11-21T11:00:00Z").unwrap(), "yesterday");
        assert_eq!(relative_words("2026-11-24T13:00:00Z").unwrap(), "in 2 days");
        assert_eq!(
            relative_words("2026-11-20T12:00:00Z").unwrap(),
            "2 days ago"
        );
        assert_eq!(relative_words("2026-11-29T12:00:00Z"), None);
        let exact = wording::exact_time("2026-01-02T03:04:05Z".parse().unwrap());
        assert_eq!(exact, "2\u{a0}January\u{a0}2026, 03:04 UTC");
    }
}
