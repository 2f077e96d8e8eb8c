//! Implements the operations of the contract: lists, reads and adds animals. `page.rs` reads the
//! pages.

use async_trait::async_trait;
use jiff::Timestamp;
use petstore_domain::{NewPet, PageRequest, Pet, PetId, WriteContext, store_area::StorePet};
use petstore_store::{
    CreationOutcome, CreationRenderer, PetVisitor, Pets, StoreError, Version,
    tables::{GET_PET, read_owned_pet},
};
use rusqlite::params;

use super::{
    connection::Connection,
    journal,
    newest::Newest,
    page, requests,
    rows::pet_id,
    slow_reads::{MAX_FAST_PAGE_BYTES, ReadInTurn},
    store::SqliteStore,
    store_area::changes::expect_one_row,
    wal_index::FileVersion,
};

/// The statement that adds an animal.
///
/// `OR FAIL` saves SQLite from copying every page before its first change. The copies are not needed,
/// because after an error the writer undoes the whole transaction.
const INSERT: &str = "INSERT OR FAIL INTO pets (name, category_id, status, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?4)";
/// The query for the identifier that SQLite will give to the next animal.
const NEXT_ID: &str = "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'pets'";

#[async_trait]
impl Pets for SqliteStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visitor: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let page = self
            .readers
            .read(|connection| page::read_page(connection, request, MAX_FAST_PAGE_BYTES))?;
        if let Some(page) = page {
            return page.visit(visitor).await;
        }
        // The names are too long for this thread, so read the page on another one. The turn lasts until
        // the page is visited, so that only one large page is in memory at a time.
        let request = *request;
        let ReadInTurn { value: page, turn } = self
            .large_pages
            .read_in_turn(move |connection| page::read_page_by_row(connection, &request))
            .await?;
        let result = page.visit(visitor).await;
        drop(turn);
        result
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

/// Reads the animal with this identifier in the catalogue.
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

/// Adds the row of an animal, without logging it. Returns its identifier, which SQLite assigns.
pub(super) fn insert_row(
    connection: &Connection,
    new_pet: &NewPet,
    now: Timestamp,
) -> rusqlite::Result<i64> {
    connection.prepare_cached(INSERT)?.insert(params![
        new_pet.name.as_str(),
        new_pet.category_id,
        new_pet.status.as_str(),
        now.as_millisecond()
    ])
}

/// Adds an animal, and appends the change to the log. Returns the animal.
fn insert_and_log(
    connection: &Connection,
    newest: &mut Newest,
    new_pet: &NewPet,
    context: &WriteContext,
) -> rusqlite::Result<Pet> {
    let id = insert_row(connection, new_pet, context.now)?;
    let pet = StorePet::new(pet_id(id)?, new_pet.clone(), context.now);
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

/// Adds an animal, unless an earlier request is remembered under the idempotency key of this request.
/// Returns the new animal, or what is remembered: the first response, or a conflict if the two requests
/// differ.
fn insert_once(
    connection: &Connection,
    newest: &mut Newest,
    new_pet: &NewPet,
    context: &WriteContext,
    respond: CreationRenderer,
) -> rusqlite::Result<CreationOutcome> {
    let Some(request) = &context.idempotency else {
        return insert_and_log(connection, newest, new_pet, context).map(CreationOutcome::New);
    };
    let now = context.now;
    let mut known_request = requests::recall(connection, request)?;
    // The request may be remembered only in the table of the previous release. No other operation has
    // to look there, because the previous release remembers no other requests.
    if known_request.is_none() && requests::copy_from_previous_release(connection, request)? {
        known_request = requests::recall(connection, request)?;
    }
    if let Some(known_request) = known_request {
        return Ok(known_request.into());
    }

    let pet = insert_and_log(connection, newest, new_pet, context)?;
    let response = respond(&pet);
    let row_count = requests::remember(connection, newest, request, now, &response)?;
    // This transaction has just found that no request is remembered under the key.
    expect_one_row(row_count)?;
    requests::remember_for_previous_release(connection, request, pet.id, now)?;
    Ok(CreationOutcome::New(pet))
}
