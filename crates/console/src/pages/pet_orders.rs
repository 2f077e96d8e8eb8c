//! Looks up the orders of an animal.

use petstore_domain::{
    PetStatus,
    store_area::{Order, OrderQuery, StorePet},
};

use super::parts::constant_limit;
use crate::prelude::*;

/// How many of the newest orders of a sold animal are searched for the sale.
const MAX_ORDERS_OF_SOLD_PET: i64 = 20;

/// Loads the order that holds the animal now: its reservation, or the sale of a sold animal.
///
/// Returns `None` if the animal is available, or if the sale is not among its newest
/// [`MAX_ORDERS_OF_SOLD_PET`] orders.
pub(super) async fn load_holding_order(
    desk: &Desk<'_>,
    pet: &StorePet,
) -> Result<Option<Order>, StoreError> {
    if let Some(id) = pet.order_id {
        return desk.store().get_order(id).await;
    }
    if pet.status != PetStatus::Sold {
        return Ok(None);
    }
    let orders = load_newest_orders(desk, pet, MAX_ORDERS_OF_SOLD_PET).await?;
    Ok(orders.into_iter().find(|order| order.holds))
}

/// Loads the newest order of the animal, in whatever status.
pub(super) async fn load_newest_order(
    desk: &Desk<'_>,
    pet: &StorePet,
) -> Result<Option<Order>, StoreError> {
    let orders = load_newest_orders(desk, pet, 1).await?;
    Ok(orders.into_iter().next())
}

/// Loads at most `max_count` orders of the animal, the newest first.
async fn load_newest_orders(
    desk: &Desk<'_>,
    pet: &StorePet,
    max_count: i64,
) -> Result<Vec<Order>, StoreError> {
    let query = OrderQuery {
        pet_id: Some(pet.id),
        limit: constant_limit(max_count),
        newest_first: true,
        ..OrderQuery::default()
    };
    let (orders, _) = desk.store().list_orders(&query).await?;
    Ok(orders)
}
