//! Animals, orders and categories of the store area as rows.

use tokio_postgres::Row;

use crate::{
    domain::{
        PetName,
        store_area::{Category, Label, Order, OrderId, StorePet, Text, Withdrawal},
    },
    store::{
        columns::Columns,
        postgres::{errors::Failure, rows::pet_id},
    },
};

/// The columns of an animal in `pets` that [`pet`] expects. The order of the animal comes after
/// them.
macro_rules! pet_columns {
    () => {
        "id, name, category_id, status, version, created_at, updated_at, \
         NULL::bigint AS withdrawn_at, NULL::text AS reason, NULL::text AS note"
    };
}
/// The same columns of an animal in `withdrawn_pets`.
macro_rules! withdrawn_columns {
    () => {
        "id, name, category_id, status, version, created_at, updated_at, withdrawn_at, reason, note"
    };
}
/// The columns that [`order`] expects, of the table with this alias.
macro_rules! order_columns {
    ($order:literal) => {
        concat!(
            $order,
            ".id, ",
            $order,
            ".pet_id, ",
            $order,
            ".status, ",
            $order,
            ".holds, ",
            $order,
            ".reference, ",
            $order,
            ".note, ",
            $order,
            ".reason, ",
            $order,
            ".expires_at, ",
            $order,
            ".created_at, ",
            $order,
            ".closed_at, ",
            $order,
            ".version"
        )
    };
}
pub(super) use {order_columns, pet_columns, withdrawn_columns};

/// How many columns [`pet`] reads, without that of the order.
pub(super) const PET_WIDTH: usize = 10;
/// How many columns [`order`] reads.
pub(super) const ORDER_WIDTH: usize = 11;

/// The animal in the columns from `at` on, without its order; `None` if they are null.
pub(super) fn pet(row: &Row, at: usize) -> Result<Option<StorePet>, Failure> {
    let Some(id) = row.try_get(at)? else { return Ok(None) };
    let withdrawn = row.optional_time(at + 7)?.map(|withdrawn_at| {
        Ok::<_, Failure>(Withdrawal {
            at: withdrawn_at,
            reason: row.parsed(at + 8, |text| text.parse().ok())?,
            note: optional_text(row, at + 9)?,
        })
    });
    Ok(Some(StorePet {
        id: pet_id(id)?,
        name: row.parsed(at + 1, |text| PetName::new(text.to_owned()))?,
        category_id: row.try_get(at + 2)?,
        status: row.parsed(at + 3, |text| text.parse().ok())?,
        version: row.try_get(at + 4)?,
        created_at: row.optional_time(at + 5)?,
        updated_at: row.optional_time(at + 6)?,
        order_id: None,
        withdrawn: withdrawn.transpose()?,
    }))
}

/// The order in the columns from `at` on; `None` if they are null.
pub(super) fn order(row: &Row, at: usize) -> Result<Option<Order>, Failure> {
    let Some(id) = row.try_get(at)? else { return Ok(None) };
    Ok(Some(Order {
        id: order_id(id)?,
        pet_id: pet_id(row.try_get(at + 1)?)?,
        status: row.parsed(at + 2, |text| text.parse().ok())?,
        holds: row.try_get(at + 3)?,
        reference: optional_text(row, at + 4)?,
        note: optional_text(row, at + 5)?,
        reason: optional_text(row, at + 6)?,
        expires_at: row.optional_time(at + 7)?,
        created_at: row.time(at + 8)?,
        closed_at: row.optional_time(at + 9)?,
        version: row.try_get(at + 10)?,
    }))
}

/// The category in the columns from `at` on; `None` if they are null.
pub(super) fn category(row: &Row, at: usize) -> Result<Option<Category>, Failure> {
    let Some(id) = row.try_get(at)? else { return Ok(None) };
    let label = row.parsed(at + 1, |text| Label::new(text.to_owned()))?;
    Ok(Some(Category { id, label, version: row.try_get(at + 2)? }))
}

pub(super) fn order_id(id: i64) -> Result<OrderId, Failure> {
    OrderId::new(id).ok_or(Failure::Row("id"))
}

fn optional_text<const MAX: usize>(row: &Row, at: usize) -> Result<Option<Text<MAX>>, Failure> {
    row.optional_parsed(at, |text| Text::new(text.to_owned()))
}
