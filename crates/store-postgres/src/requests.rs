//! Remembered requests as rows.

use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, NewPet, Owner, StoredResponse, WriteContext, store_area::StorePet,
};
use petstore_store::{
    CreationOutcome, CreationRenderer,
    columns::Value,
    drivers::postgres::Failure,
    journal_rows::{LogEntry, Origin},
    request_rows::{KnownRequest, compare_request, recall},
};
use tokio_postgres::{Client, Statement, types::ToSql};

use super::{
    pool::Connection,
    rows::pet_id,
    writes::{Write, columns, parameters},
};

/// What is remembered, or the id for the animal of the request.
const RECALL_OR_DRAW: &str = concat!(
    "SELECT known.*, CASE WHEN operation IS NULL THEN nextval('pets_ids') END
    FROM (SELECT 1) AS one LEFT JOIN (",
    recall!(),
    ") AS known ON TRUE"
);
/// Remembers the request, adds the animal and logs it, in one statement. Does nothing if the request is
/// known, and waits for a concurrent one. Fails if the previous release remembers it.
const INSERT_ONCE: &str = "
    WITH claimed AS (
        INSERT INTO requests
            (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce(max(number), 0) FROM idempotency_marks
        ON CONFLICT (caller, key) DO NOTHING RETURNING caller
    ), as_before AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT unnest($10::bigint[]), $2, $4, $11, $9 FROM claimed
    ), logged AS (
        INSERT INTO changes (at, type, subject_id, version, pet_id, actor, actor_id,
            actor_name, request_id, after)
        SELECT $15, 'pet.added', $11, 1, $11, $16, $17, $18, $19, $20 FROM claimed)
    INSERT INTO pets (id, name, category_id, status, created_at, updated_at)
    SELECT $11, $12, $13, $14, $15, $15 FROM claimed";
/// What is remembered of several requests, each with its number from 1.
pub(super) const RECALL_ALL: &str = "
    SELECT known.*, number
    FROM unnest($1::bigint[], $2::text[], $3::bigint[])
        WITH ORDINALITY AS request (lineage, key, caller, number)
    CROSS JOIN LATERAL (
        SELECT operation, fingerprint, status, location, etag, body FROM requests
        WHERE requests.caller IN (request.lineage, request.caller) AND requests.key = request.key
        ORDER BY requests.caller <> request.lineage LIMIT 1) AS known";
const REMEMBER_ALL: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    SELECT new.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::text[],
        $7::text[], $8::bytea[], $9::bigint[]) AS new";
/// The constraint that `INSERT_ONCE` violates if the previous release remembers the request.
const REMEMBERED_BEFORE: &str = "idempotency_keys_pkey";
/// For a request that a service of the previous release added after the migration.
const CONVERT: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE caller IN ($1, $3) AND key = $2
    ON CONFLICT (caller, key) DO NOTHING";
/// Deletes such a request if its animal was deleted by hand.
const DISCARD: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key, pet_id) IN
    (SELECT api_key_id, key, pet_id FROM idempotency_keys LEFT JOIN pets ON pets.id = pet_id
     WHERE api_key_id IN ($1, $3) AND key = $2 AND pets.id IS NULL)";
pub(super) const FORGET: &str = "
    DELETE FROM requests WHERE (caller, key) IN
    (SELECT caller, key FROM requests
     WHERE mark < (SELECT max(number) FROM idempotency_marks) - $1 ORDER BY mark LIMIT $2)";
/// How often a request can conflict with another one, or with the previous release.
const MAX_ATTEMPTS: u32 = 3;

/// An animal that is being added by a request that may be repeated.
pub(super) struct Once {
    pub(super) new: NewPet,
    pub(super) context: WriteContext,
    pub(super) respond: CreationRenderer,
}

