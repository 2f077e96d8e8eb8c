//! Chooses the SQLite or the PostgreSQL store by the URL of a database.

mod database_url;

use std::{num::NonZeroU32, sync::Arc};

use futures_util::future::BoxFuture;
use petstore_domain::store_area::FieldSet;
use petstore_store::{
    Checkup, OpenError, OpenMode, Store, StoreError,
    bulk::{Load, Snapshot},
};
use petstore_store_postgres as postgres;
use petstore_store_sqlite as sqlite;
use rand::rngs::StdRng;

pub use self::database_url::DatabaseUrl;

/// Opens the store at `url`. Creates or migrates the database if `mode` allows this. If opening
/// fails, the database is unchanged.
///
/// For PostgreSQL, `connections` is the maximum size of the connection pool, and `random` adds
/// jitter to retries. Opening a SQLite file blocks the thread.
///
/// The future is boxed, and this function is never inlined. The code of the stores is then compiled
/// once, in this crate, and not again in each crate that opens a store.
#[inline(never)]
pub fn open<'a>(
    url: &'a DatabaseUrl,
    mode: OpenMode,
    connections: NonZeroU32,
    random: &'a mut StdRng,
) -> BoxFuture<'a, Result<Arc<dyn Store>, OpenError>> {
    Box::pin(open_store(url, mode, connections, random))
}

/// Opens the store. See [`open`].
async fn open_store(
    url: &DatabaseUrl,
    mode: OpenMode,
    connections: NonZeroU32,
    random: &mut StdRng,
) -> Result<Arc<dyn Store>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => {
            let store = sqlite::SqliteStore::open(path, mode)?;
            Ok(Arc::new(store))
        }
        DatabaseUrl::Postgres(url) => {
            let store = postgres::PostgresStore::open(url, mode, connections, random).await?;
            Ok(Arc::new(store))
        }
    }
}

/// Opens a consistent, read-only snapshot of the database at `url`, for example for an export.
///
/// # Errors
///
/// See [`OpenError`]. A missing database is not created.
pub fn open_snapshot(url: &DatabaseUrl) -> Result<Box<dyn Snapshot>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => Ok(Box::new(sqlite::snapshot(path)?)),
        DatabaseUrl::Postgres(url) => Ok(Box::new(postgres::snapshot(url)?)),
    }
}

/// Opens the database at `url` to load data into it in bulk, for example for an import. `mode` must
/// not allow a migration, because an older service may be using the database.
///
/// # Errors
///
/// See [`OpenError`]. The database is unchanged after an error.
pub fn open_load(url: &DatabaseUrl, mode: OpenMode) -> Result<Box<dyn Load>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => Ok(Box::new(sqlite::SqliteLoad::open(path, mode)?)),
        DatabaseUrl::Postgres(url) => Ok(Box::new(postgres::PostgresLoad::open(url, mode)?)),
    }
}

/// Returns the predefined fields of a new database, which both stores have in common.
pub fn fields_of_new_database() -> Result<FieldSet, StoreError> {
    Ok(sqlite::fields_of_new_database()?)
}

/// Checks the integrity of the database at `url`. The check reads the whole database, changes
/// nothing, and blocks the thread.
///
/// Damage in a database that can be opened is not an error, but a problem in the [`Checkup`].
pub fn check(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::check(path),
        DatabaseUrl::Postgres(url) => postgres::check(url),
    }
}
