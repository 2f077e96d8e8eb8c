//! Animals as rows.

use rusqlite::{Connection, Row, params, types::Type};

use crate::domain::{
    NewPet, PageRequest, Pet, PetId, PetName, PetRef, PetStatus, pet::UnknownStatus,
};
use crate::store::ShowPet;

const LIST: &str = "SELECT id, name, category_id, status FROM pets
    WHERE id > ?1 ORDER BY id LIMIT ?2";
const LIST_BY_STATUS: &str = "SELECT id, name, category_id FROM pets
    WHERE status = ?3 AND id > ?1 ORDER BY id LIMIT ?2";
const GET: &str = "SELECT id, name, category_id, status FROM pets WHERE id = ?1";
const INSERT: &str = "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)";

/// Shows a page, and returns whether more follow.
pub(super) fn list(
    connection: &Connection,
    request: &PageRequest,
    show: &mut ShowPet<'_>,
) -> rusqlite::Result<bool> {
    let after = request.after.map_or(0, PetId::get);
    // One more than wanted, which tells whether a page follows.
    let fetched = request.limit.get() + 1;
    let mut statement;
    let mut rows = match request.status {
        None => {
            statement = connection.prepare_cached(LIST)?;
            statement.query(params![after, fetched])?
        }
        Some(status) => {
            statement = connection.prepare_cached(LIST_BY_STATUS)?;
            statement.query(params![after, fetched, status.as_str()])?
        }
    };
    for _ in 0..request.limit.get() {
        match rows.next()? {
            Some(row) => show(pet(row, request.status)?),
            None => return Ok(false),
        }
    }
    Ok(rows.next()?.is_some())
}

pub(super) fn get(connection: &Connection, id: PetId) -> rusqlite::Result<Option<Pet>> {
    let mut statement = connection.prepare_cached(GET)?;
    let mut rows = statement.query([id.get()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let found = pet(row, None)?;
    let name = PetName::new(found.name.to_owned())
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(1, "name".to_owned(), Type::Text))?;
    let (category_id, status) = (found.category_id, found.status);
    Ok(Some(NewPet { name, category_id, status }.with_id(found.id)))
}

pub(super) fn insert(connection: &Connection, new: NewPet) -> rusqlite::Result<Pet> {
    let id = connection.prepare_cached(INSERT)?.insert(params![
        new.name.as_str(),
        new.category_id,
        new.status.as_str()
    ])?;
    let id = PetId::new(id).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, id))?;
    Ok(new.with_id(id))
}

/// The animal of a row. Its status is that of the row, unless all have `status`.
fn pet<'r>(row: &'r Row<'_>, status: Option<PetStatus>) -> rusqlite::Result<PetRef<'r>> {
    let id: i64 = row.get(0)?;
    Ok(PetRef {
        id: PetId::new(id).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, id))?,
        name: row.get_ref(1)?.as_str()?,
        category_id: row.get(2)?,
        status: status.map_or_else(|| read_status(row), Ok)?,
    })
}

fn read_status(row: &Row<'_>) -> rusqlite::Result<PetStatus> {
    row.get_ref(3)?.as_str()?.parse().map_err(|unknown: UnknownStatus| {
        rusqlite::Error::FromSqlConversionFailure(3, Type::Text, Box::new(unknown))
    })
}
