//! Reads the rows of animals, orders, categories and notes.

use std::sync::LazyLock;

use petstore_domain::{
    PetId,
    store_area::{Category, NoteId, Order, OrderId, PetNote, StorePet},
};
use petstore_store::{
    state::MAX_COMPARED_CATEGORIES,
    tables::{CONTACT, ORDER_WIDTH, Record, Table, read_order, read_pet, read_pet_with_order},
};
use rusqlite::OptionalExtension;

use crate::{connection::Connection, plans::SELECT};

static GET: LazyLock<[String; 5]> = LazyLock::new(|| {
    SELECT
        .each_ref()
        .map(|select| format!("{select} WHERE id = ?1"))
});
/// The statement that selects an order with its contact and its animal. The three nulls at the end are
/// the columns of a withdrawal, which an animal in the catalogue does not have.
static GET_ORDER_WITH_PET: LazyLock<String> = LazyLock::new(|| {
    let orders = Order::COLUMNS
        .iter()
        .map(|column| format!("orders.{column}"));
    let pets = StorePet::COLUMNS
        .iter()
        .map(|column| format!("pets.{column}"));
    let columns: Vec<_> = orders.chain([CONTACT.to_owned()]).chain(pets).collect();
    format!(
        "SELECT {}, NULL, NULL, NULL FROM orders LEFT JOIN pets ON pets.id = pet_id
        WHERE orders.id = ?1",
        columns.join(", ")
    )
});
static FIRST_CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} ORDER BY id LIMIT ?1",
        SELECT[Table::Categories as usize]
    )
});
static GET_HOLDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} WHERE pet_id = ?1 AND holds = 1",
        SELECT[Table::Orders as usize]
    )
});

/// Returns the animal with this identifier, withdrawn or not, with its open order.
pub(super) fn get_pet(connection: &Connection, id: PetId) -> rusqlite::Result<Option<StorePet>> {
    for table in [Table::Pets, Table::WithdrawnPets] {
        let mut get = connection.prepare_cached(&GET[table as usize])?;
        let pet = get
            .query_row([id.get()], |row| read_pet_with_order(row))
            .optional()?;
        if pet.is_some() {
            return Ok(pet);
        }
    }
    Ok(None)
}

/// Returns an order with its animal, which one statement reads together. The animal is `None` if it is
/// withdrawn. Its member `order_id` is not read.
pub(super) fn get_order_with_pet(
    connection: &Connection,
    id: OrderId,
) -> rusqlite::Result<Option<(Order, Option<StorePet>)>> {
    let mut get = connection.prepare_cached(&GET_ORDER_WITH_PET)?;
    let mut rows = get.query([id.get()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let Some(order) = read_order(row, 0)? else {
        return Ok(None);
    };
    Ok(Some((order, read_pet(row, ORDER_WIDTH)?)))
}

/// Returns the order that holds an animal.
pub(super) fn get_holder(connection: &Connection, pet: PetId) -> rusqlite::Result<Option<Order>> {
    let mut get = connection.prepare_cached(&GET_HOLDER)?;
    get.query_row([pet.get()], |row| read_order(row, 0))
        .optional()
        .map(Option::flatten)
}

/// Returns the category with this number.
pub(super) fn get_category(connection: &Connection, id: i64) -> rusqlite::Result<Option<Category>> {
    let mut get = connection.prepare_cached(&GET[Table::Categories as usize])?;
    get.query_row([id], |row| Category::read(row, 0)).optional()
}

/// Returns the note with this identifier.
pub(super) fn get_note(connection: &Connection, id: NoteId) -> rusqlite::Result<Option<PetNote>> {
    let mut get = connection.prepare_cached(&GET[Table::Notes as usize])?;
    get.query_row([id.get()], |row| PetNote::read(row, 0))
        .optional()
}

/// Returns the first [`MAX_COMPARED_CATEGORIES`] categories. A new label is compared with their labels.
pub(super) fn first_categories(connection: &Connection) -> rusqlite::Result<Vec<Category>> {
    let mut list = connection.prepare_cached(&FIRST_CATEGORIES)?;
    list.query_map([MAX_COMPARED_CATEGORIES], |row| Category::read(row, 0))?
        .collect()
}
