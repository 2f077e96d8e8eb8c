//! Orders with their animals, and those with a part of a reference.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::{
    console::desk::Desk,
    domain::{
        Limit,
        store_area::{Order, OrderId, OrderQuery, OrderStatus, StorePet},
    },
    store::StoreError,
};

/// How many reservations, the newest first, are searched for a part of a reference.
const SEARCHED: usize = 2_000;

/// How many of them are shown.
const MOST: usize = 100;

/// How many reads of a page are in progress at once.
const AT_ONCE: usize = 8;

/// An order with its animal.
pub(super) type Row = (Order, Option<StorePet>);

/// The orders with these identifiers, and their animals.
pub(super) async fn with_animals(
    desk: &Desk<'_>,
    ids: impl Iterator<Item = OrderId>,
) -> Result<Vec<Row>, StoreError> {
    let ids: Vec<OrderId> = ids.collect();
    let orders = stream::iter(ids).map(|id| desk.store().get_order(id)).buffered(AT_ONCE);
    let orders: Vec<Option<Order>> = orders.try_collect().await?;
    animals_of(desk, orders.into_iter().flatten().collect()).await
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

/// The open orders with this part of a reference, the newest first, and whether all were searched.
pub(super) async fn open_with(
    desk: &Desk<'_>,
    part: &str,
) -> Result<(Vec<Order>, bool), StoreError> {
    let part = part.to_lowercase();
    let has_part = |order: &Order| {
        let reference = order.reference.as_ref();
        reference.is_some_and(|reference| reference.as_str().to_lowercase().contains(&part))
    };
    let mut query = OrderQuery {
        status: Some(OrderStatus::Reserved),
        limit: Limit::new(Limit::MAX.into()).unwrap_or_default(),
        newest_first: true,
        ..OrderQuery::default()
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
