//! Values as HTML.

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};
use qrcode::{QrCode, render::svg};

use super::wording;
pub(super) use crate::text::readable::{LONG, SHORT, is_visible, readable};
use crate::{
    domain::{
        PetStatus,
        store_area::{Category, Order, OrderStatus, StorePet},
    },
    languages::console_texts as texts,
};

/// The name of an animal, as plain text.
pub(super) fn plain_name(name: &str) -> String {
    let shown = readable(name, SHORT);
    if is_visible(&shown) { shown } else { texts().no_name.to_owned() }
}

/// A text of a person, in its own direction.
pub(super) fn text(text: &str, longest: usize) -> Markup {
    html! { bdi { (readable(text, longest)) } }
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
    let Ok(code) = QrCode::new(uri) else { return html! {} };
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
#[path = "../../tests/inside/console/markup.rs"]
mod tests;
