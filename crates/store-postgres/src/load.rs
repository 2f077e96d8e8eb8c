//! Bulk-loads a whole catalogue in one transaction, with COPY (PostgreSQL's statement for bulk data).

mod copying;

use std::collections::VecDeque;

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Actor, NewPet, PetId, WriteContext,
    store_area::{
        Act, FieldDefinition, FieldSet, FieldValues, FirstStep, Profile, Resource, StorePet,
    },
};
use petstore_store::{
    OpenError, OpenMode, StoreError,
    admin::{fields, profile, record_act},
    bulk::{CommitError, CopiedTable, IS_EMPTY, IdSource, LastIds, Load, StoredRequest, Value},
    drivers::postgres::Failure,
    journal_rows::{ImportSummary, LogEntry},
    request_rows::NEWEST_MARK,
    whole::CatalogueConnection,
};
use tokio_postgres::types::ToSql;

use self::copying::RowCopier;
use super::{
    append::build_append_write, bulk::BlockingConnection, copy_target, numbering, rows::pet_id,
    url::PostgresUrl,
};

/// The lock that prevents other processes from adding animals until the end of the transaction. It is
/// needed if the caller chooses the identifiers: other animals could otherwise take the same ones.
const LOCK_PETS: &str = "LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE";
/// The query for the last identifier that the sequence of animals has given; 0 if it has given none.
const LAST_PET_ID: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids";
/// The query for the first and the last animal of this import. Other processes may have added animals
/// between the two.
const ADDED_PETS: &str = "SELECT min(id), max(id) FROM pets WHERE id > $1 AND created_at = $2";
/// The statements that advance a sequence past the highest imported identifier $1: the sequences of
/// animals, orders, API keys, staff, webhooks and notes. A rollback does not undo them, so after a
/// failed import, identifiers may be skipped.
const CONTINUE_SEQUENCES: [&str; 6] = [
    "SELECT setval('pets_ids', $1) FROM pets_ids WHERE last_value < $1 OR NOT is_called",
    "SELECT setval('orders_ids', $1) FROM orders_ids WHERE last_value < $1 OR NOT is_called",
    "SELECT setval(pg_get_serial_sequence('api_keys', 'id'), $1)",
    "SELECT setval(pg_get_serial_sequence('staff', 'id'), $1)",
    "SELECT setval('webhook_ids', $1) FROM webhook_ids WHERE last_value < $1 OR NOT is_called",
    "SELECT setval('notes_ids', $1) FROM notes_ids WHERE last_value < $1 OR NOT is_called",
];

/// The statement that draws $1 identifiers from the sequence of animals.
const ALLOCATE_IDS: &str = "SELECT nextval('pets_ids') FROM generate_series(1, $1::bigint)";
/// The number of identifiers that are drawn with one [`ALLOCATE_IDS`].
const ID_BATCH_SIZE: i64 = 1_000;

/// A transaction that loads a whole catalogue into a database.
pub struct PostgresLoad {
    copier: RowCopier,
    /// The newest mark at the beginning of the transaction. Marks tell the age of remembered requests.
    newest_mark: i64,
    /// The last identifier that the sequence of animals had given before the import; 0 if it had
    /// given none.
    last_id_before_import: i64,
    /// The counts and the range of identifiers of the rows added so far.
    summary: ImportSummary,
    /// The definitions of the store's fields. They tell which values must be unique.
    fields: FieldSet,
    /// The identifiers that are allocated for the next animals.
    allocated_ids: VecDeque<PetId>,
    /// Whether this import has allocated identifiers, because an animal needed its identifier in
    /// advance. From then on, all animals get allocated ones, so that the identifiers ascend in the
    /// order of the import.
    has_allocated_ids: bool,
    /// The actor of the import, and the time at which its animals are added.
    context: WriteContext,
}

