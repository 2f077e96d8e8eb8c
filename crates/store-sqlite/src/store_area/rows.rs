//! Reads the rows of animals, orders, categories and notes.

use std::sync::LazyLock;

use petstore_domain::{
    PetId,
    store_area::{Category, NoteId, Order, OrderId, PetNote, StorePet, Withdrawal},
};
use petstore_store::{
    state::MAX_COMPARED_CATEGORIES,
    tables::{CONTACT, ORDER_WIDTH, Record, Table, read_order, read_pet, read_pet_with_order},
};
use rusqlite::OptionalExtension;

use crate::{connection::Connection, plans::select};

/// The results of [`query_by_id`] for each table, in the order of [`Table::ALL`].
static QUERIES_BY_ID: LazyLock<[String; Table::ALL.len()]> =
    LazyLock::new(|| Table::ALL.map(|table| format!("{} WHERE id = ?1", select(table))));
/// The query for an order, with its contact, and for its animal, if that is in the catalogue.
static ORDER_WITH_PET: LazyLock<String> = LazyLock::new(|| {
    let orders = Order::COLUMNS
        .iter()
        .map(|column| format!("orders.{column}"));
    let pets = StorePet::COLUMNS
        .iter()
        .map(|column| format!("pets.{column}"));
    // `read_pet` also reads the columns of a withdrawal. An animal in the catalogue has none.
    let no_withdrawal = Withdrawal::COLUMNS.iter().map(|_| "NULL".to_owned());
    let columns: Vec<_> = orders
        .chain([CONTACT.to_owned()])
        .chain(pets)
        .chain(no_withdrawal)
        .collect();
    format!(
        "SELECT {} FROM orders LEFT JOIN pets ON pets.id = pet_id
        WHERE orders.id = ?1",
        columns.join(", ")
    )
});
/// The query for the ?1 categories with the lowest identifiers.
static FIRST_CATEGORIES: LazyLock<String> =
    LazyLock::new(|| format!("{} ORDER BY id LIMIT ?1", select(Table::Categories)));
/// The query for the order that holds an animal: the order from which the status of the animal results.
static HOLDER: LazyLock<String> =
    LazyLock::new(|| format!("{} WHERE pet_id = ?1 AND holds = 1", select(Table::Orders)));

/// Returns the query for a row of a table by its identifier.
fn query_by_id(table: Table) -> &'static str {
    &QUERIES_BY_ID[table as usize]
}

/// Returns the animal with this identifier, including its open order. Also finds withdrawn animals.
pub(super) fn get_pet(connection: &Connection, id: PetId) -> rusqlite::Result<Option<StorePet>> {
    for table in [Table::Pets, Table::WithdrawnPets] {
        let mut statement = connection.prepare_cached(query_by_id(table))?;
        let pet = statement
            .query([id.get()])?
            .next()?
            .map(read_pet_with_order)
            .transpose()?;
        if pet.is_some() {
            return Ok(pet);
        }
    }
    Ok(None)
}

/// An order with its animal.
pub(super) struct OrderWithPet {
    pub(super) order: Order,
    /// The animal, without its `order_id`; `None` if it is withdrawn.
    pub(super) pet: Option<StorePet>,
}

/// Reads an order and its animal with one query. Returns `None` if there is no such order.
pub(super) fn get_order_with_pet(
    connection: &Connection,
    id: OrderId,
) -> rusqlite::Result<Option<OrderWithPet>> {
    let mut statement = connection.prepare_cached(&ORDER_WITH_PET)?;
    let mut rows = statement.query([id.get()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    // Not `None`: a row always has an order.
    let Some(order) = read_order(row, 0)? else {
        return Ok(None);
    };
    let pet = read_pet(row, ORDER_WIDTH)?;
    Ok(Some(OrderWithPet { order, pet }))
}

/// Returns the order that holds an animal.
pub(super) fn get_holder(connection: &Connection, pet: PetId) -> rusqlite::Result<Option<Order>> {
    let mut statement = connection.prepare_cached(&HOLDER)?;
    statement
        .query_row([pet.get()], |row| read_order(row, 0))
        .optional()
        .map(Option::flatten)
}

/// Returns the category with this identifier.
pub(super) fn get_category(connection: &Connection, id: i64) -> rusqlite::Result<Option<Category>> {
    let mut statement = connection.prepare_cached(query_by_id(Table::Categories))?;
    statement
        .query_row([id], |row| Category::read(row, 0))
        .optional()
}

/// Returns the note with this identifier.
pub(super) fn get_note(connection: &Connection, id: NoteId) -> rusqlite::Result<Option<PetNote>> {
    let mut statement = connection.prepare_cached(query_by_id(Table::Notes))?;
    statement
        .query_row([id.get()], |row| PetNote::read(row, 0))
        .optional()
}

/// Reads the first [`MAX_COMPARED_CATEGORIES`] categories. A new label is compared with their
/// labels.
pub(super) fn read_first_categories(connection: &Connection) -> rusqlite::Result<Vec<Category>> {
    let mut statement = connection.prepare_cached(&FIRST_CATEGORIES)?;
    statement
        .query_map([MAX_COMPARED_CATEGORIES], |row| Category::read(row, 0))?
        .collect()
}
