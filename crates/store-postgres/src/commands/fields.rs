//! Reads the field definitions for commands that set field values, and reads and writes the owners of
//! unique values. The owner of a value is the animal that has it.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use petstore_domain::store_area::{Command, UniqueKey, UniqueValueOwner};
use petstore_store::{
    admin::fields::{LIST as LIST_FIELDS, read_field_set},
    columns::Value,
    drivers::postgres::Failure,
    state::{State, Versions},
};
use tokio_postgres::{Client, Statement};

use super::state::{GroupState, READ_SUBJECTS, pet_parameters};
use crate::{
    connection::Connection,
    rows::pet_id,
    writes::{Write, parameters, transpose},
};

/// The query for the owners of the given unique values.
const FIND_OWNERS: &str = "SELECT field, key, pet_id
    FROM unnest($1::text[], $2::text[]) AS searched (field, key) JOIN unique_values USING (field, key)";

/// The statement that locks the field definitions until the commit. It divides by zero unless they still
/// have the version that was read.
const LOCK_FIELDS: &str = "SELECT 1 / (count(*) = cardinality($1))::integer FROM (
        SELECT FROM field_state WHERE version = ANY ($1::bigint[]) FOR SHARE) AS found";
/// The statement that removes owners. It divides by zero unless it finds all of them.
const REMOVE_OWNERS: &str = "WITH gone AS (
        DELETE FROM unique_values USING unnest($1::text[], $2::text[], $3::bigint[])
            AS old (field, key, pet_id)
        WHERE unique_values.field = old.field AND unique_values.key = old.key
            AND unique_values.pet_id = old.pet_id RETURNING 1)
    SELECT 1 / (count(*) = cardinality($1))::integer FROM gone";
/// The statement that adds owners. If another transaction is adding an owner of the same value, this
/// statement waits until that transaction ends, and fails if that transaction commits.
const ADD_OWNERS: &str = "INSERT INTO unique_values (field, key, pet_id)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])";
/// The statement that ends the running examinations of fields, because the fields got new values.
const MARK_UNEXAMINED: &str = "UPDATE fields SET examined = NULL WHERE name = ANY ($1::text[])";

/// Reads the field definitions, and the owners of the unique values in these commands, into the state.
pub(super) async fn read_fields_and_owners(
    connection: &mut Connection,
    group_state: &mut GroupState,
    commands: &[&Command],
) -> Result<(), Failure> {
    let fields_statement = connection.prepare_once(LIST_FIELDS).await?;
    let owners_statement = connection.prepare_once(FIND_OWNERS).await?;
    let subjects_statement = connection.prepare_once(&READ_SUBJECTS).await?;
    let client: &Client = connection;
    let state = &mut group_state.state;
    let field_rows = client.query(&fields_statement, &[]).await?;
    state.fields = Arc::new(read_field_set(&field_rows)?);

    let keys: BTreeSet<UniqueKey> = commands
        .iter()
        .flat_map(|command| state.keys_to_read(command))
        .collect();
    if keys.is_empty() {
        return Ok(());
    }
    let owners = query_owners(client, &owners_statement, &keys).await?;
    if owners.is_empty() {
        return Ok(());
    }

    // The decision depends on the animals that own the values, so read their rows, too.
    let parameter_columns = transpose(owners.iter().map(|owner| pet_parameters(owner.pet)));
    let rows = client
        .query(&subjects_statement, &parameters(&parameter_columns))
        .await?;
    for row in &rows {
        group_state.add_pet_and_holder(row)?;
    }
    for UniqueValueOwner { key, pet } in owners {
        group_state.state.add_owner(key, pet);
    }
    Ok(())
}

/// Returns the owners of the given unique values. A value that no animal owns is missing from the
/// result. `statement` is the prepared [`FIND_OWNERS`].
async fn query_owners(
    client: &Client,
    statement: &Statement,
    keys: &BTreeSet<UniqueKey>,
) -> Result<Vec<UniqueValueOwner>, Failure> {
    let field_names: Vec<&str> = keys.iter().map(|key| key.field.as_str()).collect();
    let texts: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
    let rows = client.query(statement, &[&field_names, &texts]).await?;
    let mut owners = Vec::with_capacity(rows.len());
    for row in &rows {
        let key = UniqueKey {
            field: row.try_get(0)?,
            text: row.try_get(1)?,
        };
        owners.push(UniqueValueOwner {
            key,
            pet: pet_id(row.try_get(2)?)?,
        });
    }
    Ok(owners)
}

/// The changes of owners and fields that a group has to write.
pub(super) struct FieldWrites {
    /// The version of the field definitions on which the decisions are based; 0 if no command needed
    /// them.
    version: i64,
    /// The owners before the commands and after them.
    owners: BTreeMap<UniqueValueOwner, Versions<()>>,
    /// The names of the fields that got new values while an examination of their existing values is in
    /// progress.
    examined_fields: BTreeSet<String>,
}

impl FieldWrites {
    /// Takes the changes out of the state that `commands` have left.
    pub(super) fn take_from<'c>(
        state: &mut State,
        commands: impl Iterator<Item = &'c Command>,
    ) -> Self {
        let examined_fields = state.examined_fields(commands);
        Self {
            version: state.fields.version,
            owners: mem::take(&mut state.owners),
            examined_fields,
        }
    }

    /// Builds the statements for these changes. They must be the first ones of their transaction:
    /// all transactions lock the fields before they lock animals, so that they cannot deadlock.
    pub(super) fn build_writes(&self) -> Vec<Write<'_>> {
        if self.version == 0 {
            return Vec::new();
        }
        let mut removed_owners = Vec::new();
        let mut added_owners = Vec::new();
        for (owner, versions) in &self.owners {
            match (versions.read, versions.now) {
                (Some(()), None) => removed_owners.push(owner_row(owner)),
                (None, Some(())) => added_owners.push(owner_row(owner)),
                (None, None) | (Some(()), Some(())) => {}
            }
        }
        let version = vec![Value::Integer(self.version)];
        let examined_fields = self
            .examined_fields
            .iter()
            .map(|name| vec![Value::Text(name)]);
        [
            Write::from_rows(LOCK_FIELDS, [version]),
            Write::from_rows(MARK_UNEXAMINED, examined_fields),
            Write::from_rows(REMOVE_OWNERS, removed_owners),
            Write::from_rows(ADD_OWNERS, added_owners),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Returns the row of an owner: the name of the field, the key of the value, and the animal.
fn owner_row(owner: &UniqueValueOwner) -> Vec<Value<'_>> {
    vec![
        Value::Text(&owner.key.field),
        Value::Text(&owner.key.text),
        Value::Integer(owner.pet.get()),
    ]
}