impl PostgresLoad {
    /// Connects to the database at `url`, into which the catalogue is loaded. Blocks the calling thread.
    pub fn open(url: &PostgresUrl, mode: OpenMode) -> Result<Self, OpenError> {
        Ok(Self {
            copier: RowCopier::new(BlockingConnection::open(url, mode)?),
            newest_mark: 0,
            last_id_before_import: 0,
            summary: ImportSummary::default(),
            fields: FieldSet::default(),
            allocated_ids: VecDeque::new(),
            has_allocated_ids: false,
            context: WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH),
        })
    }

    /// Reads the definitions of the store's fields into `self.fields`.
    fn read_fields(&mut self) -> Result<(), StoreError> {
        self.fields = self.copier.connection.run(&(), |connection, ()| {
            fields::read_fields(connection).boxed()
        })?;
        Ok(())
    }

    /// Takes an allocated identifier for the next animal. If none is left, first allocates more.
    /// Identifiers that are left at the end of the import stay unused.
    fn take_pet_id(&mut self) -> Result<PetId, StoreError> {
        if self.allocated_ids.is_empty() {
            self.allocate_ids()?;
        }
        match self.allocated_ids.pop_front() {
            Some(id) => Ok(id),
            // This does not happen: `allocate_ids` has added identifiers.
            None => Err(Failure::Row("id").into()),
        }
    }

    /// Allocates [`ID_BATCH_SIZE`] identifiers for the next animals.
    fn allocate_ids(&mut self) -> Result<(), StoreError> {
        self.has_allocated_ids = true;
        // During a COPY, the connection accepts no query.
        self.copier.finish_copy()?;
        let rows = self
            .copier
            .connection
            .block_on(|client| client.query(ALLOCATE_IDS, &[&ID_BATCH_SIZE]))?;
        for row in &rows {
            let number = row.try_get(0).map_err(Failure::from)?;
            self.allocated_ids.push_back(pet_id(number)?);
        }
        Ok(())
    }

    /// Adds an animal that is listed on the website and has no field values. The database draws its
    /// identifier during the COPY, which is cheaper than [`Self::take_pet_id`].
    fn add_plain_pet(&mut self, pet: &NewPet) -> Result<(), StoreError> {
        let name = pet.name.as_str();
        let status = pet.status.as_str();
        let now = self.context.now.as_millisecond();
        let row: [&(dyn ToSql + Sync); 5] = [&name, &pet.category_id, &status, &now, &now];
        self.summary.count += 1;
        self.copier.copy_row(copy_target::NEW_PETS, &row)
    }

    /// Returns the summary for the log, with the identifiers of the first and the last animal of the
    /// import. If the caller did not choose all identifiers, reads these two from the database.
    fn build_summary(&self) -> Result<ImportSummary, StoreError> {
        let mut summary = self.summary;
        // `summary.last` stays 0 if `add_plain_pet` added all animals.
        let caller_gave_ids = summary.last > 0 && !self.has_allocated_ids;
        if summary.count == 0 || caller_gave_ids {
            return Ok(summary);
        }
        let last_id_before = self.last_id_before_import;
        let now = self.context.now.as_millisecond();
        let row = self.copier.connection.block_on(async |client| {
            client.query_one(ADDED_PETS, &[&last_id_before, &now]).await
        })?;
        summary.first = row.try_get(0).map_err(Failure::from)?;
        summary.last = row.try_get(1).map_err(Failure::from)?;
        Ok(summary)
    }
}

impl Load for PostgresLoad {
    fn begin(&mut self, ids: IdSource, now: Timestamp) -> Result<(), StoreError> {
        self.context.now = now;
        self.copier.connection.block_on(async |client| {
            client.batch_execute("BEGIN").await?;
            // With this row lock, nobody can change the field definitions until the end of the
            // transaction.
            client
                .batch_execute("SELECT 1 FROM field_state FOR SHARE")
                .await?;
            // No other process may take an identifier that the caller gives.
            if ids == IdSource::Given {
                client.batch_execute(LOCK_PETS).await?;
            }
            self.last_id_before_import = client.query_one(LAST_PET_ID, &[]).await?.try_get(0)?;
            self.newest_mark = client.query_one(NEWEST_MARK, &[]).await?.try_get(0)?;
            Ok::<_, tokio_postgres::Error>(())
        })?;
        self.read_fields()
    }

    fn is_empty(&mut self) -> Result<bool, StoreError> {
        self.copier.connection.block_on(async |client| {
            let row = client.query_one(IS_EMPTY, &[]).await?;
            row.try_get(0)
        })
    }

    fn add_pet(
        &mut self,
        id: Option<PetId>,
        pet: &NewPet,
        fields: &FieldValues,
    ) -> Result<(), StoreError> {
        let id = match id {
            Some(id) => id,
            None if fields.is_empty() && pet.is_listed && !self.has_allocated_ids => {
                return self.add_plain_pet(pet);
            }
            None => self.take_pet_id()?,
        };
        let mut new_pet = StorePet::new(id, pet.clone(), self.context.now);
        new_pet.fields = fields.clone();
        self.add_resource(&new_pet.into())
    }

