//! Writes what commands changed, in one transaction that is sent at once.

use std::{future::poll_fn, pin::Pin, task::Poll};

use futures_util::{
    FutureExt,
    future::{BoxFuture, MaybeDone, maybe_done},
};
use jiff::Timestamp;
use tokio_postgres::{Client, Error, Statement, types::ToSql};

use super::state::{State, Versions};
use crate::{
    domain::{
        IdempotentRequest, StoredResponse,
        store_area::{Category, Order, StorePet, Text, name_key},
    },
    store::postgres::pool::Connection,
};

/// A statement that fails with a division by zero unless it writes one row. So another version
/// than the one that was read ends the transaction, although its other statements and its COMMIT
/// were already sent.
macro_rules! one_row {
    ($statement:literal) => {
        concat!("WITH written AS (", $statement, " RETURNING 1) SELECT 1 / count(*) FROM written")
    };
}

pub(in super::super) use one_row;

const INSERT_PET: &str = "INSERT INTO pets
    (id, name, name_key, category_id, status, version, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const UPDATE_PET: &str = one_row!(
    "UPDATE pets SET name = $3, name_key = $4, category_id = $5, status = $6, version = $7,
        updated_at = $8 WHERE id = $1 AND version = $2"
);
const UPDATE_STATUS: &str = one_row!(
    "UPDATE pets SET status = $3, version = $4, updated_at = $5 WHERE id = $1 AND version = $2"
);
const WITHDRAW: &str = "
    WITH gone AS (DELETE FROM pets WHERE id = $1 AND version = $2 RETURNING token), written AS (
        INSERT INTO withdrawn_pets (id, name, name_key, category_id, status, version, created_at,
            updated_at, withdrawn_at, reason, note, token)
        SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, token FROM gone RETURNING 1)
    SELECT 1 / count(*) FROM written";
const RESTORE: &str = "
    WITH back AS (DELETE FROM withdrawn_pets WHERE id = $1 AND version = $2 RETURNING token),
    written AS (
        INSERT INTO pets
            (id, name, name_key, category_id, status, version, created_at, updated_at, token)
        SELECT $1, $3, $4, $5, $6, $7, $8, $9, token FROM back RETURNING 1)
    SELECT 1 / count(*) FROM written";
const INSERT_ORDER: &str = "INSERT INTO orders
    (id, pet_id, status, holds, reference, note, reason, expires_at, created_at, closed_at, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const UPDATE_ORDER: &str = one_row!(
    "UPDATE orders SET status = $3, holds = $4, reference = $5, note = $6, reason = $7,
        expires_at = $8, closed_at = $9, version = $10
        WHERE id = $1 AND version = $2 AND holds = $11"
);
const INSERT_CATEGORY: &str = "INSERT INTO categories (id, label, version) VALUES ($1, $2, $3)";
const UPDATE_CATEGORY: &str =
    one_row!("UPDATE categories SET label = $3, version = $4 WHERE id = $1 AND version = $2");
const DELETE_CATEGORY: &str = one_row!("DELETE FROM categories WHERE id = $1 AND version = $2");
/// The response to the request that added an animal in the previous release is made from the
/// animal, so it is kept before the first change.
const KEEP_RESPONSE: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests
    WHERE (caller, key) IN (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = $1)
    ON CONFLICT (caller, key) DO NOTHING";
const REMEMBER: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce(max(number), 0) FROM idempotency_marks";

pub(in super::super) type Value = Box<dyn ToSql + Sync + Send>;

pub(in super::super) struct Write {
    pub(in super::super) sql: &'static str,
    pub(in super::super) values: Vec<Value>,
}

impl Write {
    pub(in super::super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Value),*]
    };
}

pub(in super::super) use values;

/// Remembers the response to a request.
pub(in super::super) fn remember(
    request: &IdempotentRequest,
    response: &StoredResponse,
    now: Timestamp,
) -> Write {
    let StoredResponse { status, location, etag, body } = response.clone();
    let values = values![
        request.lineage.number(),
        request.key.as_str().to_owned(),
        request.operation,
        request.fingerprint.to_vec(),
        i32::from(status),
        location,
        etag,
        body,
        now.as_second(),
    ];
    Write { sql: REMEMBER, values }
}

/// The differences between what was read and what the commands left. In ascending order of
/// identifier, animals first, so that two transactions cannot wait for each other.
pub(super) fn changes(state: State) -> Vec<Write> {
    let mut writes = Vec::new();
    for (id, pet) in state.pets {
        let is_first_change = pet.read.as_ref().is_some_and(|pet| pet.version == 1);
        if is_first_change && pet.read != pet.now && state.added_by_requests.contains(&id) {
            writes.push(Write { sql: KEEP_RESPONSE, values: values![id.get()] });
        }
        write_pet(pet, &mut writes);
    }
    // A new order has a higher identifier than the one that it replaces, which lets go first.
    writes.extend(state.orders.into_values().filter_map(order));
    writes.extend(state.categories.into_values().filter_map(category));
    writes
}

