//! Writes the changes of a decision.

use std::sync::LazyLock;

use rusqlite::{Connection, params_from_iter};

use super::super::requests;
use crate::{
    domain::store_area::{Change, Decision, Resource},
    store::{
        columns::Value,
        tables::{Table, values},
    },
};

static INSERT: LazyLock<[String; 4]> = LazyLock::new(|| {
    Table::ALL.map(|table| {
        let columns = table.columns();
        let parameters = vec!["?"; columns.len()].join(", ");
        format!("INSERT INTO {table} ({}) VALUES ({parameters})", columns.join(", "))
    })
});
const RELEASE: &str = "UPDATE orders SET holds = 0 WHERE id = ?1 AND holds = 1";

/// Writes a decision about what this transaction has read, so each change is of exactly one row.
pub(super) fn write(connection: &Connection, decision: &Decision) -> rusqlite::Result<()> {
    for Change { before, after, .. } in &decision.changes {
        if let Some(Resource::Pet(pet)) = before
            && pet.version == 1
        {
            requests::keep_responses(connection, pet.id)?;
        }
        match (before, after) {
            (Some(before), Some(after)) if Table::of(before) == Table::of(after) => {
                update(connection, before, after)?;
            }
            (before, after) => {
                if let Some(before) = before {
                    delete(connection, before)?;
                }
                if let Some(after) = after {
                    insert(connection, after)?;
                }
            }
        }
    }
    if let Some(order) = decision.releases {
        expect_one(connection.prepare_cached(RELEASE)?.execute([order.get()])?)?;
    }
    Ok(())
}

/// Adds a resource as it is.
pub(in super::super) fn insert(
    connection: &Connection,
    resource: &Resource,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(&INSERT[Table::of(resource) as usize])?;
    expect_one(insert.execute(params_from_iter(values(resource)))?)
}

/// Writes only the columns that change, so that SQLite does not write to the indexes of the others.
/// `OR FAIL`, so that it does not copy each page to undo this statement: after an error, the writer
/// undoes all that was written.
fn update(connection: &Connection, before: &Resource, after: &Resource) -> rusqlite::Result<()> {
    let table = Table::of(after);
    let (old, new) = (values(before), values(after));
    let id = old[0];
    let changed = table.columns().into_iter().zip(old.into_iter().zip(new));
    let changed = changed.filter(|(_, (old, new))| old != new);
    let (columns, mut written): (Vec<_>, Vec<_>) = changed.map(|(of, (_, new))| (of, new)).unzip();
    let columns = columns.join(" = ?, ");
    let update = format!("UPDATE OR FAIL {table} SET {columns} = ? WHERE id = ? AND version = ?");
    written.extend([id, Value::Integer(before.version())]);
    expect_one(connection.prepare_cached(&update)?.execute(params_from_iter(written))?)
}

fn delete(connection: &Connection, before: &Resource) -> rusqlite::Result<()> {
    let delete = format!("DELETE FROM {} WHERE id = ?1 AND version = ?2", Table::of(before));
    let values = [values(before)[0], Value::Integer(before.version())];
    expect_one(connection.prepare_cached(&delete)?.execute(values)?)
}

/// Only one process writes at a time, so no other number is possible.
pub(in super::super) fn expect_one(written: usize) -> rusqlite::Result<()> {
    if written == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(written)) }
}
