//! Orders with their animals as a table.

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::store_area::{Contact, FieldSet, Order, OrderId, OrderStatus, StorePet};
use petstore_languages::look::{Animal, Drawings};

use super::{category_names::MAX_CONCURRENT_READS, parts::animal_card};
use crate::{
    merge,
    order_inputs::{ORDER_INPUTS, PRICE},
    prelude::*,
    reply::{FROM, TODAY},
};

/// How many digits a telephone number has.
const DIGITS: std::ops::RangeInclusive<usize> = 6..=15;

/// An order with its animal.
pub(super) type Row = (Order, Option<StorePet>);

/// The orders with these identifiers, and their animals.
pub(super) async fn with_animals(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<Row>, StoreError> {
    animals_of(desk, with_ids(desk, ids).await?).await
}

/// The orders with these identifiers.
pub(super) async fn with_ids(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<Order>, StoreError> {
    let ids: Vec<OrderId> = ids.collect();
    let orders = stream::iter(ids)
        .map(|id| desk.store().get_order(id))
        .buffered(MAX_CONCURRENT_READS);
    let orders: Vec<Option<Order>> = orders.try_collect().await?;
    Ok(orders.into_iter().flatten().collect())
}

pub(super) async fn animals_of(
    desk: &Desk<'_>,
    orders: Vec<Order>,
) -> Result<Vec<Row>, StoreError> {
    let pet = async |order: Order| {
        let pet = desk.store().get_store_pet(order.pet_id).await?;
        Ok((order, pet))
    };
    stream::iter(orders)
        .map(pet)
        .buffered(MAX_CONCURRENT_READS)
        .try_collect()
        .await
}

/// The contact of an order, if the member may see it.
pub(super) fn contact<'o>(desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
    order
        .contact
        .as_ref()
        .filter(|_| desk.may_write())
        .map(Contact::as_str)
}

/// The same of the open order of an animal, among these.
pub(super) fn contact_for<'o>(
    desk: &Desk<'_>,
    orders: &'o [Order],
    pet: &StorePet,
) -> Option<&'o str> {
    contact(
        desk,
        orders.iter().find(|order| Some(order.id) == pet.order_id)?,
    )
}

/// The first telephone number of a contact, as a device dials it.
fn telephone(contact: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || " +-/().".contains(c);
    contact.split(|c| !is_part(c)).find_map(|run| {
        let run = run.trim();
        // Such as 24.12.2026 and 2026-12-24.
        let parts: Vec<usize> = run
            .split(['.', '/', '-'])
            .map(|part| part.trim().len())
            .collect();
        if matches!(parts[..], [1..=2, 1..=2, 2 | 4] | [4, 1..=2, 1..=2]) {
            return None;
        }
        let abroad = if run.starts_with('+') { "+" } else { "" };
        // "+49 (0)30" has a zero that is dialled only within the country.
        let run = if abroad.is_empty() {
            run.to_owned()
        } else {
            run.replacen("(0)", "", 1)
        };
        let digits: String = run.chars().filter(char::is_ascii_digit).collect();
        DIGITS
            .contains(&digits.len())
            .then(|| format!("{abroad}{digits}"))
    })
}

/// The link that calls a customer, if the contact has a telephone number.
pub(super) fn call(contact: &str) -> Markup {
    html! {
        @if let Some(telephone) = telephone(contact) {
            " " a.no-print href={ "tel:" (telephone) } { (texts().call) }
        }
    }
}

/// What these orders bring: those that are sold, and those that are reserved, as far as they have a price.
pub(super) fn sums(desk: &Desk<'_>, rows: &[Row]) -> String {
    let sum = |status| {
        let of_status = rows.iter().filter(|(order, _)| order.status == status);
        let prices =
            of_status.filter_map(|(order, _)| Some(order.price.as_ref()?.ten_thousandths()));
        let (count, sum) = prices.fold((0, 0_i64), |(count, sum), price| {
            (count + 1, sum.saturating_add(price))
        });
        let sum = format!("{}.{:04}", sum / 10_000, sum % 10_000);
        let sum = amount(
            sum.trim_end_matches('0').trim_end_matches('.'),
            desk.currency(),
        );
        (count > 0).then(|| texts().sum_of(status, count, &sum))
    };
    let sums = [OrderStatus::Completed, OrderStatus::Reserved]
        .into_iter()
        .filter_map(sum);
    sums.collect::<Vec<_>>().join(" · ")
}

