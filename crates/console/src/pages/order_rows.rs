//! Loads orders with their animals, renders them as a table, and adds up their prices.

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::store_area::{FieldSet, Order, OrderId, OrderStatus, StorePet};
use petstore_languages::look::{Animal, Drawings};

use super::{
    category_names::MAX_CONCURRENT_READS,
    order_contacts::{call_link, visible_contact},
    order_values::form_of_sell_button,
    parts::animal_card,
};
use crate::{
    merge,
    prelude::*,
    reply::{FROM_FIELD, FROM_TODAY},
};

/// An order with its animal.
pub(super) struct OrderRow {
    pub(super) order: Order,
    /// The animal; `None` if it no longer exists.
    pub(super) pet: Option<StorePet>,
}

/// Loads the orders with these ids, and their animals. Skips ids that no order has.
pub(super) async fn load_rows(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<OrderRow>, StoreError> {
    let orders = load_orders(desk, ids).await?;
    pair_with_pets(desk, orders).await
}

/// Loads the orders with these ids. Skips ids that no order has.
pub(super) async fn load_orders(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<Order>, StoreError> {
    let ids: Vec<OrderId> = ids.collect();
    let orders: Vec<Option<Order>> = stream::iter(ids)
        .map(|id| desk.store().get_order(id))
        .buffered(MAX_CONCURRENT_READS)
        .try_collect()
        .await?;
    Ok(orders.into_iter().flatten().collect())
}

/// Loads the animal of each order. The rows are in the order of `orders`.
pub(super) async fn pair_with_pets(
    desk: &Desk<'_>,
    orders: Vec<Order>,
) -> Result<Vec<OrderRow>, StoreError> {
    stream::iter(orders)
        .map(async |order| {
            let pet = desk.store().get_store_pet(order.pet_id).await?;
            Ok(OrderRow { order, pet })
        })
        .buffered(MAX_CONCURRENT_READS)
        .try_collect()
        .await
}

/// Returns a text with the total price of the sales and the total price of the reservations.
///
/// The total of orders without any price is left out, so the text can be empty.
pub(super) fn price_totals<'o>(
    desk: &Desk<'_>,
    orders: impl Iterator<Item = &'o Order> + Clone,
) -> String {
    let sales_total = price_total(desk, orders.clone(), OrderStatus::Completed);
    let reservations_total = price_total(desk, orders, OrderStatus::Reserved);
    let totals: Vec<String> = sales_total.into_iter().chain(reservations_total).collect();
    totals.join(" · ")
}

/// Returns a text with the total price of the orders in a status. Returns `None` if none of them
/// has a price.
fn price_total<'o>(
    desk: &Desk<'_>,
    orders: impl Iterator<Item = &'o Order>,
    status: OrderStatus,
) -> Option<String> {
    let mut priced_count = 0;
    let mut ten_thousandths = 0_i64;
    for order in orders {
        if order.status == status
            && let Some(price) = &order.price
        {
            priced_count += 1;
            ten_thousandths = ten_thousandths.saturating_add(price.ten_thousandths());
        }
    }
    if priced_count == 0 {
        return None;
    }

    let sum_in_words = amount(&decimal_text(ten_thousandths), desk.currency());
    Some(texts().sum_of(status, priced_count, &sum_in_words))
}

/// Returns a number of ten-thousandths as a decimal number without trailing zeros: `1.5` for
/// 15,000.
fn decimal_text(ten_thousandths: i64) -> String {
    let whole = ten_thousandths / 10_000;
    let decimals = ten_thousandths % 10_000;
    let number = format!("{whole}.{decimals:04}");
    let number_without_zeros = number.trim_end_matches('0').trim_end_matches('.');
    number_without_zeros.to_owned()
}

/// Which of the optional columns a table of orders has.
#[derive(Clone, Copy)]
struct OptionalColumns {
    has_contacts: bool,
    has_buttons: bool,
}

/// Renders a table of orders with their animals.
pub(super) fn order_table(desk: &Desk<'_>, fields: &FieldSet, rows: &[OrderRow]) -> Markup {
    let has_reservations = rows
        .iter()
        .any(|row| row.order.status == OrderStatus::Reserved);
    let columns = OptionalColumns {
        has_contacts: rows
            .iter()
            .any(|row| visible_contact(desk, &row.order).is_some()),
        has_buttons: desk.may_write() && has_reservations,
    };
    let headings = table_headings(rows, columns);
    let mut drawings = Drawings::default();
    let table_rows = html! {
        @for (index, row) in rows.iter().enumerate() {
            @let animal = row.pet.as_ref().map(|pet| Animal::whole(pet, fields));
            @let card = animal.map(|animal| animal_card(desk, &animal, "", &mut drawings, index));
            (table_row(desk, row, card, columns))
        }
    };
    html! {
        (drawings.symbols())
        div.orders { (markup::table(&headings, &table_rows)) }
    }
}

