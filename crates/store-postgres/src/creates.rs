//! Adds animals. Those that arrive while others are being added wait, and are then added together:
//! one statement, one commit, and one wait for the disk and the standby.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use petstore_domain::{NewPet, Pet, PetId, WriteContext, store_area::StorePet};
use petstore_store::{
    StoreError,
    columns::Value,
    drivers::postgres::Failure,
    journal_rows::{LogEntry, Origin},
};
use tokio_postgres::Row;

use super::{
    pool::{Access, Connection},
    queue::{Groups, Queue, stopped},
    rows::pet_id,
    runner::Runner,
    tokens::Tokens,
    writes::{columns, parameters},
};

/// Adds an animal, and logs it. Its id is drawn here: $10 is its representation after `{"id":1`.
const INSERT_ONE: &str = "WITH added AS (
        INSERT INTO pets (token, name, category_id, status, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $5) RETURNING token, id
    ), logged AS (
        INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id,
            actor_name, request_id, after)
        SELECT $5, 'pet.added', id, 1, id, $6, $7, $8, $9, '{\"id\":' || id || $10::text FROM added
    )
    SELECT token, id FROM added";
/// The same for several, with arrays of these values. For one animal, it would take 0.20 ms instead of
/// 0.14.
const INSERT_ALL: &str = "WITH new AS MATERIALIZED (
        SELECT nextval('pets_ids') AS id, new.* FROM unnest($1::bigint[], $2::text[], $3::bigint[],
            $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[], $9::text[], $10::text[])
            AS new (token, name, category_id, status, at, actor, actor_id, actor_name, request_id, shown)
    ), added AS (
        INSERT INTO pets (id, name, category_id, status, token, created_at, updated_at)
        SELECT id, name, category_id, status, token, at, at FROM new
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

/// Takes animals to the task that adds them.
pub(super) type Creates = Queue<Animal, Pet>;

/// Adds the animals that wait, until there will be no more.
pub(super) async fn work(mut waiting: Groups<Animal, Pet>, runner: Arc<Runner>) {
    let tokens = Tokens::default();
    while let Some(group) = waiting.next(Animal::bytes).await {
        let (animals, callers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let mut group = Group {
            animals,
            tokens: &tokens,
            drawn: Vec::new(),
        };
        let mut outcomes = group.add(&runner).await;
        // One animal can make the statement of all of them fail.
        if callers.len() > 1 && matches!(outcomes[..], [Err(StoreError::Internal(_)), ..]) {
            outcomes.clear();
            for animal in group.animals {
                let mut single = Group {
                    animals: vec![animal],
                    tokens: &tokens,
                    drawn: Vec::new(),
                };
                outcomes.append(&mut single.add(&runner).await);
            }
        }
        for (caller, outcome) in callers.into_iter().zip(outcomes) {
            let _ = caller.send(outcome);
        }
    }
}

/// An animal to add.
pub(super) struct Animal {
    new: NewPet,
    context: WriteContext,
    /// What the log shows of it after its id.
    shown: String,
}

impl Animal {
    pub(super) fn new(new: NewPet, context: WriteContext) -> Self {
        let shown = PetId::new(1).and_then(|id| {
            let added = LogEntry::pet_added(&StorePet::added(id, new.clone(), context.now));
            Some(added.after?.strip_prefix("{\"id\":1")?.to_owned())
        });
        Self {
            new,
            context,
            shown: shown.unwrap_or_default(),
        }
    }

    /// Returns the parameters of [`INSERT_ONE`].
    fn values(&self, token: i64) -> Vec<Value<'_>> {
        let Self {
            new,
            context,
            shown,
        } = self;
        let Origin {
            at,
            actor,
            request_id,
        } = context.into();
        vec![
            Value::Integer(token),
            Value::Text(new.name.as_str()),
            Value::Integer(new.category_id),
            Value::Text(new.status.as_str()),
            Value::Integer(at),
            Value::Text(actor.actor.kind()),
            actor.actor.id().map_or(Value::Null, Value::Integer),
            actor.name.as_deref().map_or(Value::Null, Value::Text),
            request_id.map_or(Value::Null, Value::Text),
            Value::Text(shown),
        ]
    }

    /// Returns the animal with the identifier that it got.
    fn added(&self, id: PetId) -> Pet {
        self.new.clone().with_id(id)
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
    /// Adds the animals, all or none. Returns the outcome of each.
    async fn add(&mut self, runner: &Runner) -> Vec<Result<Pet, StoreError>> {
        let added = runner.run(Access::Write, &mut *self, |on, group| {
            group.insert(on).boxed()
        });
        // A panic must not end the task that adds animals.
        let added = AssertUnwindSafe(added).catch_unwind().await;
        match added.unwrap_or_else(|_| Err(stopped())) {
            Ok(ids) => self
                .animals
                .iter()
                .zip(ids)
                .map(|(animal, id)| Ok(animal.added(id)))
                .collect(),
            Err(error) => self.animals.iter().map(|_| Err(error.clone())).collect(),
        }
    }

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
        let all = self.animals.iter().zip(&self.drawn);
        let rows: Vec<_> = all.map(|(animal, token)| animal.values(*token)).collect();
        if let [one] = &rows[..] {
            let statement = connection.prepared(INSERT_ONE).await?;
            return Ok(connection.query(&statement, &parameters(one)).await?);
        }
        let statement = connection.prepared(INSERT_ALL).await?;
        Ok(connection
            .query(&statement, &parameters(&columns(rows)))
            .await?)
    }

    /// Returns the ids in rows of tokens and ids.
    fn ids(&self, rows: &[Row]) -> Result<Vec<PetId>, Failure> {
        let mut ids = HashMap::with_capacity(rows.len());
        for row in rows {
            ids.insert(row.try_get::<_, i64>(0)?, pet_id(row.try_get(1)?)?);
        }
        let id = |token: &i64| ids.get(token).copied().ok_or(Failure::Row("token"));
        self.drawn.iter().map(id).collect()
    }
}
