//! The fields of the store, and the owners of their unique values.

use std::collections::BTreeSet;

use petstore_domain::{
    PetId,
    store_area::{FieldSet, Resource, StorePet, UniqueKey},
};
use petstore_store::{
    admin::fields,
    state::{State, Versions},
};

use super::{super::sql, changes::expect_one};
use crate::connection::Connection;

const OWNERS: &str = "SELECT pet_id FROM unique_values WHERE field = ?1 AND key = ?2";
const PUT: &str = "INSERT INTO unique_values (field, key, pet_id) VALUES (?1, ?2, ?3)";
const REMOVE: &str = "DELETE FROM unique_values WHERE field = ?1 AND key = ?2 AND pet_id = ?3";
const USED: &str = "UPDATE fields SET examined = NULL WHERE name = ?1";

pub(in super::super) fn read(connection: &Connection) -> rusqlite::Result<FieldSet> {
    fields::read_field_set(&sql::rows(connection, fields::LIST, &[])?)
}

/// Returns the animals that have a unique value.
pub(super) fn owners(
    connection: &Connection,
    (field, key): &UniqueKey,
) -> rusqlite::Result<Vec<PetId>> {
    let mut owners = connection.prepare_cached(OWNERS)?;
    let found = owners.query_map([field, key], |row| row.get(0))?;
    found
        .filter_map(|id| id.map(PetId::new).transpose())
        .collect()
}

/// Writes the present owners of unique values, and which of the examined fields got values.
pub(super) fn write(
    connection: &Connection,
    state: &State,
    used: &BTreeSet<String>,
) -> rusqlite::Result<()> {
    let with = |wanted| {
        state
            .owners
            .iter()
            .filter(move |(_, Versions { read, now })| (read, now) == wanted)
    };
    for (((field, key), id), _) in with((&Some(()), &None)) {
        let mut remove = connection.prepare_cached(REMOVE)?;
        expect_one(remove.execute((field, key, id.get()))?)?;
    }
    for (((field, key), id), _) in with((&None, &Some(()))) {
        connection
            .prepare_cached(PUT)?
            .execute((field, key, id.get()))?;
    }
    for name in used {
        connection.prepare_cached(USED)?.execute([name])?;
    }
    Ok(())
}

/// Writes the unique values of an animal as it is added.
pub(in super::super) fn insert(
    connection: &Connection,
    fields: &FieldSet,
    resource: &Resource,
) -> rusqlite::Result<()> {
    let Resource::Pet(
        pet @ StorePet {
            withdrawn: None, ..
        },
    ) = resource
    else {
        return Ok(());
    };
    for (field, key) in fields.unique_keys(&pet.fields) {
        connection
            .prepare_cached(PUT)?
            .execute((field, key, pet.id.get()))?;
    }
    Ok(())
}
