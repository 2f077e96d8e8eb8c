//! Implements the operations of the contract: lists, reads and adds animals. `page.rs` reads the pages.

use async_trait::async_trait;
use jiff::Timestamp;
use petstore_domain::{NewPet, PageRequest, Pet, PetId, WriteContext, store_area::StorePet};
use petstore_store::{
    CreationOutcome, CreationRenderer, PetVisitor, Pets, StoreError, Version,
    tables::{GET_PET, read_owned_pet},
};
use rusqlite::params;

use super::{
    connection::Connection, journal, newest::Newest, page, requests, rows::pet_id, slow_reads,
    store::SqliteStore, store_area::changes::expect_one_row, wal_index::FileVersion,
};

/// Adds an animal. With `OR FAIL`, SQLite does not copy every page before its first change: after an error, the writer
/// undoes the whole transaction.
const INSERT: &str = "INSERT OR FAIL INTO pets (name, category_id, status, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?4)";
const NEXT_ID: &str = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'pets'";

#[async_trait]
impl Pets for SqliteStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let page = self.readers.read(|connection| {
            page::read_page(connection, request, slow_reads::MAX_FAST_PAGE_BYTES)
        })?;
        if let Some(page) = page {
            return page.visit(visit).await;
        }
        // The names are too long for this thread, so read the page on another one.
        let request = *request;
        let (page, _turn) = self
            .large_pages
            .read_in_turn(move |connection| page::read_page_by_row(connection, &request))
            .await?;
        page.visit(visit).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.readers.read(|connection| read_pet(connection, id))
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        self.writer
            .write_without_savepoint(move |connection, newest| {
                insert_once(connection, newest, &pet, &context, respond)
            })
            .await
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        self.readers
            .version()
            .map(|FileVersion(header)| Some(Version::new(header)))
    }

    fn etag_key(&self) -> [u8; 32] {
        self.etag_key
    }
}

fn read_pet(connection: &Connection, id: PetId) -> rusqlite::Result<Option<Pet>> {
    let mut statement = connection.prepare_cached(GET_PET)?;
    statement
        .query([id.get()])?
        .next()?
        .map(read_owned_pet)
        .transpose()
}

/// Returns the identifier that SQLite will give to the next animal.
pub(super) fn next_id(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(NEXT_ID)?
        .query_row([], |row| row.get(0))
}

/// Adds an animal, without logging it. Returns its identifier, which SQLite assigns.
pub(super) fn insert(
    connection: &Connection,
    new: &NewPet,
    now: Timestamp,
) -> rusqlite::Result<i64> {
    connection.prepare_cached(INSERT)?.insert(params![
        new.name.as_str(),
        new.category_id,
        new.status.as_str(),
        now.as_millisecond()
    ])
}

/// Adds an animal, and logs it.
fn add(
    connection: &Connection,
    newest: &mut Newest,
    new: &NewPet,
    context: &WriteContext,
) -> rusqlite::Result<Pet> {
    let id = insert(connection, new, context.now)?;
    let pet = StorePet::new(pet_id(id)?, new.clone(), context.now);
    journal::append_added_pet(connection, newest, &pet, context.into())?;
    let StorePet {
        id,
        name,
        category_id,
        status,
        ..
    } = pet;
    Ok(Pet {
        id,
        name,
        category_id,
        status,
    })
}

/// Adds an animal, unless the request has an idempotency key under which an earlier one is remembered.
fn insert_once(
    connection: &Connection,
    newest: &mut Newest,
    new: &NewPet,
    context: &WriteContext,
    respond: CreationRenderer,
) -> rusqlite::Result<CreationOutcome> {
    let Some(request) = &context.idempotency else {
        return add(connection, newest, new, context).map(CreationOutcome::New);
    };
    let now = context.now;
    let mut known_request = requests::recall(connection, request)?;
    // The request may be remembered only in the table of the previous release. No other operation has
    // to look there, because the previous release remembers only creates.
    if known_request.is_none() && requests::convert(connection, request)? {
        known_request = requests::recall(connection, request)?;
    }
    if let Some(known_request) = known_request {
        return Ok(known_request.into());
    }

    let pet = add(connection, newest, new, context)?;
    let response = respond(&pet);
    expect_one_row(requests::remember(
        connection, newest, request, now, &response,
    )?)?;
    requests::remember_as_before(connection, request, pet.id, now)?;
    Ok(CreationOutcome::New(pet))
}
