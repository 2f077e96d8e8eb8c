//! Adds animals. Those that arrive while others are being added wait, and are then added together:
//! one statement, one commit, and one wait for the disk and the standby.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::FutureExt;
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    task::JoinHandle,
    time,
};
use tokio_postgres::{Row, types::ToSql};

use super::{
    errors::Failure,
    name_keys::StoredKeys,
    pool::{Access, Connection, FREE_WITHIN},
    rows::pet_id,
    runner::Runner,
    tokens::Tokens,
};
use crate::{
    domain::{NewPet, Pet, PetId, WriteContext, store_area::StorePet},
    store::{
        StoreError,
        journal_rows::{Entry, Origin},
    },
};

/// How many creates may wait, in addition to those that are being added. Further ones are rejected.
const QUEUE_LENGTH: usize = 1024;

/// How many animals a statement adds at most.
const GROUP: usize = 64;

/// A statement takes no more animals once it has this many bytes of names and representations.
const GROUP_BYTES: usize = 256 * 1024;

/// Adds an animal, and logs it. Its id is drawn here: $11 is its representation after `{"id":1`.
const INSERT_ONE: &str = "WITH added AS (
        INSERT INTO pets (token, name, name_key, category_id, status, created_at, updated_at, words)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $12) RETURNING token, id
    ), logged AS (
        INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id,
            actor_name, request_id, after)
        SELECT $6, 'pet.added', id, 1, id, $7, $8, $9, $10, '{\"id\":' || id || $11::text FROM added
    )
    SELECT token, id FROM added";
/// The same for several, with arrays of these values. For one animal, it would take 0.20 ms instead of
/// 0.14.
const INSERT_ALL: &str = "WITH new AS MATERIALIZED (
        SELECT nextval('pets_ids') AS id, new.* FROM unnest($1::bigint[], $2::text[], $3::text[],
            $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], $10::text[],
            $11::text[], $12::text[]) AS new (token, name, name_key, category_id, status, at, actor,
            actor_id, actor_name, request_id, shown, words)
    ), added AS (
        INSERT INTO pets
            (id, name, name_key, category_id, status, token, created_at, updated_at, words)
        SELECT id, name, name_key, category_id, status, token, at, at, words FROM new
    ), logged AS (
        INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id,
            actor_name, request_id, after)
        SELECT at, 'pet.added', id, 1, id, actor, actor_id, actor_name, request_id,
            '{\"id\":' || id || shown FROM new
    )
    SELECT token, id FROM new";
/// An animal may be withdrawn already.
const FIND_BY_TOKENS: &str = "SELECT token, id FROM pets WHERE token = ANY($1)
    UNION ALL SELECT token, id FROM withdrawn_pets WHERE token = ANY($1)";

/// The unique constraint on tokens.
const TOKEN: &str = "pets_token";

/// Takes creates to the task that adds their animals.
pub(super) struct Creates {
    runner: Arc<Runner>,
    queue: mpsc::Sender<Waiting>,
    worker: JoinHandle<()>,
}

/// A create that waits. Its animal is taken by the worker, or back by the caller, who then knows
/// that it was not added.
struct Waiting {
    animal: Arc<Mutex<Option<Animal>>>,
    caller: Caller,
}

type Caller = oneshot::Sender<Result<Pet, StoreError>>;

impl Creates {
    pub(super) fn start(runner: Arc<Runner>) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_LENGTH);
        let worker = tokio::spawn(work(waiting, Arc::clone(&runner)));
        Self { runner, queue, worker }
    }

    /// Adds an animal. If the future is dropped while it waits, the animal may still be added.
    pub(super) async fn add(&self, new: NewPet, context: WriteContext) -> Result<Pet, StoreError> {
        let animal = Arc::new(Mutex::new(Some(Animal::new(new, context))));
        let (caller, mut added) = oneshot::channel();
        let stopped = || StoreError::OutcomeUnknown(Arc::new(Stopped));
        match self.queue.try_send(Waiting { animal: Arc::clone(&animal), caller }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(self.rejected()),
            Err(TrySendError::Closed(_)) => return Err(stopped()),
        }
        let done = match time::timeout(FREE_WITHIN, &mut added).await {
            Ok(done) => done,
            Err(_) if take(&animal).is_some() => return Err(self.rejected()),
            Err(_) => added.await,
        };
        done.unwrap_or_else(|_| Err(stopped()))
    }

    fn rejected(&self) -> StoreError {
        self.runner.pool.timeouts.count();
        StoreError::Overloaded
    }
}

