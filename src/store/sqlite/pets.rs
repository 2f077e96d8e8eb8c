//! Animals as rows. See `page.rs` for pages.

use async_trait::async_trait;
use rusqlite::{
    Connection, params,
    types::{Type, ValueRef},
};

use super::{
    SqliteStore, large_pages,
    page::{self, Listed},
    requests,
};
use crate::{
    domain::{
        NewPet, PageRequest, Pet, PetId, PetName, PetStatus, WriteContext, pet::UnknownStatus,
    },
    store::{Created, Pets, Respond, StoreError, Version, WritePet},
};

const GET: &str = "SELECT name, category_id, status FROM pets WHERE id = ?1";
const INSERT: &str = "INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)";

#[async_trait]
impl Pets for SqliteStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        write: WritePet,
        page: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError> {
        let begins = page.len();
        let longest = begins + large_pages::USUAL;
        let list = |connection: &Connection| page::list(connection, request, write, page, longest);
        match self.readers.read(list)? {
            Listed::Whole(last_of_page) => Ok(last_of_page),
            Listed::TooLong => {
                page.truncate(begins);
                self.large_pages.list(request, write, page).await
            }
        }
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
        let WriteContext { now, idempotency, .. } = context;
        let Some(request) = idempotency else {
            let insert = |connection: &Connection| insert(connection, pet).map(Created::New);
            return self.writer.write_by_one_statement(insert).await;
        };
        let insert = move |connection: &Connection| {
            requests::insert_once(connection, pet, &request, now, respond)
        };
        self.writer.write(insert).await
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Ok(Some(self.wal_index.version()))
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
