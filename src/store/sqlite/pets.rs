//! Animals as rows. See `page.rs` for pages.

use async_trait::async_trait;
use rusqlite::{
    Connection, Row, params,
    types::{Type, ValueRef},
};

use super::{SqliteStore, log, page, requests, slow_reads};
use crate::{
    domain::{
        NewPet, PageRequest, Pet, PetId, PetName, PetStatus, WriteContext, store_area::StorePet,
    },
    store::{Created, Pets, Respond, StoreError, Version, Visit},
};

const GET: &str = "SELECT name, category_id, status FROM pets WHERE id = ?1";
const INSERT: &str = "INSERT INTO pets (name, category_id, status, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?4)";

#[async_trait]
impl Pets for SqliteStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: Visit<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let read =
            |connection: &Connection| page::read(connection, request, slow_reads::USUAL_PAGE);
        if let Some(page) = self.readers.read(read)? {
            return page.visit(visit).await;
        }
        let request = *request;
        let read = move |connection: &Connection| page::read_by_row(connection, &request);
        let (page, _turn) = self.large_pages.read_in_turn(read).await?;
        page.visit(visit).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.readers.read(|connection| get(connection, id))
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: Respond,
    ) -> Result<Created, StoreError> {
        let insert = move |connection: &Connection| {
            requests::insert_once(connection, pet, &context, respond)
        };
        self.writer.write_without_savepoint(insert).await
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        self.readers.version().map(Some)
    }

    fn etag_key(&self) -> [u8; 32] {
        self.etag_key
    }
}

fn get(connection: &Connection, id: PetId) -> rusqlite::Result<Option<Pet>> {
    let mut statement = connection.prepare_cached(GET)?;
    let mut rows = statement.query([id.get()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let new =
        NewPet { name: name(row, 0)?, category_id: row.get(1)?, status: status(row.get_ref(2)?)? };
    Ok(Some(new.with_id(id)))
}

/// Adds an animal, and logs it.
pub(super) fn insert(
    connection: &Connection,
    new: NewPet,
    context: &WriteContext,
) -> rusqlite::Result<Pet> {
    let now = context.now.as_millisecond();
    let id = connection.prepare_cached(INSERT)?.insert(params![
        new.name.as_str(),
        new.category_id,
        new.status.as_str(),
        now
    ])?;
    let pet = StorePet::added(identifier(id)?, new, context.now);
    log::append_added(connection, &pet, context.into())?;
    let StorePet { id, name, category_id, status, .. } = pet;
    Ok(Pet { id, name, category_id, status })
}

/// Adds an animal and rolls it back. The commit still writes the pages that were changed and
/// restored.
pub(super) fn try_to_insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT trial")?;
    connection.prepare_cached(INSERT)?.insert(params![
        "trial",
        0,
        PetStatus::Available.as_str(),
        0
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

/// The name in a column.
pub(super) fn name(row: &Row<'_>, column: usize) -> rusqlite::Result<PetName> {
    PetName::new(row.get(column)?)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, "name".to_owned(), Type::Text))
}

pub(super) fn status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let text = value.as_bytes()?;
    let status = PetStatus::ALL.into_iter().find(|status| status.as_str().as_bytes() == text);
    status.ok_or_else(|| rusqlite::Error::InvalidColumnType(3, "status".to_owned(), Type::Text))
}
