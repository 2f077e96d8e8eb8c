//! Chooses the store for the URL of a database: opens the database, reads it, fills it or checks it.

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

/// Opens the store at `url`, and migrates it if `mode` allows. Opening a SQLite file blocks. For
/// PostgreSQL, `connections` is the maximum number of open connections, and `random` spreads
/// retries. After an error, nothing was changed.
///
/// The future is boxed, and this function is never inlined, so that the stores are compiled in this crate, and not again
/// in each crate that opens one.
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

/// Opens a snapshot of the database at `url`.
///
/// # Errors
///
/// See [`OpenError`]. A missing database is not created.
pub fn snapshot(url: &DatabaseUrl) -> Result<Box<dyn Snapshot>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => Ok(Box::new(sqlite::snapshot(path)?)),
        DatabaseUrl::Postgres(url) => Ok(Box::new(postgres::snapshot(url)?)),
    }
}

/// Opens the database at `url` to add to it. `mode` must not be
/// [`OpenMode::CreateAndMigrate`]: a service may use an older database.
///
/// # Errors
///
/// See [`OpenError`]. After an error, nothing was changed.
pub fn load(url: &DatabaseUrl, mode: OpenMode) -> Result<Box<dyn Load>, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => Ok(Box::new(sqlite::SqliteLoad::open(path, mode)?)),
        DatabaseUrl::Postgres(url) => Ok(Box::new(postgres::PostgresLoad::open(url, mode)?)),
    }
}

/// Returns the fields that a new database has.
pub fn fields_of_new_database() -> Result<FieldSet, StoreError> {
    Ok(sqlite::fields_of_new_database()?)
}

/// Reads everything in the database at `url`, without changes. Blocks until it is done. Damage to a
/// database that can be opened is not an error, but a result.
pub fn check(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::check(path),
        DatabaseUrl::Postgres(url) => postgres::check(url),
    }
}
