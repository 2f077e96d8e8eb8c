//! Animals as rows. See `page.rs` for pages.

use rusqlite::{
    Connection, params,
    types::{Type, ValueRef},
};

use crate::domain::{NewPet, Pet, PetId, PetName, PetStatus, pet::UnknownStatus};

const GET: &str = "SELECT name, category_id, status FROM pets WHERE id = ?1";
const INSERT: &str = "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)";

pub(super) fn get(connection: &Connection, id: PetId) -> rusqlite::Result<Option<Pet>> {
    let mut statement = connection.prepare_cached(GET)?;
    let mut rows = statement.query([id.get()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let name = PetName::new(row.get(0)?)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(0, "name".to_owned(), Type::Text))?;
    let new = NewPet { name, category_id: row.get(1)?, status: status(row.get_ref(2)?)? };
    Ok(Some(new.with_id(id)))
}

pub(super) fn insert(connection: &Connection, new: NewPet) -> rusqlite::Result<Pet> {
    let id = connection.prepare_cached(INSERT)?.insert(params![
        new.name.as_str(),
        new.category_id,
        new.status.as_str()
    ])?;
    Ok(new.with_id(identifier(id)?))
}

/// Adds an animal and rolls it back. The commit still writes the pages that were changed and
/// restored.
pub(super) fn try_to_insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT trial")?;
    connection.prepare_cached(INSERT)?.insert(params![
        "trial",
        0,
        PetStatus::Available.as_str()
    ])?;
    connection.execute_batch("ROLLBACK TO trial; RELEASE trial")
}

/// The animals of a status, by its index. The status is a literal: with a bound value, SQLite could
/// not use the partial index.
pub(super) fn of_status(status: PetStatus) -> String {
    format!("FROM pets INDEXED BY pets_{status} WHERE status = '{status}'")
}

pub(super) fn identifier(id: i64) -> rusqlite::Result<PetId> {
    PetId::new(id).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, id))
}

pub(super) fn status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let text = value.as_bytes()?;
    PetStatus::ALL.into_iter().find(|status| status.as_str().as_bytes() == text).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(3, Type::Text, Box::new(UnknownStatus))
    })
}