/// Orders with their animals.
pub(super) fn table(desk: &Desk<'_>, fields: &FieldSet, rows: &[Row]) -> Markup {
    let has_buttons = desk.may_write()
        && rows
            .iter()
            .any(|(order, _)| order.status == OrderStatus::Reserved);
    let have_contacts = rows.iter().any(|(order, _)| contact(desk, order).is_some());
    let mut labels = vec![
        texts().animal,
        texts().status_label,
        ends(rows.iter().map(|(order, _)| order)),
        texts().price,
        texts().reference,
        texts().order,
    ];
    if have_contacts {
        labels.insert(1, texts().contact);
    }
    let headings = html! {
        (markup::headings(&labels))
        @if has_buttons { th scope="col" { span.hidden { (texts().actions) } } }
    };
    let mut drawings = Drawings::default();
    let rows = html! {
        @for (at, row) in rows.iter().enumerate() {
            @let animal = row.1.as_ref().map(|pet| Animal::whole(pet, fields));
            @let card = animal.map(|animal| animal_card(desk, &animal, "", (&mut drawings, at)));
            (table_row(desk, row, card, (has_buttons, have_contacts)))
        }
    };
    html! { (drawings.symbols()) div.orders { (markup::table(&headings, &rows)) } }
}

/// What the day of all these orders is.
fn ends<'o>(mut orders: impl Iterator<Item = &'o Order> + Clone) -> &'static str {
    if orders
        .clone()
        .all(|order| order.status == OrderStatus::Completed)
    {
        texts().sold_at
    } else if orders.all(|order| order.closed_at.is_some()) {
        texts().closed_at
    } else {
        texts().ends
    }
}

fn table_row(
    desk: &Desk<'_>,
    (order, pet): &Row,
    card: Option<Markup>,
    (has_buttons, have_contacts): (bool, bool),
) -> Markup {
    let end = order.closed_at.or(order.expires_at);
    let name = pet.as_ref().map_or("", |pet| pet.name.as_str());
    html! {
        tr {
            td.first {
                @if let Some(card) = card { (card) } @else { (texts().no_name) }
            }
            @if have_contacts {
                td data-label=(texts().contact) {
                    @if let Some(contact) = contact(desk, order) {
                        (markup::text(contact, SHORT)) (call(contact))
                    }
                }
            }
            td { (markup::order_badge(order, desk.visit.now)) }
            td data-label=(ends([order].into_iter())) {
                @if let Some(end) = end { (markup::time_and_distance(end, desk.visit.now)) } @else { "–" }
            }
            td.price data-label=(texts().price) {
                @if let Some(price) = &order.price { (amount(price.as_str(), desk.currency())) }
            }
            td data-label=(texts().reference) {
                @if let Some(reference) = &order.reference { (markup::text(reference.as_str(), SHORT)) }
            }
            td.number data-label=(texts().order) {
                a href={ "/orders/" (order.id) } { (order.id) }
            }
            @if has_buttons {
                td.act {
                    @if order.status == OrderStatus::Reserved {
                        form method="post" action={ "/orders/" (order.id) "/complete" } {
                            (desk.key(&format!("complete-{}", order.id)))
                            (merge::shown(&seen(desk, order)))
                            @if desk.visit.request.uri.path() == "/" {
                                input type="hidden" name=(FROM) value=(TODAY);
                            }
                            button {
                                (texts().sell) span.hidden { (window_texts().colon) (markup::plain_name(name)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The values of the inputs of an order, and its status, on which its buttons depend.
pub(super) fn form_of(desk: &Desk<'_>, order: &Order) -> Form {
    let is_reserved = order.status == OrderStatus::Reserved;
    let end = order
        .expires_at
        .map(|end| end.strftime("%F").to_string())
        .unwrap_or_default();
    let version = order.version.to_string();
    let mut members = vec![("version", &*version), ("status", order.status.as_str())];
    let others = ORDER_INPUTS.iter().filter(|input| input.name != PRICE);
    members.extend(others.map(|input| (input.name, input.of(desk, order).unwrap_or_default())));
    let price = order
        .price
        .as_ref()
        .map(|price| numbers().plain(price.as_str()));
    if is_reserved || order.status == OrderStatus::Completed {
        members.push((PRICE, price.as_deref().unwrap_or_default()));
    }
    if is_reserved {
        members.push(("until", &end));
    }
    Form::with(&members)
}

/// The values of a row on which its button depends.
fn seen(desk: &Desk<'_>, order: &Order) -> Form {
    let form = form_of(desk, order);
    let is_unseen = |name: &str| {
        name == "until"
            || ORDER_INPUTS
                .iter()
                .any(|input| input.is_detail && input.name == name)
    };
    form.fields()
        .iter()
        .filter(|(name, _)| !is_unseen(name))
        .cloned()
        .collect()
}