    fn add_resource(&mut self, resource: &Resource) -> Result<(), StoreError> {
        self.summary.add_resource(resource);
        self.copier.copy_resource(resource, &self.fields)
    }

    fn fields(&self) -> &FieldSet {
        &self.fields
    }

    fn set_fields(&mut self, definitions: &[FieldDefinition]) -> Result<(), StoreError> {
        self.copier.finish_copy()?;
        self.copier
            .connection
            .block_on(|client| client.batch_execute(fields::CLEAR))?;
        for definition in definitions {
            self.copier
                .connection
                .run(definition, |connection, definition| {
                    fields::save_field(connection, definition).boxed()
                })?;
        }
        self.read_fields()
    }

    fn fill_profile(&mut self, profile: &Profile) -> Result<bool, StoreError> {
        self.copier.finish_copy()?;
        let is_filled = self.copier.connection.run(profile, |connection, profile| {
            profile::fill_profile(connection, profile).boxed()
        })?;
        Ok(is_filled)
    }

    fn add_request(&mut self, request: &StoredRequest) -> Result<(), StoreError> {
        let newest_mark = self.newest_mark;
        let response = &request.response;
        let row: [&(dyn ToSql + Sync); 10] = [
            &request.caller.0,
            &request.key.as_str(),
            &request.operation,
            &&request.fingerprint[..],
            &i32::from(response.status),
            &response.location,
            &response.etag,
            &response.body,
            &request.created_at.as_second(),
            &newest_mark,
        ];
        self.copier.copy_row(copy_target::REQUESTS, &row)
    }

    fn add_row(
        &mut self,
        table: &'static CopiedTable,
        row: &[Value<'_>],
    ) -> Result<(), StoreError> {
        self.copier.copy_values(table.into(), row)
    }

    fn continue_after(&mut self, last: LastIds) -> Result<(), StoreError> {
        self.copier.flush()?;
        // In the order of `CONTINUE_SEQUENCES`.
        let last_ids = [
            last.pet,
            last.order,
            last.key,
            last.staff,
            last.webhook,
            last.note,
        ];
        for (statement, last_id) in CONTINUE_SEQUENCES.into_iter().zip(last_ids) {
            // 0 stands for a sequence that has not given any identifier.
            if last_id > 0 {
                self.copier
                    .connection
                    .block_on(async |client| client.execute(statement, &[&last_id]).await)?;
            }
        }
        Ok(())
    }

    fn continue_log(&mut self) -> Result<(), StoreError> {
        self.copier.flush()?;
        self.copier
            .connection
            .block_on(async |client| client.batch_execute(numbering::CONTINUE_LOG).await)
    }

    fn log_import(&mut self) -> Result<(), StoreError> {
        self.copier.flush()?;
        if self.summary.is_empty() {
            return Ok(());
        }
        self.copier
            .connection
            .run(&FirstStep::Import, |connection, step| {
                profile::note_step(connection, *step).boxed()
            })?;
        let entry = LogEntry::pets_imported(self.build_summary()?);
        match build_append_write([(&entry, (&self.context).into())]) {
            Some(write) => self.copier.connection.block_on(|client| write.run(client)),
            None => Ok(()),
        }
    }

    fn record_act(&mut self, act: &Act) -> Result<(), StoreError> {
        self.copier.flush()?;
        let input = (act, &self.context);
        self.copier
            .connection
            .run(&input, |connection, (act, context)| {
                record_act(connection, act, context).boxed()
            })?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        self.copier.flush()?;
        self.copier
            .connection
            .block_on(|client| client.batch_execute(fields::END_ALL_EXAMINATIONS))?;

        // The inner result has the error of the driver, which `block_on` would convert.
        let commit_result = self
            .copier
            .connection
            .block_on(async |client| Ok::<_, Failure>(client.batch_execute("COMMIT").await))?;
        let Err(error) = commit_result else {
            return Ok(());
        };
        // If the server itself reports an error, it has not committed. Any other error, such as a
        // broken connection, leaves the outcome unknown.
        let is_rejected = error.as_db_error().is_some();
        let error = StoreError::from(Failure::from(error));
        if is_rejected {
            Err(CommitError::NotDone(error))
        } else {
            Err(CommitError::Unknown(error))
        }
    }
}
