//! The page with the audit trail: a search form, and the matching entries, the newest first.
//!
//! An entry of the trail is a change of an animal, an order, a category or a note, or an act of
//! administration, such as a new API key.

use jiff::civil::Date;
use petstore_domain::{
    store_area::{AuditPosition, AuditQuery, AuditType, JournalSubject, SubjectKind},
    text,
};

use super::{
    activity_search::{AuditPage, list_entries},
    activity_table::{References, entry_table},
    parts::{link, page_links},
};
use crate::prelude::*;

/// The path of the page.
const ACTIVITY_PATH: &str = "/activity";

/// The maximum number of entries on a page.
const ENTRIES_PER_PAGE: u32 = 50;

/// The maximum number of calls of [`list_entries`] for one page.
///
/// Each call scans a bounded part of the trail, which can have no matching entry. Without the limit,
/// a search for a rare entry would scan the whole trail in one request.
const MAX_READS_PER_PAGE: usize = 4;

/// The query parameter with the first day of the search.
const SINCE_PARAMETER: &str = "since";

/// The query parameter with the last day of the search.
const UNTIL_PARAMETER: &str = "until";

/// The query parameter with the number of an animal.
const ANIMAL_PARAMETER: &str = "animal";

/// The query parameter with the type of the entries.
const TYPE_PARAMETER: &str = "type";

/// The query parameter with the position after which the page begins.
const AFTER_PARAMETER: &str = "after";

/// The query parameters that filter the entries. Links to other pages of the search repeat them.
const FILTER_PARAMETERS: [&str; 4] = [
    SINCE_PARAMETER,
    UNTIL_PARAMETER,
    ANIMAL_PARAMETER,
    TYPE_PARAMETER,
];

/// Parses the filters in the query parameters. Returns the query for the first page of the search.
///
/// An invalid parameter is ignored.
pub(super) fn parse_search(desk: &Desk<'_>) -> AuditQuery {
    let parameters = &desk.visit.query;
    let zone = desk.visit.facts.zone_of_days();
    let first_day = parse_day(parameters, SINCE_PARAMETER);
    let last_day = parse_day(parameters, UNTIL_PARAMETER);
    let searched_pet = parameters
        .integer(ANIMAL_PARAMETER)
        .map(|id| JournalSubject {
            kind: SubjectKind::Pet.into(),
            id: Some(id),
        });
    AuditQuery {
        subject: searched_pet,
        actor: None,
        kind: AuditType::parse(parameters.get(TYPE_PARAMETER)),
        since: first_day.and_then(|day| zone.start_of_day(day)),
        // `until` is exclusive, and the search includes the last day.
        until: last_day.and_then(|day| zone.start_of_next_day(day)),
        after: None,
        newest_first: true,
        limit: ENTRIES_PER_PAGE,
    }
}

/// Parses a query parameter that holds a day, such as `2026-11-28`. Returns `None` if it holds no
/// valid day.
fn parse_day(parameters: &Form, name: &str) -> Option<Date> {
    parameters.get(name).parse().ok()
}

/// Parses the position after which a page begins, in the format of [`page_path`].
fn parse_position(parameter: &str) -> Option<AuditPosition> {
    let (seq, act) = parameter.split_once('.')?;
    Some(AuditPosition {
        seq: text::parse_integer(seq)?,
        act: text::parse_integer(act)?,
    })
}

/// Returns the path of the page that begins after a position, with the same filters.
///
/// The position is written as `1234.5`: the number of a change, and the number of an act or 0.
fn page_path(position: AuditPosition, filters: &[(&str, &str)]) -> String {
    let AuditPosition { seq, act } = position;
    let after = format!("{seq}.{act}");
    let mut parameters = filters.to_vec();
    parameters.push((AFTER_PARAMETER, &after));
    link(ACTIVITY_PATH, &parameters)
}

/// Loads a page of the matching entries.
///
/// Reads further parts of the trail until one has a matching entry, at most [`MAX_READS_PER_PAGE`].
/// So a page can be empty although another one follows.
async fn load_page(desk: &Desk<'_>, mut query: AuditQuery) -> Result<AuditPage, StoreError> {
    let mut page = list_entries(desk, &query).await?;
    let mut read_count = 1;
    while page.entries.is_empty() && page.next_position.is_some() && read_count < MAX_READS_PER_PAGE
    {
        query.after = page.next_position;
        page = list_entries(desk, &query).await?;
        read_count += 1;
    }
    Ok(page)
}

/// Handles `GET /activity`: renders a page of the entries that match the search.
pub(super) async fn show(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let parameters = &desk.visit.query;
    let mut query = parse_search(desk);
    query.after = parse_position(parameters.get(AFTER_PARAMETER));
    let is_later_page = query.after.is_some();
    let page = load_page(desk, query).await?;
    let references = References::load(desk, &page.entries).await?;

    let filters = FILTER_PARAMETERS.map(|name| (name, parameters.get(name)));
    let first_page = is_later_page.then(|| link(ACTIVITY_PATH, &filters));
    let next_page = page
        .next_position
        .map(|position| page_path(position, &filters));
    let content = html! {
        div.head {
            h1 { (texts().activity) }
            a.button href=(link("/activity/export", &filters)) { (texts().export) }
        }
        (search_form(parameters))
        @if page.entries.is_empty() {
            (no_entries_card(next_page.is_some()))
        } @else {
            (entry_table(desk, &page.entries, &references))
        }
        (page_links(first_page.as_deref(), next_page.as_deref()))
    };
    Ok(Page::new(texts().activity, content).into())
}

/// Renders the card that replaces an empty table.
///
/// `has_more` is true if the search stopped before the end of the trail. The next page can then
/// have matches, and the card says so.
fn no_entries_card(has_more: bool) -> Markup {
    html! {
        div.card.empty {
            @if has_more {
                strong { (texts().no_activity_yet) }
                p { (texts().no_activity_yet_hint) }
            } @else {
                strong { (texts().no_activity) }
                p { (texts().no_activity_hint) }
            }
        }
    }
}

/// Returns an input of the search form, which shows the current value of its query parameter.
fn search_input<'a>(parameters: &'a Form, name: &'a str, label: &'a str) -> Input<'a> {
    Input {
        id: name,
        label,
        value: parameters.get(name),
        ..Input::default()
    }
}

/// Renders the search form. Its inputs show the current filters.
fn search_form(parameters: &Form) -> Markup {
    let mut since_input = search_input(parameters, SINCE_PARAMETER, texts().since);
    since_input.kind = InputKind::Date;
    let mut until_input = search_input(parameters, UNTIL_PARAMETER, texts().up_to);
    until_input.kind = InputKind::Date;
    let mut animal_input = search_input(parameters, ANIMAL_PARAMETER, texts().animal_number);
    if !animal_input.value.is_empty() && parameters.integer(ANIMAL_PARAMETER).is_none() {
        animal_input.error = Some(texts().number_invalid);
    }
    let type_input = search_input(parameters, TYPE_PARAMETER, texts().what);
    let mut type_options = vec![("", texts().any_type.to_owned())];
    for audit_type in AuditType::all() {
        let type_name = audit_type.as_str();
        type_options.push((type_name, wording::audit_type(type_name)));
    }
    html! {
        form.card.row method="get" action=(ACTIVITY_PATH) role="search" {
            (since_input.show())
            (until_input.show())
            (animal_input.show())
            (type_input.show_dropdown(&type_options))
            button.main { (texts().find) }
        }
    }
}
