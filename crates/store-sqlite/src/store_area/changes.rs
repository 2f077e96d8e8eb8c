//! Writes the changes of a decided command to the rows.

use std::sync::LazyLock;

use petstore_domain::store_area::{Change, Decision, Order, Resource};
use petstore_store::{
    columns::Value,
    tables::{Table, column_values, photos_of},
};
use rusqlite::params_from_iter;

use super::super::requests;
use crate::connection::Connection;

/// The statements that insert a row, in the order of [`Table::ALL`].
static INSERT: LazyLock<[String; Table::ALL.len()]> = LazyLock::new(|| {
    Table::ALL.map(|table| {
        let columns = table.columns();
        let parameters = vec!["?"; columns.len()].join(", ");
        format!(
            "INSERT INTO {table} ({}) VALUES ({parameters})",
            columns.join(", ")
        )
    })
});
const SET_CONTACT: &str = "INSERT INTO order_contacts (order_id, contact) VALUES (?1, ?2)
    ON CONFLICT (order_id) DO UPDATE SET contact = excluded.contact";
const ERASE_CONTACT: &str = "DELETE FROM order_contacts WHERE order_id = ?1";
const ADD_PHOTO: &str = "INSERT INTO photos (id, pet_id) VALUES (?1, ?2)";
const DROP_PHOTO: &str = "DELETE FROM photos WHERE id = ?1 AND pet_id = ?2";
/// The statement that records which animal has lost a photo.
const NOTE_LOST_PHOTO: &str = "INSERT INTO lost_photos (id, pet_id) VALUES (?1, ?2)
    ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id";
/// The statement after which an order no longer holds its animal.
const RELEASE_PET: &str = "UPDATE orders SET holds = 0 WHERE id = ?1 AND holds = 1";

/// Writes the changes of a decision.
///
/// The same transaction must have read the rows on which the decision is based. Each statement then
/// finds exactly the row that it changes.
pub(super) fn write_decision(connection: &Connection, decision: &Decision) -> rusqlite::Result<()> {
    for Change { before, after, .. } in &decision.changes {
        // This is the first change of the animal if it still has its first version.
        if let Some(Resource::Pet(pet)) = before
            && pet.version == 1
        {
            requests::store_former_responses(connection, pet.id)?;
        }
        write_photos(connection, before.as_ref(), after.as_ref())?;
        if let Some(Resource::Note(_)) = before {
            with_secure_delete(connection, || {
                write_rows(connection, before.as_ref(), after.as_ref())
            })?;
        } else {
            write_rows(connection, before.as_ref(), after.as_ref())?;
        }
    }
    if let Some(order) = decision.releases {
        let mut release_pet = connection.prepare_cached(RELEASE_PET)?;
        expect_one_row(release_pet.execute([order.get()])?)?;
    }
    Ok(())
}

/// Calls `write`, while SQLite overwrites deleted and replaced content with zeros. Private texts need
/// this: the notes on animals, and the contacts of orders.
fn with_secure_delete<T>(
    connection: &Connection,
    write: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.pragma_update(None, "secure_delete", true)?;
    let result = write();
    connection.pragma_update(None, "secure_delete", false)?;
    result
}

/// Writes the rows of a change. A resource that moves to another table, such as a withdrawn animal, is
/// deleted from the old table and inserted into the new one.
fn write_rows(
    connection: &Connection,
    before: Option<&Resource>,
    after: Option<&Resource>,
) -> rusqlite::Result<()> {
    if let (Some(before), Some(after)) = (before, after)
        && Table::from_resource(before) == Table::from_resource(after)
    {
        return update_resource(connection, before, after);
    }
    if let Some(before) = before {
        delete_resource(connection, before)?;
    }
    if let Some(after) = after {
        insert_resource(connection, after)?;
    }
    Ok(())
}

/// Inserts a resource as it is, without its photos.
pub(in super::super) fn insert_resource(
    connection: &Connection,
    resource: &Resource,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(&INSERT[Table::from_resource(resource) as usize])?;
    expect_one_row(insert.execute(params_from_iter(column_values(resource)))?)?;
    write_contact(connection, None, resource)
}

