//! Finding orders by what people know of them: the customer, the animal, or a number.

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit, PetId,
    store_area::{
        NamePrefix, Order, OrderId, OrderQuery, OrderStatus, PetQuery, Reference, letters,
    },
};

use super::{
    animals::find_exact_matches,
    category_names::{MAX_CONCURRENT_READS, largest_page_limit},
    order_rows::{contact, with_ids},
};
use crate::prelude::*;

/// How many orders, the newest first, are searched for a part of a reference or a contact: of the
/// reservations, and of all.
pub(super) const SEARCHED: usize = 2_000;

/// How many orders are shown.
const MOST: usize = 100;

/// How many of the last digits of a telephone number tell it from others.
const LAST_DIGITS: usize = 9;

/// Of how many animals with a name, and how many orders of each.
const ANIMALS: i64 = 25;
const OF_ANIMAL: i64 = 20;

/// The orders in this status that somebody can mean who typed this: those with the number, then the
/// reservations, then the newest. And whether nothing was left out.
pub(super) async fn find(
    desk: &Desk<'_>,
    typed: &str,
    status: Option<OrderStatus>,
) -> Result<(Vec<Order>, bool), ApiError> {
    let numbered = forms::number(typed).and_then(OrderId::new);
    let mut found = with_ids(desk, numbered.into_iter()).await?;
    let query = OrderQuery {
        status,
        newest_first: true,
        ..OrderQuery::default()
    };
    if let Some(reference) = Reference::new(typed.to_owned()) {
        let reference = Some(reference);
        let query = OrderQuery {
            reference,
            limit: largest_page_limit(),
            ..query.clone()
        };
        found.extend(desk.store().list_orders(&query).await?.0);
    }
    let (animals, named, mut is_whole) = animals(desk, typed, status).await?;
    found.extend(named);
    let of_animal = async |pet_id: PetId| {
        let limit = Limit::new(OF_ANIMAL).unwrap_or_default();
        let query = OrderQuery {
            pet_id: Some(pet_id),
            limit,
            ..query.clone()
        };
        desk.store().list_orders(&query).await
    };
    let of_animals = stream::iter(animals)
        .map(of_animal)
        .buffered(MAX_CONCURRENT_READS);
    let of_animals: Vec<_> = of_animals.try_collect().await?;
    found.extend(of_animals.into_iter().flat_map(|(orders, _)| orders));
    let wholes = if status.is_none() {
        vec![Some(OrderStatus::Reserved), None]
    } else {
        vec![status]
    };
    for status in wholes {
        let (orders, all) = with_part(
            desk,
            typed,
            OrderQuery {
                status,
                ..query.clone()
            },
        )
        .await?;
        found.extend(orders);
        is_whole &= all;
    }
    found.retain(|order| status.is_none_or(|status| order.status == status));
    let is_numbered = |order: &Order| Some(order.id) == numbered;
    let is_open = |order: &Order| order.status == OrderStatus::Reserved;
    found.sort_by_key(|order| {
        (
            !is_numbered(order),
            !is_open(order),
            std::cmp::Reverse(order.id),
        )
    });
    found.dedup_by_key(|order| order.id);
    is_whole &= found.len() <= MOST;
    found.truncate(MOST);
    Ok((found, is_whole))
}

/// The animals that somebody can mean, by number, name or a unique value; the newest orders of animals with the name,
/// because many more animals can have it; and whether these are all.
async fn animals(
    desk: &Desk<'_>,
    typed: &str,
    status: Option<OrderStatus>,
) -> Result<(Vec<PetId>, Vec<Order>, bool), ApiError> {
    let fields = desk.store().fields().await?;
    let mut found = find_exact_matches(desk, &fields, typed).await?;
    let (mut orders, mut is_whole) = (Vec::new(), true);
    if let Some(name) = NamePrefix::new(typed).filter(|_| !typed.contains('\0')) {
        let newest = desk.store().names_of_orders(status, SEARCHED).await?;
        let of_name = newest
            .iter()
            .filter(|(_, of)| !name.is_empty() && name.finds(of.as_str()));
        let ids: Vec<OrderId> = of_name.map(|(id, _)| *id).take(MOST + 1).collect();
        orders = with_ids(desk, ids.into_iter()).await?;
        let (name, limit) = (Some(name), Limit::new(ANIMALS).unwrap_or_default());
        let query = PetQuery {
            name,
            limit,
            newest_first: true,
            ..PetQuery::default()
        };
        let (named, next) = desk.store().list_store_pets(&query).await?;
        found.extend(named);
        is_whole = next.is_none() || newest.len() < SEARCHED;
    }
    Ok((
        found.into_iter().map(|pet| pet.id).collect(),
        orders,
        is_whole,
    ))
}

/// The orders with this part of a reference or a contact, the newest first, and whether all were searched.
async fn with_part(
    desk: &Desk<'_>,
    part: &str,
    query: OrderQuery,
) -> Result<(Vec<Order>, bool), StoreError> {
    let all = letters(part);
    // A number is found without its country code, and words are found in any order.
    let wanted: Vec<String> = if all.bytes().all(|of| of.is_ascii_digit()) {
        vec![all[all.len().saturating_sub(LAST_DIGITS)..].to_owned()]
    } else {
        part.split_whitespace().map(letters).collect()
    };
    let is_for = |contact: &str| {
        let contact = letters(contact);
        !all.is_empty() && wanted.iter().all(|one| contact.contains(one))
    };
    let part = part.to_lowercase();
    let has_part = |order: &Order| {
        let reference = order.reference.as_ref();
        reference.is_some_and(|reference| reference.as_str().to_lowercase().contains(&part))
            || contact(desk, order).is_some_and(is_for)
    };
    let mut query = OrderQuery {
        limit: largest_page_limit(),
        ..query
    };
    let (mut found, mut searched) = (Vec::new(), 0);
    while searched < SEARCHED && found.len() < MOST {
        let (orders, next) = desk.store().list_orders(&query).await?;
        searched += orders.len();
        found.extend(orders.into_iter().filter(has_part));
        query.after = next;
        if next.is_none() {
            return Ok((found, true));
        }
    }
    Ok((found, false))
}
