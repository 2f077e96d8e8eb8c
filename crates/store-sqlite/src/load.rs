//! Bulk-loads a whole catalogue in one transaction, on its own connection.
//!
//! The transaction holds the write lock from beginning to end, so that a service on the same file
//! cannot add animals in the meantime. Its reads continue.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

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
    journal_rows::{ImportSummary, LogEntry},
    request_rows::REMEMBER,
};
use rusqlite::{ErrorCode, OpenFlags, config::DbConfig, params, params_from_iter};

use super::{
    connection::Connection,
    file::Files,
    file_identity::{files_of, remove_if_present},
    journal,
    migrations::{self, DatabaseKind},
    newest::Newest,
    opening::{self, WritableDatabase},
    pets, rows,
    store_area::{changes, fields as store_fields},
    transaction::resolve_now,
};

/// How long to wait for the write lock. This is longer than usual, because the writer of a busy service
/// takes the lock again as soon as it has released it.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// The size of the page cache: 64 MiB (to SQLite, a negative value is a size in KiB). As long as the
/// cache can hold all changed pages, each is written to the WAL only once.
const CACHE_SIZE: i64 = -64 << 10;

/// The statement that raises the last identifier of a table. It updates no row if the table never
/// assigned an identifier.
const UPDATE_LAST_ID: &str = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1";
const UPDATE_LAST_WEBHOOK: &str = "UPDATE webhook_ids SET last = max(last, ?1)";
/// The statement that sets the last identifier of a table that never assigned one.
const INSERT_LAST_ID: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";

/// A transaction that loads a whole catalogue into a file.
pub struct SqliteLoad {
    connection: Connection,
    files: Files,
    /// The counts and the range of identifiers of the rows added so far.
    summary: ImportSummary,
    /// The definitions of the store's fields. They determine which values must be unique.
    fields: FieldSet,
    /// The actor of the import, and the time at which its animals are added.
    context: WriteContext,
    /// The guard of the new database, if this has created one. It is the last field, because it
    /// must be dropped after the connection is closed.
    new_database: NewDatabase,
}

/// A guard that removes the files of a new database when dropped, unless something was committed.
struct NewDatabase {
    /// The path of the database; `None` if it existed before, or is to be kept.
    path: Option<PathBuf>,
}

impl NewDatabase {
    /// Keeps the files of the database.
    fn keep(&mut self) {
        self.path = None;
    }
}

impl Drop for NewDatabase {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // If this fails, an empty database remains, which is harmless.
            let _ = remove_if_empty(path);
        }
    }
}

/// Removes the files of a database if it is empty, and no other process has it open.
fn remove_if_empty(path: &Path) -> io::Result<()> {
    // SQLite keeps the companion files next to the file itself, not next to a link to it.
    let real_path = path.canonicalize()?;
    let connection = open_exclusively(&real_path).map_err(io::Error::other)?;
    if !is_empty(&connection).map_err(io::Error::other)? {
        return Ok(());
    }
    // Remove the database file, which is the first one, last. Otherwise, a failure midway could leave a
    // companion file without its database, which SQLite would use for the next database of that name.
    for file_path in files_of(&real_path).iter().rev() {
        remove_if_present(file_path)?;
    }
    Ok(())
}

/// Opens a database in exclusive mode: the first read takes a lock, and fails if any other process has
/// the database open. A process that opens it later finds out before its first commit that the file is
/// gone.
fn open_exclusively(path: &Path) -> rusqlite::Result<Connection> {
    let connection = opening::open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    Ok(connection)
}

/// Whether a database has no content: neither a schema of another program, nor animals, orders or
/// other rows.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    match migrations::read_kind(connection)? {
        DatabaseKind::Empty => Ok(true),
        DatabaseKind::Version(_) => connection.query_row(IS_EMPTY, [], |row| row.get(0)),
        DatabaseKind::OfAnotherProgram => Ok(false),
    }
}

impl SqliteLoad {
    /// Opens the database at `path`, or creates it if `mode` allows, to add data to it. Blocks the
    /// calling thread.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        let new_database = match path.try_exists() {
            Ok(false) => NewDatabase {
                path: Some(path.to_owned()),
            },
            // If it is unknown whether the file exists, it is not removed.
            _ => NewDatabase { path: None },
        };
        let WritableDatabase {
            mut connection,
            wal_index,
        } = opening::open_for_writing(path, mode)?;
        let path_text = path.display().to_string();
        let files = Files::open(path, wal_index).map_err(|error| OpenError::Io {
            path: path_text.clone(),
            cause: Arc::new(error),
        })?;
        let to_open_error = |error| opening::open_error(&path_text, error);
        let ignore_long_wait = || {};
        opening::wait_for_locks(&mut connection, LOCK_TIMEOUT, ignore_long_wait)
            .map_err(to_open_error)?;
        connection
            .pragma_update(None, "cache_size", CACHE_SIZE)
            .map_err(to_open_error)?;
        Ok(Self {
            connection,
            files,
            summary: ImportSummary::default(),
            fields: FieldSet::default(),
            context: WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH),
            new_database,
        })
    }
}

impl Load for SqliteLoad {
    /// The source of the identifiers does not matter, because nobody else can add animals during
    /// the import.
    fn begin(&mut self, _: IdSource, now: Timestamp) -> Result<(), StoreError> {
        self.context.now = now;
        // An API key can be added before its successor, to which its foreign key refers. So check the
        // foreign keys only at the commit.
        self.connection
            .execute_batch("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON")?;
        self.fields = store_fields::read_definitions(&self.connection)?;
        Ok(())
    }

