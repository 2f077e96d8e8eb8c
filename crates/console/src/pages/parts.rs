//! Parts that several pages have.

use hyper::StatusCode;
use jiff::{civil::Date, tz::TimeZone};
use petstore_languages::look::{Animal, Card, Drawings, ROW};

use crate::prelude::*;

/// How many pictures of a list are in the first view.
const AT_FIRST: usize = 8;

/// A page about something that does not exist.
pub(super) fn missing_page(message: &str) -> Reply {
    let content = html! {
        h1 { (texts().not_found) }
        p { (message) }
        p { a href="/" { (texts().to_first_page) } }
    };
    Page::new(texts().not_found, content)
        .with_status(StatusCode::NOT_FOUND)
        .into()
}

/// Content that is replaced as a whole when something changes, so that no part contradicts another.
pub(super) fn live_content(errors: &Errors, content: &Markup) -> Markup {
    html! {
        (errors.summary())
        div #now.stack data-live { (content) }
    }
}

/// The content of the list while the store has no animals.
pub(super) fn empty_store_card(desk: &Desk<'_>) -> Markup {
    html! {
        div.card.empty {
            strong { (texts().empty_store) }
            @if desk.may_write() {
                p { (texts().empty_store_hint) }
                a.button.main href="/add" { (texts().add_animals) }
            }
        }
    }
}

/// The day. Days are those of UTC.
pub(super) fn today(desk: &Desk<'_>) -> Date {
    desk.visit.now.to_zoned(TimeZone::UTC).date()
}

/// An animal in a row of a list, at this position, with the label of its category if the list shows it.
pub(super) fn animal_card(
    desk: &Desk<'_>,
    animal: &Animal<'_>,
    category: &str,
    (drawings, at): (&mut Drawings, usize),
) -> Markup {
    let lines = [animal.line(today(desk)), category.to_owned()];
    let (path, category) = (&*animal.path(), Some(category));
    Card {
        animal,
        path,
        target: None,
        category,
        badge: None,
        lines: &lines,
        price: None,
    }
    .show(&ROW, drawings, at, AT_FIRST)
}

/// A link to another part of a list, with these parameters.
pub(super) fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    let query = query.finish();
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// The links below a list: to its beginning if this is a later page, and to the next page.
pub(super) fn page_links(first: Option<&str>, next: Option<&str>) -> Markup {
    html! {
        @if next.is_some() { p.print { (texts().more_follow) } }
        @if first.is_some() || next.is_some() {
            div.pages.no-print {
                span { @if let Some(first) = first { a href=(first) { (texts().first_page) } } }
                span { @if let Some(next) = next { a href=(next) { (texts().next_page) } } }
            }
        }
    }
}
