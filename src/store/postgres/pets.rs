//! Animals as rows.

use std::pin::pin;

use async_trait::async_trait;
use futures_util::{FutureExt, TryStreamExt};
use tokio::task;
use tokio_postgres::types::ToSql;

use super::{
    PostgresStore,
    errors::Failure,
    name_keys::stored_name_key,
    pool::{Access, Connection},
    requests,
    rows::{owned, pet, pet_id},
    tokens::Tokens,
};
use crate::{
    domain::{Limit, NewPet, PageRequest, Pet, PetId, WriteContext, store_area::StorePet},
    store::{
        Created, Pets, Respond, StoreError, Version, Visit,
        log::{Entry, Origin},
        page::{Page, TURN},
    },
};

/// The constant inner limit covers every page and lets the planner reuse one plan. For a parameter,
/// the planner would assume a tenth of the table, and plan every page again. The outer limit is
/// that of the page; PostgreSQL reads no more rows than it needs.
const LIST: &str = "SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE id > $1 ORDER BY id LIMIT 101
    ) AS page ORDER BY id LIMIT $2";
/// NULLS FIRST is the order of the index on the status, and not of the primary key. So no plan
/// walks along the primary key and filters the other statuses out.
const LIST_BY_STATUS: &str = "SELECT * FROM (
        SELECT id, name, category_id, status FROM pets
        WHERE status = $3 AND id > $1 ORDER BY id NULLS FIRST LIMIT 101
    ) AS page ORDER BY id NULLS FIRST LIMIT $2";
const _: () = assert!(Limit::MAX == 100);
const GET: &str = "SELECT id, name, category_id, status FROM pets WHERE id = $1";
/// Also logs the animal, whose id is drawn here: $11 is its representation after `{"id":1`.
const INSERT: &str = "WITH added AS (
        INSERT INTO pets (name, name_key, category_id, status, token, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id
    ), logged AS (
        INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id,
            actor_name, request_id, after)
        SELECT $6, 'pet.added', id, 1, id, $7, $8, $9, $10, '{\"id\":' || id || $11::text FROM added
    )
    SELECT id FROM added";
/// The animal may be withdrawn already.
const FIND_BY_TOKEN: &str = "SELECT id FROM pets WHERE token = $1
    UNION ALL SELECT id FROM withdrawn_pets WHERE token = $1";

/// The unique constraint on tokens.
const TOKEN: &str = "pets_token";

#[async_trait]
impl Pets for PostgresStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: Visit<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let page = self.run(Access::Read, *request, |on, request| list(on, request).boxed());
        page.await?.visit(visit).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.run(Access::Read, (), |on, ()| get(on, id).boxed()).await
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: Respond,
    ) -> Result<Created, StoreError> {
        if context.idempotency.is_some() {
            let once = requests::Once { new: pet, context, respond };
            return self.run(Access::Write, once, |on, once| once.insert(on).boxed()).await;
        }
        let create = Create::new(pet, context, &self.tokens);
        let added = self.run(Access::Write, create, |on, create| create.insert(on).boxed());
        added.await.map(Created::New)
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Ok(None)
    }

    fn etag_key(&self) -> [u8; 32] {
        self.etag_key
    }
}

async fn list(connection: &mut Connection, request: &PageRequest) -> Result<Page, Failure> {
    let after = request.after.map_or(0, PetId::get);
    let limit = usize::from(request.limit.get());
    // One more than requested shows whether a page follows.
    let fetched = i64::from(request.limit.get()) + 1;
    let rows = match request.status {
        None => {
            let parameters: [&(dyn ToSql + Sync); 2] = [&after, &fetched];
            let statement = connection.prepared(LIST).await?;
            connection.query_raw(&statement, parameters).await?
        }
        Some(status) => {
            let parameters: [&(dyn ToSql + Sync); 3] = [&after, &fetched, &status.as_str()];
            let statement = connection.prepared(LIST_BY_STATUS).await?;
            connection.query_raw(&statement, parameters).await?
        }
    };
    let mut rows = pin!(rows);
    let (mut page, mut turn_at) = (Page::default(), TURN);
    while let Some(row) = rows.try_next().await? {
        if page.pets.len() == limit {
            page.more_follow = true;
            break;
        }
        page.push(pet(&row)?);
        if page.names.len() >= turn_at {
            turn_at = page.names.len() + TURN;
            task::yield_now().await;
        }
    }
    Ok(page)
}

async fn get(connection: &mut Connection, id: PetId) -> Result<Option<Pet>, Failure> {
    let statement = connection.prepared(GET).await?;
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    row.as_ref().map(owned).transpose()
}

/// An animal that is being added. It is added once, however many attempts this takes.
struct Create<'a> {
    new: NewPet,
    context: WriteContext,
    /// What the log shows of the animal after its id.
    shown: String,
    tokens: &'a Tokens,
    /// The token of earlier attempts.
    token: Option<i64>,
}

impl<'a> Create<'a> {
    fn new(new: NewPet, context: WriteContext, tokens: &'a Tokens) -> Self {
        let shown = PetId::new(1).and_then(|id| {
            let added = Entry::added(&StorePet::added(id, new.clone(), context.now));
            Some(added.after?.strip_prefix("{\"id\":1")?.to_owned())
        });
        Self { new, context, shown: shown.unwrap_or_default(), tokens, token: None }
    }

    /// Adds the animal, unless an earlier attempt has added it. Waits for an earlier attempt that
    /// is still running.
    async fn insert(&mut self, connection: &mut Connection) -> Result<Pet, Failure> {
        let is_retry = self.token.is_some();
        let token = match self.token {
            Some(token) => token,
            None => self.tokens.next(connection).await?,
        };
        self.token = Some(token);
        if is_retry && let Some(found) = self.find(connection, token).await? {
            return Ok(found);
        }
        let statement = connection.prepared(INSERT).await?;
        let (name, status) = (self.new.name.as_str(), self.new.status.as_str());
        let Origin { at, actor, request_id } = (&self.context).into();
        let parameters: [&(dyn ToSql + Sync); 11] = [
            &name,
            &stored_name_key(name),
            &self.new.category_id,
            &status,
            &token,
            &at,
            &actor.actor.kind(),
            &actor.actor.id(),
            &actor.name.as_deref(),
            &request_id,
            &self.shown,
        ];
        let row = match connection.query_one(&statement, &parameters).await {
            Ok(row) => row,
            Err(error) => {
                let failure = Failure::from(error);
                if !failure.is_duplicate(TOKEN) {
                    return Err(failure);
                }
                if !is_retry {
                    self.tokens.renew();
                    self.token = None;
                }
                // The next attempt finds the animal.
                return Err(Failure::Raced);
            }
        };
        Ok(self.new.clone().with_id(pet_id(row.try_get(0)?)?))
    }

    /// The animal that an earlier attempt added, withdrawn or not.
    async fn find(&self, connection: &mut Connection, token: i64) -> Result<Option<Pet>, Failure> {
        let Some(row) = connection.query_opt(FIND_BY_TOKEN, &[&token]).await? else {
            return Ok(None);
        };
        connection.confirm().await?;
        Ok(Some(self.new.clone().with_id(pet_id(row.try_get(0)?)?)))
    }
}
