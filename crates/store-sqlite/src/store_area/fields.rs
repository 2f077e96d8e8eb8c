//! Reads the store's field definitions, and reads and writes which animals own unique values.

use std::collections::BTreeSet;

use petstore_domain::{
    PetId,
    store_area::{FieldSet, Resource, UniqueKey, UniqueValueOwner},
};
use petstore_store::{admin::fields, state::State};

use super::{super::sql, changes::expect_one_row};
use crate::connection::Connection;

/// The query for the animals that own a unique value.
const FIND_OWNERS: &str = "SELECT pet_id FROM unique_values WHERE field = ?1 AND key = ?2";
/// The statement that makes an animal the owner of a unique value.
const ADD_OWNER: &str = "INSERT INTO unique_values (field, key, pet_id) VALUES (?1, ?2, ?3)";
const REMOVE_OWNER: &str =
    "DELETE FROM unique_values WHERE field = ?1 AND key = ?2 AND pet_id = ?3";
/// The statement that ends the running examination of a field, because the field got new values.
const MARK_UNEXAMINED: &str = "UPDATE fields SET examined = NULL WHERE name = ?1";

/// Reads the field definitions of the store.
pub(in super::super) fn read_definitions(connection: &Connection) -> rusqlite::Result<FieldSet> {
    fields::read_field_set(&sql::read_rows(connection, fields::LIST, &[])?)
}

/// Returns the animals that own a unique value.
pub(super) fn find_owners(
    connection: &Connection,
    key: &UniqueKey,
) -> rusqlite::Result<Vec<PetId>> {
    let mut statement = connection.prepare_cached(FIND_OWNERS)?;
    let mut rows = statement.query([&key.field, &key.text])?;
    let mut owners = Vec::new();
    while let Some(row) = rows.next()? {
        // Skip an invalid identifier, because no animal can have it.
        if let Some(owner) = PetId::new(row.get(0)?) {
            owners.push(owner);
        }
    }
    Ok(owners)
}

/// Writes the changed owners of unique values. Removes former owners first, because a value has only one
/// owner.
///
/// Then marks `examined_fields` as unexamined, because they got new values while an examination
/// tested whether they are in use.
pub(super) fn write_owners(
    connection: &Connection,
    state: &State,
    examined_fields: &BTreeSet<String>,
) -> rusqlite::Result<()> {
    // `read` says whether the animal owned the value before the commands, and `now` whether it does
    // after them.
    for (UniqueValueOwner { key, pet }, versions) in &state.owners {
        if versions.read.is_some() && versions.now.is_none() {
            let mut remove_owner = connection.prepare_cached(REMOVE_OWNER)?;
            expect_one_row(remove_owner.execute((&key.field, &key.text, pet.get()))?)?;
        }
    }
    for (UniqueValueOwner { key, pet }, versions) in &state.owners {
        if versions.read.is_none() && versions.now.is_some() {
            connection
                .prepare_cached(ADD_OWNER)?
                .execute((&key.field, &key.text, pet.get()))?;
        }
    }
    for name in examined_fields {
        connection
            .prepare_cached(MARK_UNEXAMINED)?
            .execute([name])?;
    }
    Ok(())
}

/// Adds a new animal as the owner of its unique values. A withdrawn animal owns none.
pub(in super::super) fn insert_owners(
    connection: &Connection,
    fields: &FieldSet,
    resource: &Resource,
) -> rusqlite::Result<()> {
    let Resource::Pet(pet) = resource else {
        return Ok(());
    };
    if pet.withdrawal.is_some() {
        return Ok(());
    }
    for key in fields.unique_keys(&pet.fields) {
        connection
            .prepare_cached(ADD_OWNER)?
            .execute((key.field, key.text, pet.id.get()))?;
    }
    Ok(())
}
