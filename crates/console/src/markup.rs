//! Values as HTML.

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use petstore_domain::{
    PetStatus,
    store_area::{Category, Order, OrderStatus, StorePet},
};
use petstore_languages::console_texts as texts;
use qrcode::{QrCode, render::svg};

use super::wording;
pub(super) use petstore_domain::text::readable::{LONG, SHORT, is_visible, readable};

/// The name of an animal, as plain text.
pub(super) fn plain_name(name: &str) -> String {
    let shown = readable(name, SHORT);
    if is_visible(&shown) {
        shown
    } else {
        texts().no_name.to_owned()
    }
}

/// A text of a person, in its own direction.
pub(super) fn text(text: &str, longest: usize) -> Markup {
    html! { bdi { (readable(text, longest)) } }
}

/// A whole text of several lines.
pub(super) fn lines(lines: &str) -> Markup {
    html! { @for (at, line) in lines.lines().enumerate() { @if at > 0 { br; } (text(line, usize::MAX)) } }
}

/// The name of an animal.
pub(super) fn name(name: &str, longest: usize) -> Markup {
    let shown = readable(name, longest);
    html! {
        @if is_visible(&shown) { bdi { (shown) } } @else { (texts().no_name) }
    }
}

/// A moment, relative if it is near.
pub(super) fn time(at: Timestamp, now: Timestamp) -> Markup {
    let exact = wording::exact(at);
    let shown = wording::relative(at, now).unwrap_or_else(|| exact.clone());
    // What has happened stays in the past, also for a device whose clock is behind.
    let soon = (at > now).then_some(texts().soon);
    html! {
        time datetime=(at) title=(exact) data-now=(texts().just_now) data-soon=[soon] {
            (shown)
        }
    }
}

/// A moment with its day.
pub(super) fn exact_time(at: Timestamp) -> Markup {
    html! { time datetime=(at) data-exact { (wording::exact(at)) } }
}

/// The same, and how far it is.
pub(super) fn time_and_distance(at: Timestamp, now: Timestamp) -> Markup {
    html! {
        (exact_time(at))
        @if wording::relative(at, now).is_some() {
            " " span.muted { "(" (time(at, now)) ")" }
        }
    }
}

/// The status of an animal, as a word with a shape.
pub(super) fn pet_badge(pet: &StorePet) -> Markup {
    if pet.withdrawn.is_some() {
        return badge("withdrawn", texts().withdrawn);
    }
    status_badge(pet.status)
}

pub(super) fn status_badge(status: PetStatus) -> Markup {
    badge(status.as_str(), texts().status(status))
}

/// The status of an order. A reservation is overdue until its end is carried out.
pub(super) fn order_badge(order: &Order, now: Timestamp) -> Markup {
    let is_overdue =
        order.status == OrderStatus::Reserved && order.expires_at.is_some_and(|end| end <= now);
    if is_overdue {
        return badge("overdue", texts().overdue);
    }
    badge(order.status.as_str(), texts().order_status(order.status))
}

pub(super) fn badge(class: &str, word: &str) -> Markup {
    html! { span.badge.(class) { (word) } }
}

/// A table with these headings and rows.
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

/// The headings of columns.
pub(super) fn headings(labels: &[&str]) -> Markup {
    html! { @for label in labels { th scope="col" { (label) } } }
}

/// A category by its name, or by its number if it has none.
pub(super) fn category(categories: &[Category], id: i64) -> String {
    match categories.iter().find(|category| category.id == id) {
        Some(category) => readable(category.label.as_str(), SHORT),
        None => texts().category_number(id),
    }
}

/// The picture of a URI for a camera. Black on white, because apps cannot read the opposite.
pub(super) fn qr_code(uri: &str, label: &str) -> Markup {
    let Ok(code) = QrCode::new(uri) else {
        return html! {};
    };
    let picture = code
        .render::<svg::Color<'_>>()
        .min_dimensions(200, 200)
        .dark_color(svg::Color("#000"))
        .light_color(svg::Color("#fff"))
        .build();
    // Without the declaration of XML, which is not allowed within a page.
    let picture = picture.split_once("?>").map_or(&*picture, |(_, rest)| rest);
    html! { p role="img" aria-label=(label) { (PreEscaped(picture)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_in_its_direction_without_control_characters_and_never_as_markup() {
        let shown = |text: &str| name(text, 5).into_string();
        assert_eq!(shown("<b>"), "<bdi>&lt;b&gt;</bdi>");
        assert_eq!(shown("a\u{1}\nb"), "<bdi>a\u{fffd} b</bdi>");
        assert_eq!(shown("\u{202e}evil"), "<bdi>\u{fffd}evil</bdi>");
        assert_eq!(shown("🐕🐕🐕🐕🐕🐕"), "<bdi>🐕🐕🐕🐕🐕…</bdi>");
        assert_eq!(shown(" \n"), texts().no_name);
    }

    #[test]
    fn a_moment_within_a_week_is_shown_by_its_distance() {
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
        let shown = |at: &str| wording::relative(at.parse().unwrap(), now);
        assert_eq!(shown("2026-11-22T11:59:01Z").unwrap(), "just now");
        assert_eq!(shown("2026-11-22T12:00:00Z").unwrap(), "just now");
        assert_eq!(
            shown("2026-11-22T12:00:59Z").unwrap(),
            "in less than a minute"
        );
        assert_eq!(shown("2026-11-22T11:59:00Z").unwrap(), "1 minute ago");
        assert_eq!(shown("2026-11-23T11:59:00Z").unwrap(), "in 23 hours");
        // The day counts: 36 hours can be tomorrow, 25 can be yesterday.
        assert_eq!(shown("2026-11-23T23:59:59Z").unwrap(), "tomorrow");
        assert_eq!(shown("2026-11-21T11:00:00Z").unwrap(), "yesterday");
        assert_eq!(shown("2026-11-24T13:00:00Z").unwrap(), "in 2 days");
        assert_eq!(shown("2026-11-20T12:00:00Z").unwrap(), "2 days ago");
        assert_eq!(shown("2026-11-29T12:00:00Z"), None);
        let exact = wording::exact("2026-01-02T03:04:05Z".parse().unwrap());
        assert_eq!(exact, "2\u{a0}January\u{a0}2026, 03:04 UTC");
    }
}
