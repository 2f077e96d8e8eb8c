//! Remembers requests with an idempotency key, and recalls their responses.
//!
//! A request is remembered under its idempotency key and its owner
//! ([`IdempotentRequest::lineage`]). Marks tell how old it is, without a clock
//! ([`petstore_domain::idempotency::MARK_INTERVAL`]).
//!
//! A service of the previous release may still be running after the migration. It remembers only the
//! requests that add animals, in a table of its own.

use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, NewPet, Pet, RequestOwner, StoredResponse, WriteContext,
    store_area::StorePet,
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
    connection::Connection,
    rows::{pet_id, text_or_null},
    writes::{Write, parameters, transpose},
};

/// The statement that returns the remembered request, or draws an identifier for the animal if the
/// request is new.
const RECALL_OR_DRAW: &str = concat!(
    "SELECT known.*, CASE WHEN operation IS NULL THEN nextval('pets_ids') END
    FROM (SELECT 1) AS only_row LEFT JOIN (",
    recall!(),
    ") AS known ON TRUE"
);
/// The statement that remembers a request, and adds and logs its animal. It adds nothing if the
/// request is already remembered, and waits for a concurrent request with the same key. It violates
/// [`PREVIOUS_RELEASE_CONSTRAINT`] if only the previous release remembers the request.
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
/// The query for the requests remembered under several keys. Each row ends with the position of its key
/// in the parameters, counted from 1.
pub(super) const RECALL_ALL: &str = "
    SELECT known.*, number
    FROM unnest($1::bigint[], $2::text[], $3::bigint[])
        WITH ORDINALITY AS request (lineage, key, caller, number)
    CROSS JOIN LATERAL (
        SELECT operation, fingerprint, status, location, etag, body FROM requests
        WHERE requests.caller IN (request.lineage, request.caller) AND requests.key = request.key
        ORDER BY requests.caller <> request.lineage LIMIT 1) AS known";
/// The statement that remembers several requests.
const REMEMBER_ALL: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    SELECT new.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::text[],
        $7::text[], $8::bytea[], $9::bigint[]) AS new";
/// The constraint that [`INSERT_ONCE`] violates if the previous release remembers the request.
const PREVIOUS_RELEASE_CONSTRAINT: &str = "idempotency_keys_pkey";
/// The statement that copies a request from the table of the previous release into `requests`.
const COPY_FROM_PREVIOUS_RELEASE: &str = "
    INSERT INTO requests
        (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT unconverted_requests.*, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE caller IN ($1, $3) AND key = $2
    ON CONFLICT (caller, key) DO NOTHING";
/// The statement that deletes a request of the previous release if its animal was deleted by hand. Without
/// the animal, the request cannot be copied.
const DISCARD_WITHOUT_PET: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key, pet_id) IN
    (SELECT api_key_id, key, pet_id FROM idempotency_keys LEFT JOIN pets ON pets.id = pet_id
     WHERE api_key_id IN ($1, $3) AND key = $2 AND pets.id IS NULL)";
/// The statement that deletes at most $2 requests that are older than $1 marks.
pub(super) const FORGET_REQUESTS: &str = "
    DELETE FROM requests WHERE (caller, key) IN
    (SELECT caller, key FROM requests
     WHERE mark < (SELECT max(number) FROM idempotency_marks) - $1 ORDER BY mark LIMIT $2)";
/// The number of attempts of a create that conflicts with another request, or with the previous release.
const MAX_ATTEMPTS: u32 = 3;

/// The column of [`RECALL_OR_DRAW`] with the drawn identifier, after the columns of the request.
const NEW_ID_COLUMN: usize = 6;

/// The creation of an animal by a request with an idempotency key.
pub(super) struct IdempotentCreate {
    pub(super) pet: NewPet,
    pub(super) context: WriteContext,
    pub(super) respond: CreationRenderer,
}

