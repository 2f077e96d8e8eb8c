//! Reads a whole catalogue from one snapshot, or writes one in one transaction, for the commands
//! that import, export and copy.
//!
//! These commands do one thing at a time, so all methods block, and none may be called on a runtime
//! thread. Memory use does not depend on the number of animals. Every method may fail with any
//! [`StoreError`].

use std::ops::ControlFlow;

use jiff::Timestamp;
use petstore_domain::{
    IdempotencyKey, KeyId, NewPet, PetId, PetRef, PetStatus, StoredResponse,
    store_area::{Act, FieldDefinition, FieldSet, FieldValues, Profile, Resource},
};

use super::StoreError;
pub use super::columns::Value;

/// The content of a store at one moment, unaffected by later writes.
///
/// In SQLite, no checkpoint can complete while a snapshot is open, so the WAL grows with every
/// write.
pub trait Snapshot {
    /// Counts the animals with this status, or all animals if `status` is `None`.
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError>;

    /// Calls `visitor` with the animals that [`Self::count_pets`] counts, in ascending order of
    /// identifier, until `visitor` breaks.
    fn visit_pets(
        &mut self,
        status: Option<PetStatus>,
        visitor: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Calls `visitor` with every animal (withdrawn or not), then every order, then every category,
    /// then every note, until `visitor` breaks.
    fn visit_resources(
        &mut self,
        visitor: &mut dyn FnMut(Resource) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Calls `visitor` with every remembered request, including requests that are due to be
    /// forgotten, until `visitor` breaks.
    fn visit_requests(
        &mut self,
        visitor: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Calls `visitor` with the values of every row of a table, in the order of its columns, until
    /// `visitor` breaks.
    fn visit_rows(
        &mut self,
        table: &'static CopiedTable,
        visitor: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Reads all field definitions.
    fn fields(&mut self) -> Result<FieldSet, StoreError>;

    /// Reads the profile of the store, without the file of its logo.
    fn profile(&mut self) -> Result<Profile, StoreError>;

    /// Reads the highest identifiers that were ever assigned.
    fn last_ids(&mut self) -> Result<LastIds, StoreError>;
}

/// Adds data to a store in one transaction.
///
/// The caller calls [`Self::begin`] first, and [`Self::commit`] last. Before the commit, no other
/// connection sees the added data. Dropping without a commit rolls everything back.
pub trait Load {
    /// Begins the transaction. Animals that [`Self::add_pet`] adds get the creation time `now`.
    ///
    /// In SQLite, other writers wait until the transaction ends. In PostgreSQL, they wait only with
    /// [`IdSource::Given`].
    fn begin(&mut self, ids: IdSource, now: Timestamp) -> Result<(), StoreError>;

    /// Whether the store is empty, so that a copy can be added. [`IS_EMPTY`] says what counts.
    fn is_empty(&mut self) -> Result<bool, StoreError>;

    /// Adds an animal under the next identifier, or under `id` with [`IdSource::Given`]. Fails if
    /// the identifier or a unique value is taken.
    fn add_pet(
        &mut self,
        id: Option<PetId>,
        pet: &NewPet,
        fields: &FieldValues,
    ) -> Result<(), StoreError>;

    /// Adds an animal, an order, a category or a note unchanged, under its own identifier.
    fn add_resource(&mut self, resource: &Resource) -> Result<(), StoreError>;

    /// Returns the field definitions, which cannot change during the transaction.
    fn fields(&self) -> &FieldSet;

    /// Replaces all field definitions.
    fn set_fields(&mut self, fields: &[FieldDefinition]) -> Result<(), StoreError>;

    /// Sets the profile, unless the store already has one that is not empty. Returns whether the
    /// profile was set.
    fn fill_profile(&mut self, profile: &Profile) -> Result<bool, StoreError>;

    /// Adds a remembered request.
    fn add_request(&mut self, request: &StoredRequest) -> Result<(), StoreError>;

    /// Adds a row of a copied table, unchanged. `row` has the values of [`CopiedTable::columns`].
    fn add_row(&mut self, table: &'static CopiedTable, row: &[Value<'_>])
    -> Result<(), StoreError>;

    /// Makes new identifiers continue above `last`, and above all identifiers that were ever
    /// assigned here.
    fn continue_after(&mut self, last: LastIds) -> Result<(), StoreError>;

    /// Makes the log of changes continue after its last copied row. Also begins a new epoch of the
    /// log: a cursor of the old database names the epoch of that database, so it is not valid here.
    fn continue_log(&mut self) -> Result<(), StoreError>;

    /// Adds one row to the log of changes, for everything that was added: an import.
    fn log_import(&mut self) -> Result<(), StoreError>;

    /// Records an act of administration in the audit trail.
    fn record_act(&mut self, act: &Act) -> Result<(), StoreError>;

    /// Commits. When this returns, everything is durable.
    fn commit(&mut self) -> Result<(), CommitError>;
}

/// The reason why [`Load::commit`] failed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The transaction was rolled back.
    #[error(transparent)]
    NotDone(#[from] StoreError),
    /// The connection broke or the disk failed during the commit.
    #[error(
        "the outcome of the commit is unknown: it was done completely or not at all; check before you repeat it"
    )]
    Unknown(#[source] StoreError),
}

/// The source of the identifiers of new animals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdSource {
    /// The store assigns the next identifiers.
    Next,
    /// The caller provides the identifiers.
    Given,
}

/// A remembered request, with its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// The first API key of its lineage.
    pub caller: KeyId,
    /// The client's identifier of the request.
    pub key: IdempotencyKey,
    /// The operation, by its `operationId`.
    pub operation: String,
    /// See [`petstore_domain::IdempotentRequest::fingerprint`].
    pub fingerprint: [u8; 32],
    /// The response that every repetition gets.
    pub response: StoredResponse,
    /// The time of the first request.
    pub created_at: Timestamp,
}