impl Drop for Creates {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

fn take(animal: &Mutex<Option<Animal>>) -> Option<Animal> {
    animal.lock().unwrap_or_else(PoisonError::into_inner).take()
}

async fn work(mut queue: mpsc::Receiver<Waiting>, runner: Arc<Runner>) {
    let tokens = Tokens::default();
    while let Some(first) = queue.recv().await {
        let (animals, callers) = gather(first, &mut queue);
        if animals.is_empty() {
            continue;
        }
        let mut group = Group { animals, tokens: &tokens, drawn: Vec::new() };
        let added = runner.run(Access::Write, &mut group, |on, group| group.insert(on).boxed());
        // A panic must not end this task.
        let added = AssertUnwindSafe(added).catch_unwind().await;
        match added.unwrap_or_else(|_| Err(StoreError::OutcomeUnknown(Arc::new(Stopped)))) {
            Ok(ids) => {
                for ((caller, animal), id) in callers.into_iter().zip(group.animals).zip(ids) {
                    let _ = caller.send(Ok(animal.new.with_id(id)));
                }
            }
            Err(error) => {
                for caller in callers {
                    let _ = caller.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Takes the animals that wait, as many as fit into a group, with their callers.
fn gather(first: Waiting, queue: &mut mpsc::Receiver<Waiting>) -> (Vec<Animal>, Vec<Caller>) {
    let (mut animals, mut callers, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(Waiting { animal, caller }) = next {
        // The caller may be gone.
        if !caller.is_closed()
            && let Some(animal) = take(&animal)
        {
            bytes += animal.bytes();
            animals.push(animal);
            callers.push(caller);
        }
        let has_room = animals.len() < GROUP && bytes < GROUP_BYTES;
        next = if has_room { queue.try_recv().ok() } else { None };
    }
    (animals, callers)
}

/// An animal to add.
struct Animal {
    new: NewPet,
    context: WriteContext,
    /// What the log shows of it after its id.
    shown: String,
}

impl Animal {
    fn new(new: NewPet, context: WriteContext) -> Self {
        let shown = PetId::new(1).and_then(|id| {
            let added = Entry::added(&StorePet::added(id, new.clone(), context.now));
            Some(added.after?.strip_prefix("{\"id\":1")?.to_owned())
        });
        Self { new, context, shown: shown.unwrap_or_default() }
    }

    fn bytes(&self) -> usize {
        self.new.name.as_str().len() + self.shown.len()
    }
}

/// Animals that are added together, and once, however many attempts this takes.
struct Group<'a> {
    animals: Vec<Animal>,
    tokens: &'a Tokens,
    /// The tokens of earlier attempts, one for each animal. Empty before the first attempt.
    drawn: Vec<i64>,
}

impl Group<'_> {
    /// Adds the animals, unless an earlier attempt has added them. Waits for an earlier attempt that
    /// is still running.
    async fn insert(&mut self, connection: &mut Connection) -> Result<Vec<PetId>, Failure> {
        let is_retry = !self.drawn.is_empty();
        if is_retry {
            let found = connection.query(FIND_BY_TOKENS, &[&self.drawn]).await?;
            if !found.is_empty() {
                connection.confirm().await?;
                return self.ids(&found);
            }
        } else {
            let mut drawn = Vec::with_capacity(self.animals.len());
            for _ in &self.animals {
                drawn.push(self.tokens.next(connection).await?);
            }
            self.drawn = drawn;
        }
        let failure = match self.try_insert(connection).await {
            Ok(rows) => return self.ids(&rows),
            Err(failure) => failure,
        };
        if !failure.is_duplicate(TOKEN) {
            return Err(failure);
        }
        if !is_retry {
            self.tokens.renew();
            self.drawn = Vec::new();
        }
        // The next attempt finds the animals.
        Err(Failure::Raced)
    }

    async fn try_insert(&self, connection: &mut Connection) -> Result<Vec<Row>, Failure> {
        if let ([Animal { new, context, shown }], [token]) = (&self.animals[..], &self.drawn[..]) {
            let statement = connection.prepared(INSERT_ONE).await?;
            let Origin { at, actor, request_id } = context.into();
            let name = new.name.as_str();
            let StoredKeys { name_key, words } = StoredKeys::of(name);
            let parameters: [&(dyn ToSql + Sync); 12] = [
                token,
                &name,
                &name_key,
                &new.category_id,
                &new.status.as_str(),
                &at,
                &actor.actor.kind(),
                &actor.actor.id(),
                &actor.name.as_deref(),
                &request_id,
                shown,
                &words,
            ];
            return Ok(connection.query(&statement, &parameters).await?);
        }
        let statement = connection.prepared(INSERT_ALL).await?;
        let names = self.of_each(|animal| animal.new.name.as_str());
        let origins = self.of_each(|animal| Origin::from(&animal.context));
        let keys: Vec<_> = names.iter().map(|name| StoredKeys::of(name)).collect();
        let parameters: [&(dyn ToSql + Sync); 12] = [
            &self.drawn,
            &names,
            &keys.iter().map(|keys| keys.name_key.as_deref()).collect::<Vec<_>>(),
            &self.of_each(|animal| animal.new.category_id),
            &self.of_each(|animal| animal.new.status.as_str()),
            &origins.iter().map(|origin| origin.at).collect::<Vec<_>>(),
            &origins.iter().map(|origin| origin.actor.actor.kind()).collect::<Vec<_>>(),
            &origins.iter().map(|origin| origin.actor.actor.id()).collect::<Vec<_>>(),
            &origins.iter().map(|origin| origin.actor.name.as_deref()).collect::<Vec<_>>(),
            &origins.iter().map(|origin| origin.request_id).collect::<Vec<_>>(),
            &self.of_each(|animal| animal.shown.as_str()),
            &keys.iter().map(|keys| keys.words.as_str()).collect::<Vec<_>>(),
        ];
        Ok(connection.query(&statement, &parameters).await?)
    }

    fn of_each<'s, T>(&'s self, of: impl Fn(&'s Animal) -> T) -> Vec<T> {
        self.animals.iter().map(of).collect()
    }

    /// The ids in rows of tokens and ids.
    fn ids(&self, rows: &[Row]) -> Result<Vec<PetId>, Failure> {
        let mut ids = HashMap::with_capacity(rows.len());
        for row in rows {
            ids.insert(row.try_get::<_, i64>(0)?, pet_id(row.try_get(1)?)?);
        }
        let id = |token: &i64| ids.get(token).copied().ok_or(Failure::Row("token"));
        self.drawn.iter().map(id).collect()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the task that adds animals stopped")]
struct Stopped;
