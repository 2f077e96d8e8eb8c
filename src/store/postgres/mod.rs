//! The store for many machines: a PostgreSQL cluster, or a compatible engine.
//!
//! Every operation can be retried after its connection broke, without being done twice: a create
//! has a token or the client's idempotency key, and all other operations are idempotent.

mod bulk;
mod check;
mod connect;
mod copy_target;
mod errors;
mod indexes;
mod keys;
mod load;
mod log;
mod migrations;
mod name_keys;
mod numbering;
mod pets;
mod pool;
mod probe;
mod requests;
mod rows;
mod snapshot;
mod staff;
mod store_area;
mod tls;
mod tokens;
mod url;
mod webhooks;
mod writes;

use std::{
    mem,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use tokio::{sync::Semaphore, time};

pub(super) use self::check::check;
use self::{
    connect::{Connector, Session, Unreachable},
    errors::Remedy,
    pool::{Access, Connection, Pool, Try},
    tokens::Tokens,
};
pub use self::{load::PostgresLoad, snapshot::PostgresSnapshot, url::PostgresUrl};
use super::{Cause, Health, OpenError, OpenMode, StoreError};
use crate::observe::metrics::Exposition;

/// How long an operation may take, including retries.
const DONE_WITHIN: Duration = Duration::from_secs(5);

/// The pause before the second attempt. Each further pause is twice as long, up to the maximum, and
/// multiplied by a random factor from 0.5 to 1.5.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);

/// A catalogue in a PostgreSQL database.
pub struct PostgresStore {
    pool: Pool,
    tokens: Tokens,
    /// Runs one probe at a time, so that readiness checks use at most one connection.
    probes: Semaphore,
    etag_key: [u8; 32],
    /// Whether the indexes that the search needs are known to be complete.
    can_search: AtomicBool,
    /// Spreads the pauses, so that transactions that conflicted do not conflict again.
    random: Mutex<StdRng>,
}

impl PostgresStore {
    /// Connects to the database at `url`. The store opens at most `connections` connections. After
    /// an error, nothing was changed.
    pub async fn open(
        url: &PostgresUrl,
        mode: OpenMode,
        connections: NonZeroU32,
        random: &mut impl Rng,
    ) -> Result<Self, OpenError> {
        let failed = |cause: Cause| OpenError::Io { path: url.to_string(), cause };
        let (connector, session) = prepare(url, mode).await?;
        let key = session.client.query_one("SELECT key FROM etag_key", &[]).await;
        let key = key.and_then(|row| row.try_get::<_, Vec<u8>>(0));
        let key = key.map_err(|error| migrations::cannot_open(&url.to_string(), &error))?;
        Ok(Self {
            pool: Pool::new(connector, connections).map_err(|error| failed(Arc::new(error)))?,
            tokens: Tokens::default(),
            probes: Semaphore::new(1),
            etag_key: key.try_into().map_err(|_| failed(Arc::new(BadKey)))?,
            can_search: AtomicBool::default(),
            random: Mutex::new(StdRng::from_rng(random)),
        })
    }

    /// Runs `work` on `what`, with retries. `work` must have the same result however often it runs,
    /// even if it is unknown whether an earlier attempt succeeded.
    async fn run<W: Send, T>(
        &self,
        access: Access,
        what: W,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Try<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        self.run_within(DONE_WITHIN, access, what, work).await
    }

    /// The same with another time limit.
    async fn run_within<W: Send, T>(
        &self,
        limit: Duration,
        access: Access,
        mut what: W,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Try<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        // Whether an attempt may have succeeded.
        let mut may_be_done = false;
        let mut last = None;
        let trying = async {
            let mut pause = FIRST_PAUSE;
            loop {
                let (error, again) = match self.pool.lease(access).await {
                    Ok(lease) => {
                        let earlier_may_be = mem::replace(&mut may_be_done, true);
                        match lease.use_for(&work, &mut what).await {
                            Ok(done) => return Ok(done),
                            Err(failure) => {
                                may_be_done = earlier_may_be || !failure.is_certain();
                                let remedy = failure.remedy();
                                if remedy == Remedy::Reconnect {
                                    self.pool.distrust_all();
                                }
                                let again = matches!(remedy, Remedy::Repeat | Remedy::Reconnect);
                                (StoreError::from(failure), again)
                            }
                        }
                    }
                    // After a failed attempt, this retries to learn the outcome. Before the first
                    // one, it fails at once if the database is unreachable.
                    Err(error) => (error, last.is_some()),
                };
                if !again {
                    return Err(error);
                }
                last = Some(error);
                time::sleep(self.around(pause)).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
        };
        let error = match time::timeout(limit, trying).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error,
            Err(_) => last.unwrap_or(StoreError::Unavailable(Arc::new(TooSlow(limit)))),
        };
        // The last failure says nothing about earlier attempts.
        Err(match error {
            known if !may_be_done || access == Access::Read => known,
            StoreError::Unavailable(cause)
            | StoreError::OutcomeUnknown(cause)
            | StoreError::Internal(cause) => StoreError::OutcomeUnknown(cause),
            StoreError::Overloaded => StoreError::OutcomeUnknown(Arc::new(StoreError::Overloaded)),
        })
    }

    fn around(&self, pause: Duration) -> Duration {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        pause.mul_f64(random.random_range(0.5..1.5))
    }
}

/// Connects to the database at `url`, and migrates its schema if `mode` allows.
async fn prepare(url: &PostgresUrl, mode: OpenMode) -> Result<(Connector, Session), OpenError> {
    let shown = url.to_string();
    let failed = |cause: Cause| OpenError::Io { path: shown.clone(), cause };
    let connector = Connector::new(url)
        .map_err(|error| OpenError::BadSetting { path: shown.clone(), what: error.to_string() })?;
    let mut session = connector.connect().await.map_err(|error| failed(Arc::new(error)))?;
    let encoding = session.client.query_one("SHOW server_encoding", &[]).await;
    let encoding: Result<String, _> = encoding.and_then(|row| row.try_get(0));
    let encoding = encoding.map_err(|error| migrations::cannot_open(&shown, &error))?;
    if !["UTF8", "utf8"].contains(&encoding.as_str()) {
        let reason = format!("its encoding is {encoding}, but must be UTF8");
        return Err(failed(Arc::new(Unreachable::new(reason))));
    }
    migrations::run(&mut session, mode, &shown).await?;
    Ok((connector, session))
}

#[derive(Debug, thiserror::Error)]
#[error("the database did not respond within {} seconds", .0.as_secs())]
struct TooSlow(Duration);

#[derive(Debug, thiserror::Error)]
#[error("the key in etag_key does not have 32 bytes")]
struct BadKey;

#[async_trait]
impl Health for PostgresStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        let _permit = self.probes.acquire().await;
        self.run(Access::Write, (), |on, ()| probe::probe(on).boxed()).await
    }

    fn expose(&self, page: &mut Exposition) {
        self.pool.expose(page);
    }
}