    fn is_empty(&mut self) -> Result<bool, StoreError> {
        Ok(self.connection.query_row(IS_EMPTY, [], |row| row.get(0))?)
    }

    fn add_pet(
        &mut self,
        id: Option<PetId>,
        pet: &NewPet,
        fields: &FieldValues,
    ) -> Result<(), StoreError> {
        let id = match id {
            Some(id) => id,
            // The fast statement writes neither values nor the mark of an unlisted animal.
            None if fields.is_empty() && pet.is_listed => {
                let id = pets::insert_row(&self.connection, pet, self.context.now)?;
                self.summary.add_pet(id);
                return Ok(());
            }
            None => rows::pet_id(pets::next_id(&self.connection)?)?,
        };
        let mut new_pet = StorePet::new(id, pet.clone(), self.context.now);
        new_pet.fields = fields.clone();
        self.add_resource(&new_pet.into())
    }

    fn add_resource(&mut self, resource: &Resource) -> Result<(), StoreError> {
        self.summary.add_resource(resource);
        store_fields::insert_owners(&self.connection, &self.fields, resource)?;
        changes::write_photos(&self.connection, None, Some(resource))?;
        Ok(changes::insert_resource(&self.connection, resource)?)
    }

    fn fields(&self) -> &FieldSet {
        &self.fields
    }

    fn set_fields(&mut self, definitions: &[FieldDefinition]) -> Result<(), StoreError> {
        self.connection.execute_batch(fields::CLEAR)?;
        for definition in definitions {
            resolve_now(fields::save_field(&mut self.connection, definition).boxed())?;
        }
        self.fields = store_fields::read_definitions(&self.connection)?;
        Ok(())
    }

    fn fill_profile(&mut self, profile: &Profile) -> Result<bool, StoreError> {
        let fill = profile::fill_profile(&mut self.connection, profile);
        Ok(resolve_now(fill.boxed())?)
    }

    fn add_request(&mut self, request: &StoredRequest) -> Result<(), StoreError> {
        let response = &request.response;
        self.connection.prepare_cached(REMEMBER)?.execute(params![
            request.caller.0,
            request.key.as_str(),
            request.operation,
            request.fingerprint,
            response.status,
            response.location,
            response.etag,
            response.body,
            request.created_at.as_second()
        ])?;
        Ok(())
    }

    fn add_row(
        &mut self,
        table: &'static CopiedTable,
        row: &[Value<'_>],
    ) -> Result<(), StoreError> {
        let CopiedTable { name, columns, .. } = table;
        let values = vec!["?"; row.len()].join(", ");
        let insert = format!("INSERT INTO {name} ({columns}) VALUES ({values})");
        self.connection
            .prepare_cached(&insert)?
            .execute(params_from_iter(row))?;
        Ok(())
    }

    fn continue_after(&mut self, last: LastIds) -> Result<(), StoreError> {
        let last_ids = [
            ("pets", last.pet),
            ("orders", last.order),
            ("api_keys", last.key),
            ("staff", last.staff),
            ("notes", last.note),
        ];
        for (table, last_id) in last_ids {
            let has_assigned_ids = last_id > 0;
            if !has_assigned_ids {
                continue;
            }
            let parameters = params![table, last_id];
            let updated_rows = self.connection.execute(UPDATE_LAST_ID, parameters)?;
            if updated_rows == 0 {
                self.connection.execute(INSERT_LAST_ID, parameters)?;
            }
        }
        self.connection
            .execute(UPDATE_LAST_WEBHOOK, [last.webhook])?;
        Ok(())
    }

    fn continue_log(&mut self) -> Result<(), StoreError> {
        Ok(journal::renew_epoch(&self.connection)?)
    }

    fn log_import(&mut self) -> Result<(), StoreError> {
        if self.summary.is_empty() {
            return Ok(());
        }
        let entry = LogEntry::pets_imported(self.summary);
        // The cache can start empty, because this connection appends no other change to the log.
        let mut newest = Newest::default();
        journal::append(
            &self.connection,
            &mut newest,
            &entry,
            (&self.context).into(),
        )?;
        // On SQLite, the future is ready at once.
        resolve_now(profile::note_step(&mut self.connection, FirstStep::Import).boxed())?;
        Ok(())
    }

    fn record_act(&mut self, act: &Act) -> Result<(), StoreError> {
        let record = record_act(&mut self.connection, act, &self.context);
        Ok(resolve_now(record.boxed())?)
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        // An examination of a field must not miss the values that the load has added.
        self.connection
            .execute(fields::END_ALL_EXAMINATIONS, [])
            .map_err(StoreError::from)?;
        // If another program has replaced a file, nothing is committed. If this is found only after
        // the commit, its outcome is unknown.
        self.files.check().map_err(StoreError::from)?;
        if let Err(error) = self.connection.execute_batch("COMMIT") {
            // On a full disk, the end of the transaction is not in the WAL, so it is not committed.
            if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
                return Err(CommitError::NotDone(error.into()));
            }
            // The transaction may be in the WAL, so keep the new database here as well.
            self.new_database.keep();
            return Err(CommitError::Unknown(error.into()));
        }
        self.new_database.keep();
        self.files
            .check()
            .map_err(|change| CommitError::Unknown(change.into()))
    }
}
