//! Finds the animals and orders that requests identify by id. All functions fail with 404 if there is no such
//! animal or order.

use petstore_domain::{
    PetId, Problem,
    store_area::{Order, OrderId, StorePet},
};
use petstore_web::edge::ApiError;

use super::shared::StoreArea;
use crate::query;

/// Parses a path parameter as the id of an animal. Fails with 404 if no animal can have it.
pub(super) fn pet_id_in_path(parameter: &str) -> Result<PetId, ApiError> {
    let id = query::path_integer(parameter).ok_or_else(no_pet)?;
    pet_id(id)
}

/// Converts a number from a request body into the id of an animal. Fails with 404 if no animal can have it.
pub(super) fn pet_id(id: i64) -> Result<PetId, ApiError> {
    PetId::new(id).ok_or_else(no_pet)
}

/// Reads an animal, withdrawn or not. Fails with 404 if it does not exist.
pub(super) async fn find_pet(area: &StoreArea, id: PetId) -> Result<StorePet, ApiError> {
    let pet = area.app.store.get_store_pet(id).await?;
    pet.ok_or_else(no_pet)
}

/// Returns the 404 for an animal.
fn no_pet() -> ApiError {
    ApiError::new(Problem::NotFound, "No animal has this id.")
}

/// Parses a path parameter as the id of an order. Fails with 404 if no order can have it.
pub(super) fn order_id_in_path(parameter: &str) -> Result<OrderId, ApiError> {
    let id = query::path_integer(parameter).ok_or_else(no_order)?;
    order_id(id)
}

/// Converts a number from a request body into the id of an order. Fails with 404 if no order can have it.
pub(super) fn order_id(id: i64) -> Result<OrderId, ApiError> {
    OrderId::new(id).ok_or_else(no_order)
}

/// Reads an order. Fails with 404 if it does not exist.
pub(super) async fn find_order(area: &StoreArea, id: OrderId) -> Result<Order, ApiError> {
    let order = area.app.store.get_order(id).await?;
    order.ok_or_else(no_order)
}

/// Returns the 404 for an order.
fn no_order() -> ApiError {
    ApiError::new(Problem::NotFound, "No order has this id.")
}