/// Renders the headings of a table of orders, in the order of the cells in [`table_row`].
fn table_headings(rows: &[OrderRow], columns: OptionalColumns) -> Markup {
    let orders: Vec<&Order> = rows.iter().map(|row| &row.order).collect();
    let mut labels = vec![texts().animal];
    if columns.has_contacts {
        labels.push(texts().contact);
    }
    labels.extend([
        texts().status_label,
        date_heading(&orders),
        texts().price,
        texts().reference,
        texts().order,
    ]);
    html! {
        (markup::headings(&labels))
        @if columns.has_buttons {
            th scope="col" { span.hidden { (texts().actions) } }
        }
    }
}

/// Returns the heading of the date column of a table with these orders.
///
/// The column shows when an animal was sold, when another order was closed, or when an open
/// reservation ends. The heading of a column with open and closed orders is only "Date".
fn date_heading(orders: &[&Order]) -> &'static str {
    if orders
        .iter()
        .all(|order| order.status == OrderStatus::Completed)
    {
        return texts().sold_at;
    }
    let has_open_orders = orders.iter().any(|order| order.closed_at.is_none());
    let has_closed_orders = orders.iter().any(|order| order.closed_at.is_some());
    if !has_open_orders {
        texts().closed_at
    } else if has_closed_orders {
        texts().ends_or_closed
    } else {
        texts().ends
    }
}

/// Renders an order as a row of the table. `card` is its rendered animal.
fn table_row(
    desk: &Desk<'_>,
    row: &OrderRow,
    card: Option<Markup>,
    columns: OptionalColumns,
) -> Markup {
    let order = &row.order;
    html! {
        tr {
            td.first {
                @if let Some(card) = card { (card) } @else { (texts().no_name) }
            }
            @if columns.has_contacts {
                td data-label=(texts().contact) { (contact_markup(desk, order)) }
            }
            td { (markup::order_badge(order, desk.visit.now)) }
            td data-label=(date_heading(&[order])) { (end_markup(desk, order)) }
            td.price data-label=(texts().price) {
                @if let Some(price) = &order.price {
                    (amount(price.as_str(), desk.currency()))
                }
            }
            td data-label=(texts().reference) {
                @if let Some(reference) = &order.reference {
                    (markup::text(reference.as_str(), SHORT_LENGTH))
                }
            }
            td.number data-label=(texts().order) {
                a href={ "/orders/" (order.id) } { (order.id) }
            }
            @if columns.has_buttons {
                td.act {
                    @if order.status == OrderStatus::Reserved { (sell_button(desk, row)) }
                }
            }
        }
    }
}

/// Renders the contact of an order with its call link, or nothing if there is no
/// [`visible_contact`].
fn contact_markup(desk: &Desk<'_>, order: &Order) -> Markup {
    html! {
        @if let Some(contact) = visible_contact(desk, order) {
            (markup::text(contact, SHORT_LENGTH)) (call_link(contact))
        }
    }
}

/// Renders the time at which an order was closed, or else ends. Renders a dash if it has no end.
fn end_markup(desk: &Desk<'_>, order: &Order) -> Markup {
    html! {
        @if let Some(end) = order.closed_at.or(order.expires_at) {
            (markup::time_and_distance(end, desk.visit.now))
        } @else { "–" }
    }
}

/// Renders the form with the button that sells a reserved animal.
fn sell_button(desk: &Desk<'_>, OrderRow { order, pet }: &OrderRow) -> Markup {
    let name = pet.as_ref().map_or("", |pet| pet.name.as_str());
    html! {
        form method="post" action={ "/orders/" (order.id) "/complete" } {
            (desk.idempotency_field(&format!("complete-{}", order.id)))
            (merge::hidden_fields(&form_of_sell_button(desk, order)))
            @if desk.visit.request.uri.path() == "/" {
                input type="hidden" name=(FROM_FIELD) value=(FROM_TODAY);
            }
            button {
                (texts().sell)
                span.hidden { (window_texts().colon) (markup::plain_name(name)) }
            }
        }
    }
}
