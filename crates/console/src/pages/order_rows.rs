//! Loads orders with their animals, and renders them as a table.

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::store_area::{Contact, FieldSet, Order, OrderId, OrderStatus, StorePet};
use petstore_languages::look::{Animal, Drawings};

use super::{category_names::MAX_CONCURRENT_READS, parts::animal_card};
use crate::{
    merge,
    order_inputs::{ORDER_INPUTS, PRICE},
    prelude::*,
    reply::{FROM_FIELD, FROM_TODAY},
};

/// The number of digits that a telephone number may have. E.164 allows at most 15.
const TELEPHONE_DIGITS: std::ops::RangeInclusive<usize> = 6..=15;

/// An order with its animal.
pub(super) struct OrderRow {
    pub(super) order: Order,
    /// The animal; `None` if it no longer exists or was not loaded.
    pub(super) pet: Option<StorePet>,
}

impl OrderRow {
    /// Returns a row whose animal was not loaded.
    pub(super) fn without_pet(order: Order) -> Self {
        Self { order, pet: None }
    }
}

/// Loads the orders with these ids, and their animals. Skips ids that no order has.
pub(super) async fn load_rows(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<OrderRow>, StoreError> {
    let orders = load_orders(desk, ids).await?;
    with_pets(desk, orders).await
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
pub(super) async fn with_pets(
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

/// Returns the contact of an order; `None` if it has none, or if the member may not see contacts.
pub(super) fn contact<'o>(desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
    if !desk.may_write() {
        return None;
    }
    order.contact.as_ref().map(Contact::as_str)
}

/// Returns the contact of the open order of an animal; `None` if that order is not among `orders`, or
/// as for [`contact`].
pub(super) fn contact_for<'o>(
    desk: &Desk<'_>,
    orders: &'o [Order],
    pet: &StorePet,
) -> Option<&'o str> {
    let open_order = orders.iter().find(|order| Some(order.id) == pet.order_id)?;
    contact(desk, open_order)
}

/// Returns the first telephone number in a contact, in the format of a `tel:` link: `+4930123456` for
/// `Ana, +49 (0)30 123-456`.
fn telephone(contact: &str) -> Option<String> {
    let is_in_number =
        |character: char| character.is_ascii_digit() || " +-/().".contains(character);
    contact
        .split(|character| !is_in_number(character))
        .find_map(|text| telephone_number(text.trim()))
}

/// Removes the separators from a run of digits and separators, such as `+49 (0)30 123-456`. Returns
/// `None` if it is no telephone number: it is a date, or has too few or too many digits.
fn telephone_number(text: &str) -> Option<String> {
    if is_date(text) {
        return None;
    }
    let mut number = String::new();
    let digits = if text.starts_with('+') {
        number.push('+');
        // "+49 (0)30" has a zero that is dialled only within the country.
        text.replacen("(0)", "", 1)
    } else {
        text.to_owned()
    };
    let prefix_length = number.len();
    number.extend(digits.chars().filter(char::is_ascii_digit));
    let digit_count = number.len() - prefix_length;
    if !TELEPHONE_DIGITS.contains(&digit_count) {
        return None;
    }
    Some(number)
}

/// Whether a run of digits and separators looks like a date, such as `24.12.2026` or `2026-12-24`.
fn is_date(text: &str) -> bool {
    let lengths: Vec<usize> = text
        .split(['.', '/', '-'])
        .map(|part| part.trim().len())
        .collect();
    matches!(lengths[..], [1..=2, 1..=2, 2 | 4] | [4, 1..=2, 1..=2])
}

/// Renders a link that dials the telephone number in a contact, or nothing if there is none.
pub(super) fn call_link(contact: &str) -> Markup {
    html! {
        @if let Some(telephone) = telephone(contact) {
            " " a.no-print href={ "tel:" (telephone) } { (texts().call) }
        }
    }
}

/// Returns a text with two totals: the prices of the sales, and the prices of the reservations. A
/// total without any price is left out, so the text can be empty.
pub(super) fn price_totals(desk: &Desk<'_>, rows: &[OrderRow]) -> String {
    let sales_total = price_total(desk, rows, OrderStatus::Completed);
    let reservations_total = price_total(desk, rows, OrderStatus::Reserved);
    let totals: Vec<String> = sales_total.into_iter().chain(reservations_total).collect();
    totals.join(" · ")
}

