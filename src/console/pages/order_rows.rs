//! Orders with their animals as a table.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::{category_names::AT_ONCE, photos};
use crate::console::prelude::*;
use crate::{
    console::{
        merge,
        order_inputs::{ORDER_INPUTS, PRICE},
    },
    domain::store_area::{Contact, Order, OrderId, OrderStatus, StorePet},
};

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
    let orders = stream::iter(ids).map(|id| desk.store().get_order(id)).buffered(AT_ONCE);
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
    stream::iter(orders).map(pet).buffered(AT_ONCE).try_collect().await
}

/// The contact of an order, if the member may see it.
pub(super) fn contact<'o>(desk: &Desk<'_>, order: &'o Order) -> Option<&'o str> {
    order.contact.as_ref().filter(|_| desk.may_write()).map(Contact::as_str)
}

/// The same of the open order of an animal, among these.
pub(super) fn contact_for<'o>(
    desk: &Desk<'_>,
    orders: &'o [Order],
    pet: &StorePet,
) -> Option<&'o str> {
    contact(desk, orders.iter().find(|order| Some(order.id) == pet.order_id)?)
}

/// Orders with their animals.
pub(super) fn table(desk: &Desk<'_>, rows: &[Row]) -> Markup {
    let has_buttons =
        desk.may_write() && rows.iter().any(|(order, _)| order.status == OrderStatus::Reserved);
    let are_closed = rows.iter().all(|(order, _)| order.closed_at.is_some());
    let have_contacts = rows.iter().any(|(order, _)| contact(desk, order).is_some());
    let mut labels = vec![
        texts::ANIMAL,
        texts::STATUS,
        closed_or_ends(are_closed),
        texts::PRICE,
        texts::REFERENCE,
        texts::ORDER,
    ];
    if have_contacts {
        labels.insert(1, texts::CONTACT);
    }
    let headings = html! {
        (markup::headings(&labels))
        @if has_buttons { th scope="col" { span.hidden { (texts::ACTIONS) } } }
    };
    let rows = html! { @for row in rows { (table_row(desk, row, has_buttons, have_contacts)) } };
    markup::table(&headings, &rows)
}

fn closed_or_ends(is_closed: bool) -> &'static str {
    if is_closed { texts::CLOSED_AT } else { texts::ENDS }
}

fn table_row(
    desk: &Desk<'_>,
    (order, pet): &Row,
    has_buttons: bool,
    have_contacts: bool,
) -> Markup {
    let end = order.closed_at.or(order.expires_at);
    let name = pet.as_ref().map_or("", |pet| pet.name.as_str());
    html! {
        tr {
            td.first {
                @if let Some(pet) = pet { (photos::thumbnail(pet)) }
                a href={ "/animals/" (order.pet_id.get()) } { (markup::name(name, SHORT)) }
            }
            @if have_contacts {
                td data-label=(texts::CONTACT) {
                    @if let Some(contact) = contact(desk, order) { (markup::text(contact, SHORT)) }
                    @else { "–" }
                }
            }
            td { (markup::order_badge(order, desk.visit.now)) }
            td data-label=(closed_or_ends(order.closed_at.is_some())) {
                @if let Some(end) = end { (markup::time_and_distance(end, desk.visit.now)) } @else { "–" }
            }
            td data-label=(texts::PRICE) {
                @if let Some(price) = &order.price { (texts::amount(price.as_str(), desk.currency())) }
                @else { "–" }
            }
            td data-label=(texts::REFERENCE) {
                @if let Some(reference) = &order.reference {
                    (markup::text(reference.as_str(), SHORT))
                } @else { "–" }
            }
            td.number data-label=(texts::ORDER) {
                a href={ "/orders/" (order.id) } { (order.id) }
            }
            @if has_buttons {
                td.act {
                    @if order.status == OrderStatus::Reserved {
                        form method="post" action={ "/orders/" (order.id) "/complete" } {
                            (desk.key(&format!("complete-{}", order.id)))
                            (merge::shown(&seen(desk, order)))
                            button {
                                (texts::SELL) span.hidden { " " (markup::plain_name(name)) }
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
    let end = order.expires_at.map(|end| end.strftime("%F").to_string()).unwrap_or_default();
    let version = order.version.to_string();
    let mut members = vec![("version", &*version), ("status", order.status.as_str())];
    let (price, others): (Vec<_>, Vec<_>) = ORDER_INPUTS
        .iter()
        .map(|input| (input.name, input.of(desk, order).unwrap_or_default()))
        .partition(|(name, _)| *name == PRICE);
    members.extend(others);
    if is_reserved || order.status == OrderStatus::Completed {
        members.extend(price);
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
        name == "until" || ORDER_INPUTS.iter().any(|input| input.is_detail && input.name == name)
    };
    form.fields().iter().filter(|(name, _)| !is_unseen(name)).cloned().collect()
}
