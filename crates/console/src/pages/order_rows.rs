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

/// The characters that people write between the digits of a telephone number.
const TELEPHONE_SEPARATORS: &str = " +-/().";

/// The name of the input for the end of a reservation.
const END: &str = "until";

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

/// Returns the contact of the open order of an animal.
///
/// Returns `None` if that order is not among `orders`, if it has no contact, or if the member may
/// not see contacts.
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
        |character: char| character.is_ascii_digit() || TELEPHONE_SEPARATORS.contains(character);
    contact
        .split(|character| !is_in_number(character))
        .find_map(|candidate| dialled_number(candidate.trim()))
}

/// Removes the separators from a run of digits and separators, such as `+49 (0)30 123-456`.
///
/// Returns `None` if the run is not a telephone number, because it looks like a date, or has too few
/// or too many digits.
fn dialled_number(candidate: &str) -> Option<String> {
    if is_date(candidate) {
        return None;
    }
    let is_international = candidate.starts_with('+');
    let dialled_text = if is_international {
        // "+49 (0)30" has a zero that is dialled only within the country.
        candidate.replacen("(0)", "", 1)
    } else {
        candidate.to_owned()
    };
    let digits: String = dialled_text.chars().filter(char::is_ascii_digit).collect();
    if !TELEPHONE_DIGITS.contains(&digits.len()) {
        return None;
    }
    if is_international {
        Some(format!("+{digits}"))
    } else {
        Some(digits)
    }
}

/// Whether a run of digits and separators looks like a date, such as `24.12.2026` or `2026-12-24`.
fn is_date(candidate: &str) -> bool {
    let lengths: Vec<usize> = candidate
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

/// Returns a text with the total price of the orders in a status; `None` if none of them has a
/// price.
fn price_total<'o>(
    desk: &Desk<'_>,
    orders: impl Iterator<Item = &'o Order>,
    status: OrderStatus,
) -> Option<String> {
    let mut count = 0;
    let mut ten_thousandths = 0_i64;
    for order in orders {
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

    let sum_in_words = amount(&decimal_text(ten_thousandths), desk.currency());
    Some(texts().sum_of(status, count, &sum_in_words))
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
pub(super) fn table(desk: &Desk<'_>, fields: &FieldSet, rows: &[OrderRow]) -> Markup {
    let has_reservations = rows
        .iter()
        .any(|row| row.order.status == OrderStatus::Reserved);
    let columns = OptionalColumns {
        has_contacts: rows.iter().any(|row| contact(desk, &row.order).is_some()),
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

/// Returns the heading of the date column, which depends on what the column has for these orders.
///
/// The column has the time of a sale, the time at which another order was closed, or the end of an
/// open reservation. The heading of a column with open and closed orders is only "Date".
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

/// Renders the contact of an order with its call link, or nothing if [`contact`] returns `None`.
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
            (desk.idempotency_field(&format!("complete-{}", order.id)))
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

/// Returns the version and the status of an order, and its current values as its inputs show them.
///
/// The forms of the order carry these fields, so that a concurrent change can be detected.
pub(super) fn form_of_order(desk: &Desk<'_>, order: &Order) -> Form {
    let mut fields = vec![
        ("version".to_owned(), order.version.to_string()),
        ("status".to_owned(), order.status.as_str().to_owned()),
    ];
    for input in &ORDER_INPUTS {
        if input.name != PRICE {
            let value = input.stored_value(desk, order).unwrap_or_default();
            fields.push((input.name.to_owned(), value.to_owned()));
        }
    }

    let is_reserved = order.status == OrderStatus::Reserved;
    // As in the forms, only an open or completed order has a price that can change.
    if is_reserved || order.status == OrderStatus::Completed {
        let price = order
            .price
            .as_ref()
            .map(|price| numbers().plain(price.as_str()));
        fields.push((PRICE.to_owned(), price.unwrap_or_default()));
    }
    if is_reserved {
        let end_day = order
            .expires_at
            .map(|end| desk.visit.facts.day_of(end).to_string());
        fields.push((END.to_owned(), end_day.unwrap_or_default()));
    }
    fields.into_iter().collect()
}

/// Returns the fields of [`form_of_order`] that the button in a table row carries.
///
/// The details and the end of the reservation are left out, so that a concurrent change of them
/// does not prevent the sale.
fn row_form(desk: &Desk<'_>, order: &Order) -> Form {
    let mut left_out_names = vec![END];
    for input in &ORDER_INPUTS {
        if input.is_detail {
            left_out_names.push(input.name);
        }
    }
    let mut fields = form_of_order(desk, order).fields().to_vec();
    fields.retain(|(name, _)| !left_out_names.contains(&name.as_str()));
    fields.into_iter().collect()
}