impl Once {
    /// Adds the animal, unless the request was seen before.
    pub(super) async fn insert(
        &self,
        connection: &mut Connection,
    ) -> Result<CreationOutcome, Failure> {
        let Self {
            new,
            context,
            respond,
        } = self;
        let request = context.idempotency.as_ref().ok_or(Failure::Row("key"))?;
        let Origin {
            at,
            actor,
            request_id,
        } = context.into();
        let key = request.key.as_str();
        let fingerprint = &request.fingerprint[..];
        let known: [&(dyn ToSql + Sync); 3] =
            [&request.lineage.number(), &key, &request.caller.number()];
        for _ in 0..MAX_ATTEMPTS {
            let recall = connection.prepared(RECALL_OR_DRAW).await?;
            let row = connection.query_one(&recall, &known).await?;
            let Some(id) = row.try_get::<_, Option<i64>>(6)? else {
                let KnownRequest::Same(response) = compare_request(&row, request)? else {
                    return Ok(CreationOutcome::Conflict);
                };
                connection.confirm().await?;
                return Ok(CreationOutcome::Replayed(response));
            };
            let pet = new.clone().with_id(pet_id(id)?);
            let StoredResponse {
                status,
                location,
                etag,
                body,
            } = respond(&pet);
            let owners: Vec<i64> = request.owners().map(Owner::number).collect();
            let shown =
                LogEntry::pet_added(&StorePet::added(pet.id, new.clone(), context.now)).after;
            let parameters: [&(dyn ToSql + Sync); 20] = [
                &request.lineage.number(),
                &key,
                &request.operation,
                &fingerprint,
                &i32::from(status),
                &location,
                &etag,
                &body,
                &context.now.as_second(),
                &owners,
                &id,
                &new.name.as_str(),
                &new.category_id,
                &new.status.as_str(),
                &at,
                &actor.actor.kind(),
                &actor.actor.id(),
                &actor.name.as_deref(),
                &request_id,
                &shown,
            ];
            let insert = connection.prepared(INSERT_ONCE).await?;
            match connection
                .execute(&insert, &parameters)
                .await
                .map_err(Failure::from)
            {
                Ok(0) => {}
                Ok(_) => return Ok(CreationOutcome::New(pet)),
                Err(failure) if failure.is_duplicate(REMEMBERED_BEFORE) => {
                    connection.execute(CONVERT, &known).await?;
                    connection.execute(DISCARD, &known).await?;
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(Failure::Raced)
    }
}

/// What is remembered of each request that has an idempotency key, with the prepared
/// [`RECALL_ALL`].
pub(super) async fn recall<'r>(
    client: &Client,
    recall_all: &Statement,
    requests: impl Iterator<Item = Option<&'r IdempotentRequest>>,
) -> Result<Vec<Option<KnownRequest>>, Failure> {
    let requests: Vec<_> = requests.collect();
    let names = columns(requests.iter().map(|request| name(*request).to_vec()));
    let mut known: Vec<_> = requests.iter().map(|_| None).collect();
    for row in client.query(recall_all, &parameters(&names)).await? {
        let number = usize::try_from(row.try_get::<_, i64>(6)? - 1).unwrap_or_default();
        if let Some(Some(request)) = requests.get(number) {
            known[number] = Some(compare_request(&row, request)?);
        }
    }
    Ok(known)
}

/// By what a request is found: its lineage, its key and its caller. Null without an idempotency key.
pub(super) fn name(request: Option<&IdempotentRequest>) -> [Value<'_>; 3] {
    request.map_or(
        [Value::Null; 3],
        |IdempotentRequest {
             lineage,
             key,
             caller,
             ..
         }| {
            [
                Value::Integer(lineage.number()),
                Value::Text(key.as_str()),
                Value::Integer(caller.number()),
            ]
        },
    )
}

/// Remembers the responses to requests, each with its time. In the order of their keys, so that two
/// transactions cannot wait for each other.
pub(super) fn remember<'v>(
    mut requests: Vec<(&'v IdempotentRequest, &'v StoredResponse, Timestamp)>,
) -> Option<Write<'v>> {
    requests.sort_by_key(|(request, ..)| (request.lineage.number(), request.key.as_str()));
    let rows = requests.into_iter().map(|(request, response, now)| {
        let StoredResponse {
            status,
            location,
            etag,
            body,
        } = response;
        let [lineage, key, _] = name(Some(request));
        let text = |text: &'v Option<String>| text.as_deref().map_or(Value::Null, Value::Text);
        vec![
            lineage,
            key,
            Value::Text(request.operation),
            Value::Blob(&request.fingerprint),
            Value::Integer(i64::from(*status)),
            text(location),
            text(etag),
            Value::Blob(body),
            Value::Integer(now.as_second()),
        ]
    });
    Write::of_rows(REMEMBER_ALL, rows)
}