/// Removes the photos that an animal has lost, and adds its new ones. For each lost photo, records which
/// animal had it.
pub(in super::super) fn write_photos(
    connection: &Connection,
    before: Option<&Resource>,
    after: Option<&Resource>,
) -> rusqlite::Result<()> {
    let former_photos = photos_of(before);
    let new_photos = photos_of(after);
    // Without a resource, there are no photos either, so the identifier 0 is never written.
    let former_pet = before.map_or(0, Resource::id);
    let pet = after.map_or(0, Resource::id);
    for photo in former_photos.missing_in(new_photos) {
        let mut drop_photo = connection.prepare_cached(DROP_PHOTO)?;
        expect_one_row(drop_photo.execute((photo.to_string(), former_pet))?)?;
        let mut note_lost_photo = connection.prepare_cached(NOTE_LOST_PHOTO)?;
        note_lost_photo.execute((photo.to_string(), former_pet))?;
    }
    for photo in new_photos.missing_in(former_photos) {
        let mut add_photo = connection.prepare_cached(ADD_PHOTO)?;
        expect_one_row(add_photo.execute((photo.to_string(), pet))?)?;
    }
    Ok(())
}

/// Writes the contact of an order if it has changed. Does nothing for any other resource.
fn write_contact(
    connection: &Connection,
    before: Option<&Resource>,
    after: &Resource,
) -> rusqlite::Result<()> {
    let Resource::Order(order) = after else {
        return Ok(());
    };
    let former_contact = before
        .and_then(Resource::order)
        .and_then(|order| order.contact.as_ref());
    if former_contact == order.contact.as_ref() {
        return Ok(());
    }
    let row_count = if former_contact.is_some() {
        with_secure_delete(connection, || set_or_erase_contact(connection, order))?
    } else {
        set_or_erase_contact(connection, order)?
    };
    expect_one_row(row_count)
}

/// Sets the contact of an order, or deletes it if the order has none. Returns the number of
/// affected rows.
fn set_or_erase_contact(connection: &Connection, order: &Order) -> rusqlite::Result<usize> {
    let id = order.id.get();
    match &order.contact {
        Some(contact) => connection
            .prepare_cached(SET_CONTACT)?
            .execute((id, contact.as_str())),
        None => connection.execute(ERASE_CONTACT, [id]),
    }
}

/// Updates the columns of a resource that change. SQLite then does not write to the indexes on the other
/// columns. Fails if the row does not have the version that was read.
///
/// `OR FAIL` saves SQLite from copying each page so that it can undo only this statement. The copies are
/// not needed, because after an error the writer rolls back the whole transaction.
fn update_resource(
    connection: &Connection,
    before: &Resource,
    after: &Resource,
) -> rusqlite::Result<()> {
    let table = Table::from_resource(after);
    let former_values = column_values(before);
    let new_values = column_values(after);
    let mut changed_columns = Vec::new();
    let mut parameters = Vec::new();
    for (index, column) in table.columns().into_iter().enumerate() {
        if new_values[index] != former_values[index] {
            changed_columns.push(column);
            parameters.push(new_values[index]);
        }
    }
    // The first column is the primary key.
    parameters.push(former_values[0]);
    parameters.push(Value::Integer(before.version()));

    let columns = changed_columns.join(" = ?, ");
    let statement =
        format!("UPDATE OR FAIL {table} SET {columns} = ? WHERE id = ? AND version = ?");
    let mut update = connection.prepare_cached(&statement)?;
    expect_one_row(update.execute(params_from_iter(parameters))?)?;
    write_contact(connection, Some(before), after)
}

/// Deletes the row of a resource. Fails if the row does not have the version that was read.
fn delete_resource(connection: &Connection, before: &Resource) -> rusqlite::Result<()> {
    let delete = format!(
        "DELETE FROM {} WHERE id = ?1 AND version = ?2",
        Table::from_resource(before)
    );
    // The first column is the primary key.
    let parameters = [column_values(before)[0], Value::Integer(before.version())];
    expect_one_row(connection.prepare_cached(&delete)?.execute(parameters)?)
}

/// Checks that a statement has written exactly one row. Any other number is a fault of the service or of
/// the database, because nobody else can write during this transaction.
pub(in super::super) fn expect_one_row(row_count: usize) -> rusqlite::Result<()> {
    if row_count == 1 {
        Ok(())
    } else {
        Err(rusqlite::Error::StatementChangedRows(row_count))
    }
}
