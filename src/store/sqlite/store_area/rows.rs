//! Animals, orders and categories of the store area as rows.

use rusqlite::{Connection, OptionalExtension, Row};

use super::super::rows::{identifier, name, status};
use crate::{
    domain::{
        PetId,
        store_area::{Category, Label, Order, OrderId, StorePet, Text, Withdrawal},
    },
    store::columns::Columns,
};

/// The columns in the order that [`pet`] expects.
macro_rules! pet_columns {
    () => {
        "id, name, category_id, status, version, created_at, updated_at,
        (SELECT orders.id FROM orders INDEXED BY orders_one_holds
         WHERE pet_id = pets.id AND holds = 1 AND orders.status = 'reserved')"
    };
}
/// The columns in the order that [`withdrawn_pet`] expects.
macro_rules! withdrawn_pet_columns {
    () => {
        "id, name, category_id, status, version, created_at, updated_at, NULL,
        withdrawn_at, reason, note"
    };
}
/// The columns in the order that [`order`] expects.
macro_rules! order_columns {
    () => {
        "id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version"
    };
}
pub(super) use {order_columns, pet_columns, withdrawn_pet_columns};

const GET_PET: &str = concat!("SELECT ", pet_columns!(), " FROM pets WHERE id = ?1");
const GET_WITHDRAWN_PET: &str =
    concat!("SELECT ", withdrawn_pet_columns!(), " FROM withdrawn_pets WHERE id = ?1");
const GET_ORDER: &str = concat!("SELECT ", order_columns!(), " FROM orders WHERE id = ?1");
const GET_HOLDER: &str =
    concat!("SELECT ", order_columns!(), " FROM orders WHERE pet_id = ?1 AND holds = 1");
const GET_CATEGORY: &str = "SELECT id, label, version FROM categories WHERE id = ?1";

/// The animal with this identifier, withdrawn or not.
pub(super) fn get_pet(connection: &Connection, id: PetId) -> rusqlite::Result<Option<StorePet>> {
    let found = connection.prepare_cached(GET_PET)?.query_row([id.get()], pet).optional()?;
    if found.is_some() {
        return Ok(found);
    }
    let mut withdrawn = connection.prepare_cached(GET_WITHDRAWN_PET)?;
    withdrawn.query_row([id.get()], withdrawn_pet).optional()
}

pub(super) fn get_order(connection: &Connection, id: OrderId) -> rusqlite::Result<Option<Order>> {
    connection.prepare_cached(GET_ORDER)?.query_row([id.get()], order).optional()
}

/// The order that holds this animal.
pub(super) fn get_holder(connection: &Connection, pet: PetId) -> rusqlite::Result<Option<Order>> {
    connection.prepare_cached(GET_HOLDER)?.query_row([pet.get()], order).optional()
}

pub(super) fn get_category(connection: &Connection, id: i64) -> rusqlite::Result<Option<Category>> {
    connection.prepare_cached(GET_CATEGORY)?.query_row([id], category).optional()
}

pub(super) fn pet(row: &Row<'_>) -> rusqlite::Result<StorePet> {
    Ok(StorePet {
        id: identifier(row.get(0)?)?,
        name: name(row, 1)?,
        category_id: row.get(2)?,
        status: status(row.get_ref(3)?)?,
        version: row.get(4)?,
        created_at: row.optional_time(5)?,
        updated_at: row.optional_time(6)?,
        order_id: row.get::<_, Option<i64>>(7)?.map(order_id).transpose()?,
        withdrawn: None,
    })
}

pub(super) fn withdrawn_pet(row: &Row<'_>) -> rusqlite::Result<StorePet> {
    let withdrawal = Withdrawal {
        at: row.time(8)?,
        reason: row.parsed(9, |text| text.parse().ok())?,
        note: optional_text(row, 10)?,
    };
    Ok(StorePet { withdrawn: Some(withdrawal), ..pet(row)? })
}

pub(super) fn order(row: &Row<'_>) -> rusqlite::Result<Order> {
    Ok(Order {
        id: order_id(row.get(0)?)?,
        pet_id: identifier(row.get(1)?)?,
        status: row.parsed(2, |text| text.parse().ok())?,
        holds: row.get(3)?,
        reference: optional_text(row, 4)?,
        note: optional_text(row, 5)?,
        reason: optional_text(row, 6)?,
        expires_at: row.optional_time(7)?,
        created_at: row.time(8)?,
        closed_at: row.optional_time(9)?,
        version: row.get(10)?,
    })
}

pub(super) fn category(row: &Row<'_>) -> rusqlite::Result<Category> {
    let label = row.parsed(1, |text| Label::new(text.to_owned()))?;
    Ok(Category { id: row.get(0)?, label, version: row.get(2)? })
}

pub(super) fn order_id(id: i64) -> rusqlite::Result<OrderId> {
    OrderId::new(id).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, id))
}

fn optional_text<const MAX: usize>(
    row: &Row<'_>,
    at: usize,
) -> rusqlite::Result<Option<Text<MAX>>> {
    row.optional_parsed(at, |text| Text::new(text.to_owned()))
}
