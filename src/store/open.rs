//! Opens a database of either kind.

use std::{num::NonZeroU32, sync::Arc};

use rand::Rng;

use super::{DatabaseUrl, OpenError, Store, postgres, sqlite};

/// How to treat a database that does not exist, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this:
    /// otherwise a command could change the schema under a running service.
    CreateAndMigrate,
    /// Create a missing database, and reject an older one.
    Create,
    /// Reject a missing database, and an older one.
    AsIs,
}

/// Opens the store at `url`, and migrates it if `mode` allows. Opening a SQLite file blocks. For
/// PostgreSQL, `connections` is the maximum number of open connections, and `random` spreads
/// retries. After an error, nothing was changed.
pub async fn open(
    url: &DatabaseUrl,
    mode: OpenMode,
    connections: NonZeroU32,
    random: &mut impl Rng,
) -> Result<Arc<dyn Store>, OpenError> {
    Ok(match url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::SqliteStore::open(path, mode)?),
        DatabaseUrl::Postgres(url) => {
            Arc::new(postgres::PostgresStore::open(url, mode, connections, random).await?)
        }
    })
}
