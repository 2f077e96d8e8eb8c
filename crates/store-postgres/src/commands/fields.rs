//! The fields of the store, for commands that give values, and the owners of unique values.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use petstore_domain::store_area::{Command, Owner, UniqueKey};
use petstore_store::{
    admin::fields::{LIST, read_field_set},
    columns::Value,
    drivers::postgres::Failure,
    state::{State, Versions},
};
use tokio_postgres::Client;

use super::state::{READ, Read, parameters_of_pet};
use crate::{
    pool::Connection,
    rows::pet_id,
    writes::{Write, columns, parameters},
};

const OWNERS: &str = "SELECT field, key, pet_id
    FROM unnest($1::text[], $2::text[]) AS wanted (field, key) JOIN unique_values USING (field, key)";

/// The fields are still those that were read, until the commit.
const SAME: &str = "SELECT 1 / (count(*) = cardinality($1))::integer FROM (
        SELECT FROM field_state WHERE version = ANY ($1::bigint[]) FOR SHARE) AS found";
const REMOVE: &str = "WITH gone AS (
        DELETE FROM unique_values USING unnest($1::text[], $2::text[], $3::bigint[])
            AS old (field, key, pet_id)
        WHERE unique_values.field = old.field AND unique_values.key = old.key
            AND unique_values.pet_id = old.pet_id RETURNING 1)
    SELECT 1 / (count(*) = cardinality($1))::integer FROM gone";
/// Waits for another transaction that adds the same value, and then fails.
const PUT: &str = "INSERT INTO unique_values (field, key, pet_id)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])";
const USED: &str = "UPDATE fields SET examined = NULL WHERE name = ANY ($1::text[])";

/// Reads the fields, and the animals that have the unique values of which the commands are about.
pub(super) async fn read(
    connection: &mut Connection,
    read: &mut Read,
    commands: &[&Command],
) -> Result<(), Failure> {
    let list = connection.prepared(LIST).await?;
    let owners = connection.prepared(OWNERS).await?;
    let pets = connection.prepared(&READ).await?;
    let client: &Client = connection;
    let state = &mut read.state;
    state.fields = Arc::new(read_field_set(&client.query(&list, &[]).await?)?);
    let keys: BTreeSet<UniqueKey> = commands
        .iter()
        .flat_map(|command| state.keys_to_read(command))
        .collect();
    if keys.is_empty() {
        return Ok(());
    }
    let (names, values): (Vec<&str>, Vec<&str>) = keys
        .iter()
        .map(|(field, key)| (field.as_str(), key.as_str()))
        .unzip();
    let rows = client.query(&owners, &[&names, &values]).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        found.push(((row.try_get(0)?, row.try_get(1)?), pet_id(row.try_get(2)?)?));
    }
    if !found.is_empty() {
        let ids = columns(found.iter().map(|(_, id)| parameters_of_pet(*id)));
        for row in &client.query(&pets, &parameters(&ids)).await? {
            read.add_pet(row)?;
        }
    }
    for (key, owner) in found {
        read.state.add_owner(key, owner);
    }
    Ok(())
}

/// Changes of fields to write.
pub(super) struct FieldWrites {
    /// That of the fields with which was decided; 0 if none were needed.
    version: i64,
    owners: BTreeMap<Owner, Versions<()>>,
    /// The fields that got values while they are examined.
    used: BTreeSet<String>,
}

impl FieldWrites {
    pub(super) fn of<'c>(state: &mut State, commands: impl Iterator<Item = &'c Command>) -> Self {
        let used = state.examined(commands);
        Self {
            version: state.fields.version,
            owners: mem::take(&mut state.owners),
            used,
        }
    }

    /// Returns the statements. They come first, so that all transactions lock the fields before the
    /// animals.
    pub(super) fn writes(&self) -> Vec<Write<'_>> {
        let with = |wanted| {
            let with = self
                .owners
                .iter()
                .filter(move |(_, Versions { read, now })| (read, now) == wanted);
            with.map(|(((field, key), id), _)| {
                vec![
                    Value::Text(field),
                    Value::Text(key),
                    Value::Integer(id.get()),
                ]
            })
        };
        if self.version == 0 {
            return Vec::new();
        }
        let version = [vec![Value::Integer(self.version)]];
        [
            Write::of_rows(SAME, version),
            Write::of_rows(USED, self.used.iter().map(|name| vec![Value::Text(name)])),
            Write::of_rows(REMOVE, with((&Some(()), &None))),
            Write::of_rows(PUT, with((&None, &Some(())))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
