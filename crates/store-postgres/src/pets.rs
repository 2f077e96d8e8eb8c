//! Implements the operations of the contract: lists, reads and adds animals.
//!
//! An animal with an idempotency key is added on its own (`requests.rs`). All other animals are added in
//! groups (`creates.rs`).

use std::{pin::pin, sync::atomic::Ordering::Acquire};

use async_trait::async_trait;
use futures_util::{FutureExt, TryStreamExt};
use petstore_domain::{Limit, NewPet, PageRequest, Pet, PetId, WriteContext};
use petstore_store::{
    CreationOutcome, CreationRenderer, PetVisitor, Pets, StoreError, Version,
    drivers::postgres::Failure,
    page::{BYTES_PER_TURN, Page},
    tables::{GET_PET, read_contract_pet, read_owned_pet},
};
use tokio::task;
use tokio_postgres::types::ToSql;

use super::{
    PostgresStore, connection::Connection, creates::NewAnimal, pool::Access,
    requests::IdempotentCreate,
};

/// The statement for a page of animals, with one more row if another page follows.
///
/// The constant inner limit covers every page, so that the planner can reuse one plan. If the limit were a
/// parameter, the planner would assume that it is a tenth of the table, and would plan every page again.
/// The outer limit is the size of the page; PostgreSQL reads no more rows than that.
const LIST: &str = "SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE id > $1 ORDER BY id LIMIT 101
    ) AS page ORDER BY id LIMIT $2";
/// The statement for a page of animals with one status.
///
/// It sorts by NULLS FIRST, like the index on the status and unlike the primary key. This prevents plans
/// that scan the primary key and filter out the other statuses.
const LIST_BY_STATUS: &str = "SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE status = $3 AND id > $1 ORDER BY id NULLS FIRST LIMIT 101
    ) AS page ORDER BY id NULLS FIRST LIMIT $2";
// The inner limits above are one more than the largest page.
const _: () = assert!(Limit::MAX == 100);

#[async_trait]
impl Pets for PostgresStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visitor: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let page = self
            .runner
            .run(Access::Read, *request, |connection, request| {
                read_page(connection, request).boxed()
            })
            .await?;
        page.visit(visitor).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.runner
            .run(Access::Read, (), |connection, ()| {
                read_pet(connection, id).boxed()
            })
            .await
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        if context.idempotency.is_some() {
            let create = IdempotentCreate {
                pet,
                context,
                respond,
            };
            return self
                .runner
                .run(Access::Write, create, |connection, create| {
                    create.insert(connection).boxed()
                })
                .await;
        }
        let pet = self.creates.submit(NewAnimal::new(pet, context)).await?;
        Ok(CreationOutcome::New(pet))
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Ok(None)
    }

    fn ended_writes(&self) -> u64 {
        self.runner.ended_writes.load(Acquire)
    }

    fn etag_key(&self) -> [u8; 32] {
        self.etag_key
    }
}

/// Reads a page. Names can be long, so this yields to other tasks after each [`BYTES_PER_TURN`] bytes of
/// names.
async fn read_page(connection: &mut Connection, request: &PageRequest) -> Result<Page, Failure> {
    let after = request.after.map_or(0, PetId::get);
    let limit = usize::from(request.limit.get());
    // One animal more than requested tells whether another page follows.
    let row_limit = i64::from(request.limit.get()) + 1;
    let rows = match request.status {
        None => {
            let parameters: [&(dyn ToSql + Sync); 2] = [&after, &row_limit];
            let statement = connection.prepare_once(LIST).await?;
            connection.query_raw(&statement, parameters).await?
        }
        Some(status) => {
            let parameters: [&(dyn ToSql + Sync); 3] = [&after, &row_limit, &status.as_str()];
            let statement = connection.prepare_once(LIST_BY_STATUS).await?;
            connection.query_raw(&statement, parameters).await?
        }
    };
    let mut rows = pin!(rows);
    let mut page = Page::default();
    let mut yield_at = BYTES_PER_TURN;
    while let Some(row) = rows.try_next().await? {
        if page.pets.len() == limit {
            page.more_follow = true;
            break;
        }
        page.push(read_contract_pet(&row)?);
        if page.names.len() >= yield_at {
            yield_at = page.names.len() + BYTES_PER_TURN;
            task::yield_now().await;
        }
    }
    Ok(page)
}

/// Reads the animal with this identifier in the catalogue.
async fn read_pet(connection: &mut Connection, id: PetId) -> Result<Option<Pet>, Failure> {
    let statement = connection.prepare_once(GET_PET).await?;
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    row.as_ref().map(read_owned_pet).transpose()
}
