//! The list of orders, and the search for orders.

use jiff::ToSpan;
use petstore_domain::{
    Limit,
    store_area::{FieldSet, OrderId, OrderQuery, OrderStatus},
};

use super::{
    order_rows::{OrderRow, load_rows, sums, table, with_pets},
    order_search,
    parts::{link, page_links},
};
use crate::{layout::Follows, prelude::*};

/// The number of orders on a page.
const ORDERS_ON_PAGE: i64 = 25;

/// The number of reservations on the page of all reservations.
const MAX_RESERVATIONS: u32 = 100;

/// The distance of the last reservation that the page of all reservations shows, in hours: 401 days, longer than any
/// reservation.
pub(super) const RESERVATION_HOURS: i64 = 401 * 24;

/// A part of the orders of the store, and its neighbours.
#[derive(Default)]
struct OrderList {
    rows: Vec<OrderRow>,
    /// Whether more orders were found than there are rows.
    is_cut: bool,
    /// The link to the first page, if this is a later one.
    first_link: Option<String>,
    /// The link to the next page, if there is one.
    next_link: Option<String>,
}

/// Shows a list of orders: the reservations by their end, others from the newest on.
pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let search_text = desk.visit.query.get("q");
    let status = shown_status(desk);
    let list = load_list(desk, search_text, status).await?;
    let fields = desk.store().fields().await?;
    let count_text = texts().orders_found(list.rows.len(), list.next_link.is_some());
    let content = html! {
        h1 { (texts().orders) }
        (search_form(desk, search_text))
        div #results.stack data-live data-found=(count_text) {
            (status_tabs(search_text, status))
            @if list.rows.is_empty() {
                (empty_list(desk, search_text, list.is_cut))
            } @else {
                (list_content(desk, &fields, search_text, &list))
                @let export_path = link("/export/orders", &[("q", search_text), ("status", status)]);
                p.no-print { a href=(export_path) { (texts().export) } }
            }
        }
    };
    Ok(Page::new(texts().orders, content)
        .following(Follows::Everything)
        .into())
}

/// Returns the status of the orders that the request asks for: without a status and a search, the status of reservations.
pub(super) fn shown_status<'d>(desk: &'d Desk<'_>) -> &'d str {
    match desk.visit.query.get("status") {
        "" if desk.visit.query.get("q").is_empty() => OrderStatus::Reserved.as_str(),
        status => status,
    }
}

/// Loads the orders that a search finds, or else the reservations, or else a page of the orders in a status.
async fn load_list(
    desk: &Desk<'_>,
    search_text: &str,
    status: &str,
) -> Result<OrderList, ApiError> {
    let after = desk.visit.query.integer("after").and_then(OrderId::new);
    let mut list = OrderList {
        first_link: after.map(|_| link("/orders", &[("status", status)])),
        ..OrderList::default()
    };

    if !search_text.is_empty() {
        let matches = order_search::find(desk, search_text, status.parse().ok()).await?;
        list.is_cut = !matches.is_complete;
        list.rows = with_pets(desk, matches.orders).await?;
    } else if status == OrderStatus::Reserved.as_str() {
        let now = desk.visit.now;
        let end = now.checked_add(RESERVATION_HOURS.hours()).unwrap_or(now);
        let due = desk.store().due_orders(None, end, MAX_RESERVATIONS).await?;
        list.is_cut = due.len() >= MAX_RESERVATIONS as usize;
        list.rows = load_rows(desk, due.into_iter().map(|(id, _)| id)).await?;
    } else {
        let query = OrderQuery {
            status: status.parse().ok(),
            limit: Limit::new(ORDERS_ON_PAGE).unwrap_or_default(),
            newest_first: true,
            after,
            ..OrderQuery::default()
        };
        let (orders, next_position) = desk.store().list_orders(&query).await?;
        if let Some(id) = next_position {
            let id = id.to_string();
            let status = desk.visit.query.get("status");
            list.next_link = Some(link("/orders", &[("status", status), ("after", &id)]));
        }
        list.rows = with_pets(desk, orders).await?;
    }
    Ok(list)
}

/// Renders the form that searches for orders in all statuses.
fn search_form(desk: &Desk<'_>, search_text: &str) -> Markup {
    let label = if desk.may_write() {
        texts().find_order
    } else {
        texts().find_order_by_animal
    };
    html! {
        form.card method="get" action="/orders" role="search" data-search {
            label for="q" { (label) }
            div.row {
                div.field.search {
                    input #q name="q" type="search" value=(search_text)
                        autocomplete="off" dir="auto" autofocus;
                }
                input type="hidden" name="status" value="all";
                button.main { (texts().find) }
            }
        }
    }
}

/// Renders the links to the orders in each status, and to all: of the store, or of the search.
fn status_tabs(search_text: &str, present_status: &str) -> Markup {
    let is_all = present_status.is_empty() || present_status == ALL_STATUSES;
    html! {
        nav.sub aria-label=(texts().status_label) {
            ul {
                @for status in OrderStatus::ALL {
                    @let is_present = status.as_str() == present_status;
                    @let label = texts().order_status(status);
                    (status_tab(search_text, status.as_str(), label, is_present))
                }
                (status_tab(search_text, ALL_STATUSES, texts().all, is_all))
            }
        }
    }
}

/// The value of `status` in a query for the orders in all statuses.
const ALL_STATUSES: &str = "all";

/// Renders the link to the orders in a status.
fn status_tab(search_text: &str, status: &str, label: &str, is_present: bool) -> Markup {
    let path = link("/orders", &[("q", search_text), ("status", status)]);
    html! {
        li {
            a href=(path) aria-current=[is_present.then_some("true")] { (label) }
        }
    }
}

/// Renders what the page says without orders.
fn empty_list(desk: &Desk<'_>, search_text: &str, is_cut: bool) -> Markup {
    html! {
        div.card.empty {
            @if search_text.is_empty() {
                strong { (texts().no_orders) }
                p { (texts().no_orders_hint) }
                a.button href="/animals?status=available" { (texts().animals_heading) }
            } @else {
                strong { (texts().no_order_found) }
                @if desk.may_write() {
                    @let days = wording::days(desk.app().keep_contacts);
                    p { (texts().no_order_found_hint(days)) }
                }
                @if is_cut { p { (texts().only_newest(order_search::MAX_SEARCHED)) } }
            }
        }
    }
}

/// Renders the orders of a list, their sums, and the links to other pages.
fn list_content(desk: &Desk<'_>, fields: &FieldSet, search_text: &str, list: &OrderList) -> Markup {
    let sums_text = sums(desk, &list.rows);
    html! {
        @if !search_text.is_empty() {
            p.muted {
                (texts().orders_found(list.rows.len(), list.is_cut))
                @if list.is_cut { " " (texts().only_newest(order_search::MAX_SEARCHED)) }
            }
        } @else if list.is_cut {
            p.muted { (texts().only_first) }
        }
        @if !sums_text.is_empty() { p.muted { (texts().shown_here) " " (sums_text) } }
        (table(desk, fields, &list.rows))
        (page_links(list.first_link.as_deref(), list.next_link.as_deref()))
    }
}
