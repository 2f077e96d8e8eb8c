//! The store for many machines: a PostgreSQL cluster, or a compatible engine.
//!
//! Every operation can be retried after its connection broke, without being done twice: a create
//! has a token or the client's idempotency key, a write of administration has a token (`sql.rs`), and
//! all other operations are idempotent.

mod append;
mod bulk;
mod check;
mod commands;
mod connect;
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
mod url;
mod writes;

use std::{num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use futures_util::FutureExt;
use petstore_observe::metrics::Exposition;
use petstore_store::{Cause, Health, OpenError, OpenMode, StoreError, cause};
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::Semaphore;

pub use self::{bulk::snapshot, check::check};
use self::{
    commands::Commands,
    connect::{Connector, Session},
    creates::Creates,
    pool::{Access, Pool},
    runner::Runner,
};
pub use self::{load::PostgresLoad, url::PostgresUrl};

/// A catalogue in a PostgreSQL database.
pub struct PostgresStore {
    runner: Arc<Runner>,
    creates: Creates,
    commands: Commands,
    /// Runs one probe at a time, so that readiness checks use at most one connection.
    probes: Semaphore,
    etag_key: [u8; 32],
}

impl PostgresStore {
    /// Connects to the database at `url`. The store opens at most `connections` connections. After
    /// an error, nothing was changed.
    pub async fn open(
        url: &PostgresUrl,
        mode: OpenMode,
        connections: NonZeroU32,
        random: &mut StdRng,
    ) -> Result<Self, OpenError> {
        let failed = |cause: Cause| OpenError::Io {
            path: url.to_string(),
            cause,
        };
        let (connector, session) = prepare(url, mode).await?;
        let key = session
            .client
            .query_one("SELECT key FROM etag_key", &[])
            .await;
        let key = key.and_then(|row| row.try_get::<_, Vec<u8>>(0));
        let key = key.map_err(|error| migrations::cannot_open(&url.to_string(), &error))?;
        let pool = Pool::new(connector, connections).map_err(|error| failed(Arc::new(error)))?;
        let runner = Arc::new(Runner::new(pool, StdRng::from_rng(random)));
        Ok(Self {
            creates: Creates::start(Arc::clone(&runner), creates::work),
            commands: Commands::start(Arc::clone(&runner), commands::work),
            runner,
            probes: Semaphore::new(1),
            etag_key: key
                .try_into()
                .map_err(|_| failed(cause("the key in etag_key does not have 32 bytes")))?,
        })
    }
}

/// Connects to the database at `url`, and migrates its schema if `mode` allows.
async fn prepare(url: &PostgresUrl, mode: OpenMode) -> Result<(Connector, Session), OpenError> {
    let shown = url.to_string();
    let connector = Connector::new(url).map_err(|error| OpenError::BadSetting {
        path: shown.clone(),
        what: error.to_string(),
    })?;
    let mut session = connector
        .connect()
        .await
        .map_err(|error| error.opening(&shown))?;
    let encoding = session.client.query_one("SHOW server_encoding", &[]).await;
    let encoding: Result<String, _> = encoding.and_then(|row| row.try_get(0));
    let encoding = encoding.map_err(|error| migrations::cannot_open(&shown, &error))?;
    if !["UTF8", "utf8"].contains(&encoding.as_str()) {
        let what = format!(
            "its encoding is {encoding}, but must be UTF8; create another database with \
             createdb --encoding UTF8 --template template0"
        );
        return Err(OpenError::BadSetting { path: shown, what });
    }
    migrations::run(&mut session, mode, &shown).await?;
    Ok((connector, session))
}

fn cannot_read(url: &PostgresUrl, error: StoreError) -> OpenError {
    OpenError::Io {
        path: url.to_string(),
        cause: Arc::new(error),
    }
}

#[async_trait]
impl Health for PostgresStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        let _permit = self.probes.acquire().await;
        self.runner
            .run(Access::Write, (), |on, ()| probe::probe(on).boxed())
            .await
    }

    /// A server can always come back.
    async fn wait_for_end(&self) -> StoreError {
        std::future::pending().await
    }

    fn expose(&self, page: &mut Exposition) {
        self.runner.pool.expose(page);
    }
}
