//! The list of orders, and its search.

use jiff::{Timestamp, ToSpan};
use petstore_domain::store_area::{FieldSet, OrderId, OrderQuery, OrderStatus};

use super::{
    order_rows::{OrderRow, load_rows, order_table, pair_with_pets, price_totals},
    order_search,
    parts::{constant_limit, link, page_links},
};
use crate::{layout::Follows, prelude::*};

/// The number of orders on each page of the list.
const ORDERS_ON_PAGE: i64 = 25;

/// The maximum number of reservations in their list. Unlike the lists of other orders, it has only
/// one page.
const MAX_RESERVATIONS: u32 = 100;

/// How far into the future the list of reservations reaches, in hours: 401 days, which is longer
/// than any reservation.
const RESERVATION_HORIZON_HOURS: i64 = 401 * 24;

/// The value of the `status` parameter for orders in all statuses.
const ALL_STATUSES: &str = "all";

/// The orders that the page shows, with its pagination links.
#[derive(Default)]
struct OrderList {
    rows: Vec<OrderRow>,
    /// Whether orders can be missing in `rows`, because a limit was reached.
    is_truncated: bool,
    /// The link to the first page, if this is a later one.
    first_link: Option<String>,
    /// The link to the next page, if there is one.
    next_link: Option<String>,
}

/// Handles `GET /orders`: renders the list of orders. Reservations are sorted by their end, and
/// other orders from newest to oldest.
pub(super) async fn list(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let search_text = desk.visit.query.get("q");
    let status = selected_status(desk);
    let list = load_list(desk, search_text, status).await?;
    let fields = desk.store().fields().await?;
    let has_more = list.is_truncated || list.next_link.is_some();
    let count_text = texts().orders_found(list.rows.len(), has_more);
    let content = html! {
        h1 { (texts().orders) }
        (search_form(desk, search_text))
        div #results.stack data-live data-found=(count_text) {
            (status_tabs(search_text, status))
            @if list.rows.is_empty() {
                (empty_list(desk, search_text, list.is_truncated))
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

/// Returns the `status` parameter of the query, or its default: `reserved` for the list, and an
/// empty text for a search.
pub(super) fn selected_status<'d>(desk: &'d Desk<'_>) -> &'d str {
    let status = desk.visit.query.get("status");
    let is_search = !desk.visit.query.get("q").is_empty();
    if status.is_empty() && !is_search {
        return OrderStatus::Reserved.as_str();
    }
    status
}

/// Returns the status that a value of [`selected_status`] names. Returns `None`, which means orders
/// in all statuses, for any other value, such as [`ALL_STATUSES`].
pub(super) fn parse_status_filter(status: &str) -> Option<OrderStatus> {
    status.parse().ok()
}

/// Loads the orders to show. These are the matches of the search text if there is one. Otherwise,
/// they are the reservations, or one page of the orders in another status.
async fn load_list(
    desk: &Desk<'_>,
    search_text: &str,
    status: &str,
) -> Result<OrderList, ApiError> {
    let after = desk.visit.query.integer("after").and_then(OrderId::new);
    let mut list = if !search_text.is_empty() {
        let status_filter = parse_status_filter(status);
        let matches = order_search::find(desk, search_text, status_filter).await?;
        OrderList {
            rows: pair_with_pets(desk, matches.orders).await?,
            is_truncated: !matches.is_complete,
            ..OrderList::default()
        }
    } else if status == OrderStatus::Reserved.as_str() {
        load_reservations(desk).await?
    } else {
        load_page(desk, status, after).await?
    };
    if after.is_some() {
        list.first_link = Some(link("/orders", &[("status", status)]));
    }
    Ok(list)
}

/// Returns the time up to which the list and the export of reservations reach.
pub(super) fn reservation_horizon(desk: &Desk<'_>) -> Timestamp {
    let now = desk.visit.now;
    // The addition fails only for times near the end of the year 9999.
    now.checked_add(RESERVATION_HORIZON_HOURS.hours())
        .unwrap_or(now)
}

/// Loads the reservations, starting with the one that ends first.
async fn load_reservations(desk: &Desk<'_>) -> Result<OrderList, StoreError> {
    let end = reservation_horizon(desk);
    let due_orders = desk.store().due_orders(None, end, MAX_RESERVATIONS).await?;
    let is_truncated = due_orders.len() >= MAX_RESERVATIONS as usize;
    Ok(OrderList {
        rows: load_rows(desk, due_orders.into_iter().map(|(id, _)| id)).await?,
        is_truncated,
        ..OrderList::default()
    })
}

/// Loads one page of the orders in a status, from newest to oldest.
///
/// This is the page that follows the order `after`, or else the first one. `status` is a value of
/// [`selected_status`].
async fn load_page(
    desk: &Desk<'_>,
    status: &str,
    after: Option<OrderId>,
) -> Result<OrderList, StoreError> {
    let query = OrderQuery {
        status: parse_status_filter(status),
        limit: constant_limit(ORDERS_ON_PAGE),
        newest_first: true,
        after,
        ..OrderQuery::default()
    };
    let (orders, next_position) = desk.store().list_orders(&query).await?;
    let next_link = next_position.map(|id| {
        let last_id = id.to_string();
        link("/orders", &[("status", status), ("after", &last_id)])
    });
    Ok(OrderList {
        rows: pair_with_pets(desk, orders).await?,
        next_link,
        ..OrderList::default()
    })
}

/// Renders the search form. It always searches the orders in all statuses.
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
                input type="hidden" name="status" value=(ALL_STATUSES);
                button.main { (texts().find) }
            }
        }
    }
}

/// Renders the tabs that narrow the list, or the matches of the search, to one status.
fn status_tabs(search_text: &str, current_status: &str) -> Markup {
    let is_all = current_status.is_empty() || current_status == ALL_STATUSES;
    html! {
        nav.sub aria-label=(texts().status_label) {
            ul {
                @for status in OrderStatus::ALL {
                    @let is_current = status.as_str() == current_status;
                    @let label = texts().order_status(status);
                    (status_tab(search_text, status.as_str(), label, is_current))
                }
                (status_tab(search_text, ALL_STATUSES, texts().all, is_all))
            }
        }
    }
}

/// Renders the tab of one status.
fn status_tab(search_text: &str, status: &str, label: &str, is_current: bool) -> Markup {
    let path = link("/orders", &[("q", search_text), ("status", status)]);
    html! {
        li {
            a href=(path) aria-current=[is_current.then_some("true")] { (label) }
        }
    }
}

/// Renders the placeholder that replaces an empty list of orders or of matches.
fn empty_list(desk: &Desk<'_>, search_text: &str, is_truncated: bool) -> Markup {
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
                @if is_truncated { p { (texts().only_newest(order_search::MAX_SCANNED)) } }
            }
        }
    }
}

/// Renders the table of orders, the totals of their prices, and the pagination links.
fn list_content(desk: &Desk<'_>, fields: &FieldSet, search_text: &str, list: &OrderList) -> Markup {
    let totals = price_totals(desk, list.rows.iter().map(|row| &row.order));
    html! {
        @if !search_text.is_empty() {
            p.muted {
                (texts().orders_found(list.rows.len(), list.is_truncated))
                @if list.is_truncated { " " (texts().only_newest(order_search::MAX_SCANNED)) }
            }
        } @else if list.is_truncated {
            p.muted { (texts().only_first) }
        }
        @if !totals.is_empty() { p.muted { (texts().shown_here) " " (totals) } }
        (order_table(desk, fields, &list.rows))
        (page_links(list.first_link.as_deref(), list.next_link.as_deref()))
    }
}