impl IdempotentCreate {
    /// Adds the animal, unless the request is remembered. For a remembered request, returns its
    /// first response, or a conflict if the two requests have different content.
    pub(super) async fn insert(
        &self,
        connection: &mut Connection,
    ) -> Result<CreationOutcome, Failure> {
        // Never `None`: animals without an idempotency key are added by `creates.rs`.
        let request = self
            .context
            .idempotency
            .as_ref()
            .ok_or(Failure::Row("key"))?;
        let lineage = request.lineage.number();
        let key = request.key.as_str();
        let caller = request.caller.number();
        let identity: [&(dyn ToSql + Sync); 3] = [&lineage, &key, &caller];
        for _ in 0..MAX_ATTEMPTS {
            let statement = connection.prepare_once(RECALL_OR_DRAW).await?;
            let row = connection.query_one(&statement, &identity).await?;
            let Some(new_id) = row.try_get::<_, Option<i64>>(NEW_ID_COLUMN)? else {
                let known_request = compare_request(&row, request)?;
                // The first response reports the animal, which a failover must not lose afterwards.
                if matches!(known_request, KnownRequest::Same(_)) {
                    connection.confirm().await?;
                }
                return Ok(known_request.into());
            };

            let pet = self.pet.clone().with_id(pet_id(new_id)?);
            match self.insert_once(connection, request, &pet).await {
                Ok(true) => return Ok(CreationOutcome::New(pet)),
                // A concurrent request with the same key has committed first. The next attempt recalls
                // its response.
                Ok(false) => {}
                Err(failure) if failure.is_duplicate(PREVIOUS_RELEASE_CONSTRAINT) => {
                    copy_from_previous_release(connection, &identity).await?;
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(Failure::Raced)
    }

    /// Adds the animal with [`INSERT_ONCE`]. Returns `false` if the request is already remembered,
    /// so that nothing was added.
    async fn insert_once(
        &self,
        connection: &mut Connection,
        request: &IdempotentRequest,
        pet: &Pet,
    ) -> Result<bool, Failure> {
        let new_pet = &self.pet;
        let context = &self.context;
        let origin = Origin::from(context);
        let actor = &origin.actor.actor;
        let response = (self.respond)(pet);
        let owners: Vec<i64> = request.owners().map(RequestOwner::number).collect();
        let entry = LogEntry::pet_added(&StorePet::new(pet.id, new_pet.clone(), context.now));
        let parameters: [&(dyn ToSql + Sync); 20] = [
            &request.lineage.number(),
            &request.key.as_str(),
            &request.operation,
            &&request.fingerprint[..],
            &i32::from(response.status),
            &response.location,
            &response.etag,
            &response.body,
            &context.now.as_second(),
            &owners,
            &pet.id.get(),
            &new_pet.name.as_str(),
            &new_pet.category_id,
            &new_pet.status.as_str(),
            &origin.at,
            &actor.kind(),
            &actor.id(),
            &origin.actor.name.as_deref(),
            &origin.request_id,
            &entry.after,
        ];
        let statement = connection.prepare_once(INSERT_ONCE).await?;
        let added_animals = connection.execute(&statement, &parameters).await?;
        Ok(added_animals > 0)
    }
}

/// Copies a request that only the previous release remembers, so that the next attempt recalls it. If
/// that is impossible, deletes the request, so that the next attempt treats it as new.
async fn copy_from_previous_release(
    client: &Client,
    identity: &[&(dyn ToSql + Sync)],
) -> Result<(), Failure> {
    client.execute(COPY_FROM_PREVIOUS_RELEASE, identity).await?;
    client.execute(DISCARD_WITHOUT_PET, identity).await?;
    Ok(())
}

/// Recalls all of the given requests at once, with `statement`, which is the prepared
/// [`RECALL_ALL`]. Returns one element for each request. The element is `None` if the request has
/// no idempotency key, or is not remembered.
pub(super) async fn recall_all<'r>(
    client: &Client,
    statement: &Statement,
    requests: impl Iterator<Item = Option<&'r IdempotentRequest>>,
) -> Result<Vec<Option<KnownRequest>>, Failure> {
    /// The column with the number of the request, after the columns of the remembered request.
    const NUMBER_COLUMN: usize = 6;

    let requests: Vec<_> = requests.collect();
    let identities = transpose(
        requests
            .iter()
            .map(|request| identity_values(*request).to_vec()),
    );
    let mut known_requests: Vec<_> = requests.iter().map(|_| None).collect();
    for row in client.query(statement, &parameters(&identities)).await? {
        let number: i64 = row.try_get(NUMBER_COLUMN)?;
        // WITH ORDINALITY counts from 1.
        let index = usize::try_from(number - 1).map_err(|_| Failure::Row("number"))?;
        if let Some(Some(request)) = requests.get(index) {
            known_requests[index] = Some(compare_request(&row, request)?);
        }
    }
    Ok(known_requests)
}

/// Returns the values that identify a remembered request: its lineage (the owner under which it is
/// remembered), its idempotency key, and its caller. Without a key, all three are null.
pub(super) fn identity_values(request: Option<&IdempotentRequest>) -> [Value<'_>; 3] {
    match request {
        Some(request) => [
            Value::Integer(request.lineage.number()),
            Value::Text(request.key.as_str()),
            Value::Integer(request.caller.number()),
        ],
        None => [Value::Null; 3],
    }
}

/// A response to remember under the idempotency key of its request.
pub(super) struct NewResponse<'v> {
    pub(super) request: &'v IdempotentRequest,
    pub(super) response: &'v StoredResponse,
    /// The time of the request.
    pub(super) time: Timestamp,
}

impl<'v> NewResponse<'v> {
    /// Returns the row of the response, in the order of the columns of [`REMEMBER_ALL`].
    fn to_row(&self) -> Vec<Value<'v>> {
        let request = self.request;
        let response = self.response;
        vec![
            Value::Integer(request.lineage.number()),
            Value::Text(request.key.as_str()),
            Value::Text(request.operation),
            Value::Blob(&request.fingerprint),
            Value::Integer(i64::from(response.status)),
            text_or_null(response.location.as_deref()),
            text_or_null(response.etag.as_deref()),
            Value::Blob(&response.body),
            Value::Integer(self.time.as_second()),
        ]
    }
}

/// Builds the statement that remembers these responses. Returns `None` if there are none.
///
/// The statement inserts the responses in the order of their keys, so that concurrent transactions
/// cannot deadlock.
pub(super) fn build_remember_write(mut responses: Vec<NewResponse<'_>>) -> Option<Write<'_>> {
    responses.sort_by_key(|response| {
        let request = response.request;
        (request.lineage.number(), request.key.as_str())
    });
    Write::from_rows(REMEMBER_ALL, responses.iter().map(NewResponse::to_row))
}
