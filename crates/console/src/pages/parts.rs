//! Page fragments and helpers that several pages share.

use hyper::StatusCode;
use jiff::civil::Date;
use petstore_domain::Limit;
use petstore_languages::look::{Animal, Card, Drawings, ROW};

use crate::prelude::*;

/// How many pictures of a list load eagerly, because they are probably visible without scrolling.
/// The other pictures load lazily.
const EAGER_PICTURES: usize = 8;

/// The CSS class of a button that is neither the main button of its form nor a dangerous one. It is
/// empty, because such a button has the default style.
pub(super) const PLAIN_BUTTON: &str = "";

/// Returns the 404 page for something that does not exist, with a message that says what.
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

/// Renders a summary of the errors, followed by content that the script keeps up to date.
///
/// When something changes, the script replaces all of the content at once. If it replaced only a
/// part, the part could contradict the rest. The id of the content is `now`.
pub(super) fn live_content(errors: &Errors, content: &Markup) -> Markup {
    html! {
        (errors.summary())
        div #now.stack data-live { (content) }
    }
}

/// Renders the placeholder that a list of animals shows while the store has no animals.
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

/// Returns a constant number of rows as a limit. The constants of the pages are from 1 to
/// [`Limit::MAX`], so the default limit is never used.
pub(super) fn constant_limit(count: i64) -> Limit {
    Limit::new(count).unwrap_or_default()
}

/// Returns the current date in the time zone of the store, at the time of the request.
pub(super) fn today(desk: &Desk<'_>) -> Date {
    desk.visit.facts.day_of(desk.visit.now)
}

/// Renders an animal as a card for a row of a list.
///
/// `category` is the label of its category, or empty if the list does not show categories. The card
/// shows it as its second line, and draws an animal without a photo according to it.
/// `row_index` is the zero-based position of the row in the list.
pub(super) fn animal_card(
    desk: &Desk<'_>,
    animal: &Animal<'_>,
    category: &str,
    drawings: &mut Drawings,
    row_index: usize,
) -> Markup {
    let lines = [animal.line(today(desk)), category.to_owned()];
    let card = Card {
        animal,
        path: &animal.path(),
        target: None,
        category: Some(category),
        badge: None,
        lines: &lines,
        price: None,
    };
    card.show(&ROW, drawings, row_index, EAGER_PICTURES)
}

/// Returns a path with a query string of the given parameters. Parameters with an empty value are
/// left out.
///
/// `link("/orders", &[("q", "Rex"), ("status", "")])` is `/orders?q=Rex`.
pub(super) fn link(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    let encoded_query = query.finish();
    if encoded_query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{encoded_query}")
    }
}

/// Renders the pagination links below a list. There is a link to the first page if this is a later
/// one, and to the next page if there is one. In print, a text says that more pages follow.
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
