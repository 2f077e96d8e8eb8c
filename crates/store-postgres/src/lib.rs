//! The store for deployments on several machines: a PostgreSQL cluster, or a compatible engine.
//!
//! If the connection of an operation breaks, the operation is retried only if this is safe:
//!
//! - An operation that has the same effect when it runs twice simply runs again.
//! - Most other operations store a token, or the client's idempotency key, in each attempt. By the
//!   token or the key, a retry finds out what an earlier attempt did (`creates.rs`, `requests.rs`,
//!   `write_attempts.rs`).
//! - A command without an idempotency key stores neither. It is not retried, and reports that its
//!   outcome is unknown (`commands/group_writes.rs`).

mod append;
mod bulk;
mod check;
mod commands;
mod connect;
mod connection;
mod copy_target;
mod creates;
mod journal;
mod load;
mod migrations;
mod numbering;
mod pets;
mod pool;
mod probe;
mod queue;
mod requests;
mod rows;
mod runner;
mod sql;
mod store_area;
mod tls;
mod tokens;
mod transaction;
mod url;
mod write_attempts;
mod writes;

use std::{num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use futures_util::FutureExt;
use petstore_observe::metrics::Exposition;
use petstore_store::{Cause, Health, OpenError, OpenMode, StoreError, cause};
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::Semaphore;
use tokio_postgres::types::FromSql;

pub use self::{bulk::snapshot, check::check, load::PostgresLoad, url::PostgresUrl};

use self::{
    commands::Commands,
    connect::{Connector, Session, Unreachable},
    creates::Creates,
    pool::{Access, Pool},
    runner::Runner,
};

/// The store of a service, in a PostgreSQL database.
pub struct PostgresStore {
    runner: Arc<Runner>,
    /// The queue of animals to add.
    creates: Creates,
    /// The queue of requests with a single command.
    commands: Commands,
    /// The permit for a readiness probe. Only one runs at a time, so that probes use at most one
    /// connection.
    probes: Semaphore,
    /// The key with which the service computes `ETag` headers.
    etag_key: [u8; 32],
}

impl PostgresStore {
    /// Connects to the database at `url`, and migrates its schema if `mode` allows. The pool has at most
    /// `max_connections` connections. A failed migration leaves the database unchanged.
    pub async fn open(
        url: &PostgresUrl,
        mode: OpenMode,
        max_connections: NonZeroU32,
        random: &mut StdRng,
    ) -> Result<Self, OpenError> {
        let PreparedDatabase { connector, session } = prepare_database(url, mode).await?;
        let etag_key = read_etag_key(&session, url).await?;
        // The pool opens sessions of its own.
        drop(session);
        let pool = Pool::new(connector, max_connections)
            .map_err(|error| open_error(url, Arc::new(error)))?;
        let runner = Arc::new(Runner::new(pool, StdRng::from_rng(random)));
        let creates = Creates::start(Arc::clone(&runner), creates::run_worker);
        let commands = Commands::start(Arc::clone(&runner), commands::run_worker);
        Ok(Self {
            runner,
            creates,
            commands,
            probes: Semaphore::new(1),
            etag_key,
        })
    }
}

/// A database with the encoding and the schema that the store needs.
struct PreparedDatabase {
    connector: Connector,
    session: Session,
}

/// Connects to the database at `url`, checks its encoding, and migrates its schema if `mode` allows.
async fn prepare_database(
    url: &PostgresUrl,
    mode: OpenMode,
) -> Result<PreparedDatabase, OpenError> {
    let url_text = url.to_string();
    let connector = Connector::new(url).map_err(|error| OpenError::BadSetting {
        path: url_text.clone(),
        what: error.to_string(),
    })?;
    let mut session = connector
        .connect()
        .await
        .map_err(|error| error.into_open_error(&url_text))?;

    let encoding: String = query_value(&session, "SHOW server_encoding")
        .await
        .map_err(|error| Unreachable::from(&error).into_open_error(&url_text))?;
    // PostgreSQL writes the name in capitals, but not every compatible engine does.
    if !encoding.eq_ignore_ascii_case("UTF8") {
        let what = format!(
            "its encoding is {encoding}, but must be UTF8; create another database with \
             createdb --encoding UTF8 --template template0"
        );
        return Err(OpenError::BadSetting {
            path: url_text,
            what,
        });
    }
    migrations::run(&mut session, mode, &url_text).await?;
    Ok(PreparedDatabase { connector, session })
}

/// Reads the key with which the service computes `ETag` headers. The key is stored in the database, so
/// that all instances of the service compute the same headers.
async fn read_etag_key(session: &Session, url: &PostgresUrl) -> Result<[u8; 32], OpenError> {
    let key: Vec<u8> = query_value(session, "SELECT key FROM etag_key")
        .await
        .map_err(|error| Unreachable::from(&error).into_open_error(&url.to_string()))?;
    key.try_into().map_err(|_| {
        let error = cause("the key in etag_key does not have 32 bytes");
        open_error(url, error)
    })
}

/// Runs a query without parameters, and returns the first column of its only row.
async fn query_value<T: for<'r> FromSql<'r>>(
    session: &Session,
    sql: &str,
) -> Result<T, tokio_postgres::Error> {
    session.client.query_one(sql, &[]).await?.try_get(0)
}

/// Returns the error for a database at `url` that cannot be opened because of `error`.
fn open_error(url: &PostgresUrl, error: Cause) -> OpenError {
    OpenError::Io {
        path: url.to_string(),
        cause: error,
    }
}

#[async_trait]
impl Health for PostgresStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        // This is always `Ok`, because the semaphore is never closed.
        let _permit = self.probes.acquire().await;
        // The probe locks a row like a write, so it needs the same kind of access.
        self.runner
            .run(Access::Write, (), |connection, ()| {
                probe::check_writable(connection).boxed()
            })
            .await
    }

    /// Waits forever, because no error is fatal: an unreachable server may come back at any time.
    async fn wait_for_fatal_error(&self) -> StoreError {
        std::future::pending().await
    }

    fn expose(&self, exposition: &mut Exposition) {
        self.runner.pool.expose(exposition);
    }
}