/// The highest identifiers that were ever assigned; 0 if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "self-explanatory names need no doc")]
pub struct LastIds {
    pub pet: i64,
    pub order: i64,
    pub key: i64,
    pub staff: i64,
    pub webhook: i64,
    pub note: i64,
}

/// A table that has the same columns in both stores, and whose rows are copied unchanged.
#[derive(Debug, PartialEq, Eq)]
pub struct CopiedTable {
    /// The name of the table in both stores.
    pub name: &'static str,
    /// The noun for a row in messages.
    pub row_noun: &'static str,
    /// The comma-separated list of its columns.
    pub columns: &'static str,
    /// The columns by which its rows are sorted. They need not be among the copied columns.
    pub(super) order: &'static str,
}

/// The API keys, valid or not. They must be copied before everything else.
pub static KEYS: CopiedTable = CopiedTable {
    name: "api_keys",
    row_noun: "API key",
    columns:
        "id, digest, name, scope, store_scope, deployment, created_at, expires_at, last_used_at,
        last_deprecated_call_at, revoked_at, successor_id, rate_limit",
    order: "id",
};

/// The unique values of the animals in the catalogue. They must be copied after those animals.
///
/// The column `twin` is part of the primary key. It distinguishes the animals with an equal value
/// that a migration kept, and is 0 for all other animals.
pub static UNIQUE_VALUES: CopiedTable = CopiedTable {
    name: "unique_values",
    row_noun: "unique value",
    columns: "field, key, pet_id, twin",
    order: "field, key, twin",
};

/// The categories, for a reader that needs only their labels.
pub static CATEGORIES: CopiedTable = CopiedTable {
    name: "categories",
    row_noun: "category",
    columns: "id, label",
    order: "id",
};

/// The present logo of the store, and the logos that were replaced recently.
pub static LOGOS: CopiedTable = CopiedTable {
    name: "logos",
    row_noun: "logo",
    columns: "name, png, replaced_at",
    order: "name",
};

/// The name of the log of changes. It is not a table with the same columns in both stores: in
/// PostgreSQL, the numbers of the changes are in another table. So each store reads and writes the
/// columns of its entry in [`TABLES`] in its own way.
pub(super) const CHANGES: &str = "changes";

/// The log of changes, the acts of the audit trail, the staff and the webhooks. Each table comes
/// after the tables that its foreign keys refer to.
///
/// Secrets stay encrypted. Acts are sorted by their identifier, but it is not copied: they get new
/// identifiers in the same order. Links for choosing a password, and sessions of the staff, are not
/// copied.
pub static TABLES: [CopiedTable; 6] = [
    CopiedTable {
        name: CHANGES,
        row_noun: "change",
        columns: "seq, latest_at, at, type, subject_id, version, pet_id, actor, actor_id, actor_name,
            request_id, before, after",
        order: "seq",
    },
    CopiedTable {
        name: "acts",
        row_noun: "act",
        columns: "seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details",
        order: "id",
    },
    CopiedTable {
        name: "staff",
        row_noun: "staff account",
        columns: "id, name, name_key, role, created_at, disabled_at, password, totp_secret,
            totp_last_period, recovery, version, language, issuer, subject, passkeys",
        order: "id",
    },
    CopiedTable {
        name: "webhooks",
        row_noun: "webhook",
        columns: "id, url, types, description, disabled_reason, created_at, updated_at, version, secret,
            previous_secret, previous_secret_until, cursor, last_message, failing_since, lease_holder,
            lease_beat",
        order: "id",
    },
    CopiedTable {
        name: "webhook_waiting",
        row_noun: "waiting message",
        columns: "webhook_id, seq, previous, lane, failures, due_at",
        order: "webhook_id, seq",
    },
    CopiedTable {
        name: "webhook_attempts",
        row_noun: "attempt",
        columns: "webhook_id, number, message_id, at, status, duration_ms, error",
        order: "webhook_id, number",
    },
];

/// Selects whether the store is empty. See [`Load::is_empty`].
///
/// Fields and the profile with its logos do not count, because a new database already has fields
/// and a profile. In PostgreSQL, the requests of the caller 0 do not count, because they are writes
/// of the service itself. Notes and photos need no condition: without animals, there are none.
pub const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT 1 FROM pets)
    AND NOT EXISTS (SELECT 1 FROM withdrawn_pets) AND NOT EXISTS (SELECT 1 FROM orders)
    AND NOT EXISTS (SELECT 1 FROM categories)
    AND NOT EXISTS (SELECT 1 FROM api_keys) AND NOT EXISTS (SELECT 1 FROM requests WHERE caller <> 0)
    AND NOT EXISTS (SELECT 1 FROM changes) AND NOT EXISTS (SELECT 1 FROM staff)
    AND NOT EXISTS (SELECT 1 FROM webhooks)";

/// Returns what the visitor of a [`Snapshot`] returns after a step with this result. An error stops
/// the visit, and the caller of the visit then handles it.
pub fn continue_if_ok<T, E>(result: &Result<T, E>) -> ControlFlow<()> {
    if result.is_ok() {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}