/// Returns a text with the total price of the orders in a status; `None` if none of them has a
/// price.
fn price_total(desk: &Desk<'_>, rows: &[OrderRow], status: OrderStatus) -> Option<String> {
    let mut count = 0;
    let mut ten_thousandths = 0_i64;
    for OrderRow { order, .. } in rows {
        if order.status == status
            && let Some(price) = &order.price
        {
            count += 1;
            ten_thousandths = ten_thousandths.saturating_add(price.ten_thousandths());
        }
    }
    if count == 0 {
        return None;
    }

    let whole = ten_thousandths / 10_000;
    let decimals = ten_thousandths % 10_000;
    let sum = format!("{whole}.{decimals:04}");
    let sum_without_zeros = sum.trim_end_matches('0').trim_end_matches('.');
    let sum_in_words = amount(sum_without_zeros, desk.currency());
    Some(texts().sum_of(status, count, &sum_in_words))
}

/// Which of the optional columns a table of orders has.
#[derive(Clone, Copy)]
struct OptionalColumns {
    has_contacts: bool,
    has_buttons: bool,
}

/// Renders a table of orders with their animals.
pub(super) fn table(desk: &Desk<'_>, fields: &FieldSet, rows: &[OrderRow]) -> Markup {
    let has_reservations = rows
        .iter()
        .any(|row| row.order.status == OrderStatus::Reserved);
    let columns = OptionalColumns {
        has_contacts: rows.iter().any(|row| contact(desk, &row.order).is_some()),
        has_buttons: desk.may_write() && has_reservations,
    };
    let mut labels = vec![
        texts().animal,
        texts().status_label,
        end_label(rows.iter().map(|row| &row.order)),
        texts().price,
        texts().reference,
        texts().order,
    ];
    if columns.has_contacts {
        // The contact follows the animal, as in the rows.
        labels.insert(1, texts().contact);
    }
    let headings = html! {
        (markup::headings(&labels))
        @if columns.has_buttons {
            th scope="col" { span.hidden { (texts().actions) } }
        }
    };

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

/// Returns the heading of the date column. The column has the time of the sale if all orders are
/// sales, the closing time if all are closed, the end of the reservations if all are open, and
/// otherwise one or the other, so that its heading is only "Date".
fn end_label<'o>(orders: impl Iterator<Item = &'o Order> + Clone) -> &'static str {
    let are_sold = orders
        .clone()
        .all(|order| order.status == OrderStatus::Completed);
    if are_sold {
        return texts().sold_at;
    }
    let mut closed_orders = orders.clone().filter(|order| order.closed_at.is_some());
    let mut open_orders = orders.filter(|order| order.closed_at.is_none());
    match (open_orders.next(), closed_orders.next()) {
        (Some(_), Some(_)) => texts().ends_or_closed,
        (Some(_), None) => texts().ends,
        (None, _) => texts().closed_at,
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
            td data-label=(end_label([order].into_iter())) { (end_markup(desk, order)) }
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

/// Renders the contact of an order with its call link, or nothing if [`contact`] returns none.
fn contact_markup(desk: &Desk<'_>, order: &Order) -> Markup {
    html! {
        @if let Some(contact) = contact(desk, order) {
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
            (desk.key_field(&format!("complete-{}", order.id)))
            (merge::hidden_fields(&row_form(desk, order)))
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

/// Returns the version and the status of an order, and its current values as the inputs of its forms
/// show them. The forms carry all of the given, so that a concurrent change can be detected.
pub(super) fn form_of_order(desk: &Desk<'_>, order: &Order) -> Form {
    let is_reserved = order.status == OrderStatus::Reserved;
    let version = order.version.to_string();
    let mut inputs = vec![("version", &*version), ("status", order.status.as_str())];
    for input in &ORDER_INPUTS {
        if input.name != PRICE {
            let value = input.stored_value(desk, order);
            inputs.push((input.name, value.unwrap_or_default()));
        }
    }

    let price = order
        .price
        .as_ref()
        .map(|price| numbers().plain(price.as_str()));
    // As in the forms, only an open or completed order has a price that can change.
    if is_reserved || order.status == OrderStatus::Completed {
        inputs.push((PRICE, price.as_deref().unwrap_or_default()));
    }
    let end = order
        .expires_at
        .map(|end| desk.visit.facts.day_of(end).to_string());
    if is_reserved {
        inputs.push(("until", end.as_deref().unwrap_or_default()));
    }
    Form::from_pairs(&inputs)
}

/// Returns the part of [`form_of_order`] that the button in a table row carries. It lacks the details
/// and the end of the reservation, so that a concurrent change of the given does not prevent the sale.
fn row_form(desk: &Desk<'_>, order: &Order) -> Form {
    let mut fields = form_of_order(desk, order).fields().to_vec();
    for input in &ORDER_INPUTS {
        if input.is_detail {
            fields.retain(|(name, _)| name != input.name);
        }
    }
    fields.retain(|(name, _)| name != "until");
    fields.into_iter().collect()
}
