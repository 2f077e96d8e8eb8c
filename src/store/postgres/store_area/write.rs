//! The statements for what commands changed.

use std::sync::LazyLock;

use super::{
    super::{
        tables::{COLUMNS, with_values},
        writes::{Value, Write, values},
    },
    state::Read,
};
use crate::{
    domain::store_area::Resource,
    store::{
        columns,
        state::Versions,
        tables::{self, Table},
    },
};

/// The statements for the rows of each table. Their parameters are the values of [`with_values`],
/// then the version that was read; and of an order, whether it held its animal, because that can
/// change without a new version.
struct Statements {
    insert: String,
    update: String,
    /// Moves an animal here from the other table of animals.
    take: String,
    delete: String,
    /// For a row that a batch read and does not write, so that it is still the same at the commit.
    same: String,
}

static STATEMENTS: LazyLock<[Statements; 4]> = LazyLock::new(|| Table::ALL.map(Statements::of));

impl Statements {
    fn of(table: Table) -> Self {
        let columns = COLUMNS[table as usize].as_str();
        let names: Vec<_> = columns.split(", ").collect();
        let values: Vec<_> = (1..=names.len()).map(|number| format!("${number}")).collect();
        let set =
            names.iter().zip(&values).skip(1).map(|(name, value)| format!("{name} = {value}"));
        let (set, version) = (set.collect::<Vec<_>>().join(", "), names.len() + 1);
        let values = values.join(", ");
        let (held, other) = match table {
            Table::Orders => (format!(" AND holds = ${}", version + 1), table),
            Table::Pets => (String::new(), Table::WithdrawnPets),
            Table::WithdrawnPets => (String::new(), Table::Pets),
            Table::Categories => (String::new(), table),
        };
        let as_read = "id = $1 AND version = $2";
        let one = "SELECT 1 / count(*) FROM written";
        Self {
            insert: format!("INSERT INTO {table} ({columns}) VALUES ({values})"),
            update: format!(
                "WITH written AS (UPDATE {table} SET {set}
                WHERE id = $1 AND version = ${version}{held} RETURNING 1) {one}"
            ),
            take: format!(
                "WITH gone AS (
                    DELETE FROM {other} WHERE id = $1 AND version = ${version} RETURNING token
                ), written AS (
                    INSERT INTO {table} ({columns}, token) SELECT {values}, token FROM gone
                    RETURNING 1) {one}"
            ),
            delete: format!(
                "WITH written AS (DELETE FROM {table} WHERE {as_read} RETURNING 1) {one}"
            ),
            same: format!("WITH written AS (SELECT FROM {table} WHERE {as_read} FOR SHARE) {one}"),
        }
    }
}
/// The response to the request that added an animal in the previous release is made from the
/// animal, so it is kept before the first change.
const KEEP_RESPONSE: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests
    WHERE (caller, key) IN (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = $1)
    ON CONFLICT (caller, key) DO NOTHING";

/// The differences between what was read and what the commands left. In ascending order of
/// identifier, animals first, so that two transactions cannot wait for each other.
///
/// A command of a batch that changes nothing depends on rows that the batch does not write. They
/// must not change before the others are written, or the batch would take effect at two moments.
pub(super) fn changes(Read { state, added_by_requests, .. }: Read, is_batch: bool) -> Vec<Write> {
    let mut writes = Vec::new();
    let must_stay = is_batch && state.is_changed();
    for (id, pet) in state.pets {
        let is_first_change = pet.read.as_ref().is_some_and(|pet| pet.version == 1);
        if is_first_change && pet.read != pet.now && added_by_requests.contains(&id) {
            writes.push(Write { sql: KEEP_RESPONSE, values: values![id.get()] });
        }
        writes.extend(write(pet, must_stay));
    }
    // A new order has a higher identifier than the one that it replaces, which lets go first.
    writes.extend(state.orders.into_values().filter_map(|order| write(order, must_stay)));
    writes.extend(state.categories.into_values().filter_map(|of| write(of, must_stay)));
    writes
}

/// The statement that writes a row if it changes; if it must stay, the one that keeps it.
fn write<T: Into<Resource>>(Versions { read, now }: Versions<T>, must_stay: bool) -> Option<Write> {
    let statements = |of: &Resource| &STATEMENTS[Table::of(of) as usize];
    let (sql, read, now): (_, Resource, Resource) =
        match (read.map(Into::into), now.map(Into::into)) {
            (None, None) => return None,
            (None, Some(now)) => {
                let values = with_values(&now, |_, values| owned(values));
                return Some(Write { sql: &statements(&now).insert, values });
            }
            (Some(read), None) => return Some(of_version(&read, &statements(&read).delete)),
            (Some(read), Some(now)) if read == now => {
                return must_stay.then(|| of_version(&read, &statements(&read).same));
            }
            (Some(read), Some(now)) if Table::of(&read) == Table::of(&now) => {
                (&statements(&now).update, read, now)
            }
            (Some(read), Some(now)) => (&statements(&now).take, read, now),
        };
    let mut values = with_values(&now, |_, values| owned(values));
    values.push(Box::new(read.version()));
    if let Resource::Order(order) = read {
        values.push(Box::new(order.holds));
    }
    Some(Write { sql, values })
}

/// A statement about the row that was read.
fn of_version(read: &Resource, sql: &'static str) -> Write {
    let values = owned(&[tables::values(read)[0], columns::Value::Integer(read.version())]);
    Write { sql, values }
}

fn owned(values: &[columns::Value<'_>]) -> Vec<Value> {
    let owned = |&value: &columns::Value<'_>| -> Value {
        match value {
            columns::Value::Null => Box::new(columns::Value::Null),
            columns::Value::Integer(value) => Box::new(value),
            columns::Value::Boolean(value) => Box::new(value),
            columns::Value::Text(value) => Box::new(value.to_owned()),
            columns::Value::Blob(value) => Box::new(value.to_owned()),
        }
    };
    values.iter().map(owned).collect()
}