fn write_pet(Versions { read, now }: Versions<StorePet>, writes: &mut Vec<Write>) {
    let Some(now) = now.filter(|now| read.as_ref() != Some(now)) else { return };
    let Some(mut read) = read else {
        writes.push(Write { sql: INSERT_PET, values: pet_values(&now) });
        return;
    };
    let id = now.id.get();
    let described = |pet: &StorePet| (pet.name.clone(), pet.category_id);
    if read.withdrawn.is_some() {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        writes.push(Write { sql: RESTORE, values });
        read = StorePet { withdrawn: None, ..now.clone() };
    }
    if let Some(withdrawal) = &now.withdrawn {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        values.extend(values![
            withdrawal.at.as_millisecond(),
            withdrawal.reason.as_str(),
            text(withdrawal.note.as_ref()),
        ]);
        writes.push(Write { sql: WITHDRAW, values });
    } else if described(&read) != described(&now) {
        let mut values = pet_values(&now);
        values.insert(1, Box::new(read.version));
        // An animal keeps the time of its creation.
        values.remove(7);
        writes.push(Write { sql: UPDATE_PET, values });
    } else if read.version != now.version {
        let values = values![
            id,
            read.version,
            now.status.as_str(),
            now.version,
            now.updated_at.map(Timestamp::as_millisecond),
        ];
        writes.push(Write { sql: UPDATE_STATUS, values });
    }
}

/// The values of the columns of an animal, in the order of [`INSERT_PET`].
fn pet_values(pet: &StorePet) -> Vec<Value> {
    values![
        pet.id.get(),
        pet.name.as_str().to_owned(),
        stored_name_key(pet.name.as_str()),
        pet.category_id,
        pet.status.as_str(),
        pet.version,
        pet.created_at.map(Timestamp::as_millisecond),
        pet.updated_at.map(Timestamp::as_millisecond),
    ]
}

/// The key of a name as the column `name_key` has it: null where the database can make it of the
/// name.
pub(in crate::store::postgres) fn stored_name_key(name: &str) -> Option<String> {
    (!name.is_ascii()).then(|| name_key(name))
}

fn order(Versions { read, now }: Versions<Order>) -> Option<Write> {
    let now = now.filter(|now| read.as_ref() != Some(now))?;
    let (reference, note) = (text(now.reference.as_ref()), text(now.note.as_ref()));
    let reason = text(now.reason.as_ref());
    let expires_at = now.expires_at.map(Timestamp::as_millisecond);
    let closed_at = now.closed_at.map(Timestamp::as_millisecond);
    let (id, status) = (now.id.get(), now.status.as_str());
    Some(match read {
        None => Write {
            sql: INSERT_ORDER,
            values: values![
                id,
                now.pet_id.get(),
                status,
                now.holds,
                reference,
                note,
                reason,
                expires_at,
                now.created_at.as_millisecond(),
                closed_at,
                now.version,
            ],
        },
        Some(read) => Write {
            sql: UPDATE_ORDER,
            values: values![
                id,
                read.version,
                status,
                now.holds,
                reference,
                note,
                reason,
                expires_at,
                closed_at,
                now.version,
                // Can change without a new version.
                read.holds,
            ],
        },
    })
}

fn category(Versions { read, now }: Versions<Category>) -> Option<Write> {
    Some(match (read, now) {
        (None, Some(Category { id, label, version })) => {
            Write { sql: INSERT_CATEGORY, values: values![id, label.as_str().to_owned(), version] }
        }
        (Some(read), Some(now)) if read != now => Write {
            sql: UPDATE_CATEGORY,
            values: values![now.id, read.version, now.label.as_str().to_owned(), now.version],
        },
        (Some(read), None) => {
            Write { sql: DELETE_CATEGORY, values: values![read.id, read.version] }
        }
        (None, None) | (Some(_), Some(_)) => return None,
    })
}

fn text<const MAX: usize>(text: Option<&Text<MAX>>) -> Option<String> {
    text.map(|text| text.as_str().to_owned())
}

pub(in super::super) async fn prepare(
    connection: &mut Connection,
    writes: &[Write],
) -> Result<Vec<Statement>, Error> {
    let mut prepared = Vec::with_capacity(writes.len());
    for write in writes {
        prepared.push(connection.prepared(write.sql).await?);
    }
    Ok(prepared)
}

/// Runs the statements in one transaction: all or none. They are sent without a pause, so the
/// transaction never stays open when this future is dropped.
pub(in super::super) async fn in_transaction(
    client: &Client,
    writes: &[Write],
    prepared: &[Statement],
) -> Result<(), Error> {
    let mut statements = vec![sent(client.batch_execute("BEGIN"))];
    for (write, statement) in writes.iter().zip(prepared) {
        statements.push(sent(async move {
            client.execute(statement, &write.parameters()).await.map(drop)
        }));
    }
    poll_fn(|context| {
        let mut all_sent = true;
        for statement in &mut statements {
            let _ = statement.poll_unpin(context);
            all_sent &= !matches!(Pin::new(statement).output_mut(), Some(Err(_)));
        }
        let mut end = sent(client.batch_execute(if all_sent { "COMMIT" } else { "ROLLBACK" }));
        let _ = end.poll_unpin(context);
        statements.push(end);
        Poll::Ready(())
    })
    .await;
    let mut done = Ok(());
    for mut statement in statements {
        (&mut statement).await;
        if let Some(Err(error)) = Pin::new(&mut statement).take_output() {
            done = done.and(Err(error));
        }
    }
    done
}

type Sent<'c> = MaybeDone<BoxFuture<'c, Result<(), Error>>>;

fn sent<'c>(statement: impl Future<Output = Result<(), Error>> + Send + 'c) -> Sent<'c> {
    maybe_done(statement.boxed())
}
