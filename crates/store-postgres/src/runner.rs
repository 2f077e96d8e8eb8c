//! Runs operations over pooled connections, with retries and a time limit. Also draws the tokens by
//! which retries recognise earlier attempts, because it owns the source of randomness.

use std::{
    mem,
    sync::atomic::{AtomicU64, Ordering::Release},
    time::Duration,
};

use parking_lot::Mutex;
use petstore_store::{StoreError, cause, drivers::postgres::Remedy};
use rand::{RngExt, rngs::StdRng};
use tokio::time;

use super::{
    connection::Connection,
    pool::{Access, Attempt, Pool},
};

/// The time limit of an operation, including its retries.
const OPERATION_LIMIT: Duration = Duration::from_secs(5);

/// The backoff before the first retry. It doubles with each retry, up to [`MAX_BACKOFF`]. Each pause is
/// the backoff multiplied by a random factor from 0.5 to 1.5.
const INITIAL_BACKOFF: Duration = Duration::from_millis(10);
const MAX_BACKOFF: Duration = Duration::from_millis(320);

/// Runs operations over the connections of a pool, with retries.
pub(super) struct Runner {
    pub(super) pool: Pool,
    /// The source of randomness for tokens, and for the jitter of pauses, which keeps conflicting
    /// transactions from retrying in lockstep.
    random: Mutex<StdRng>,
    /// The number of operations that may have written and are over, even if they failed. It is for
    /// [`petstore_store::Pets::ended_writes`].
    pub(super) ended_writes: AtomicU64,
}

/// Whether the attempts of an operation so far may have taken effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// No attempt had an effect.
    NotDone,
    /// An attempt may have taken effect, for example a commit whose response was lost.
    MayBeDone,
}

/// What is known about the attempts of an operation so far. It is kept outside of the future that makes
/// the attempts, so that it is still available after a timeout drops that future.
struct Attempts {
    effect: Effect,
    /// The error of the last attempt; `None` until an attempt has failed.
    last_error: Option<StoreError>,
}

impl Runner {
    /// Creates a runner for the connections of this pool.
    pub(super) fn new(pool: Pool, random: StdRng) -> Self {
        Self {
            pool,
            random: Mutex::new(random),
            ended_writes: AtomicU64::default(),
        }
    }

    /// Runs `work` with `input`, with retries, for at most [`OPERATION_LIMIT`]. Returns the result of the
    /// first successful attempt.
    ///
    /// `work` must be idempotent, because it runs again if the response to a successful attempt is lost.
    pub(super) async fn run<I: Send, T>(
        &self,
        access: Access,
        input: I,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut I) -> Attempt<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        self.run_with_limit(OPERATION_LIMIT, access, input, work)
            .await
    }

    /// Runs `work` like [`Self::run`], for at most `limit`.
    ///
    /// If a write fails after an attempt that may have taken effect, the error says that the outcome is
    /// unknown.
    pub(super) async fn run_with_limit<I: Send, T>(
        &self,
        limit: Duration,
        access: Access,
        mut input: I,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut I) -> Attempt<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        let mut attempts = Attempts {
            effect: Effect::NotDone,
            last_error: None,
        };
        let retries = self.run_with_retries(access, &mut input, &work, &mut attempts);
        let result = time::timeout(limit, retries).await;
        if access != Access::Read {
            // `Release` pairs with the `Acquire` with which `PostgresStore::ended_writes` reads
            // this.
            self.ended_writes.fetch_add(1, Release);
        }

        let error = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => attempts.last_error.unwrap_or_else(|| timeout_error(limit)),
        };
        // `error` comes from the last attempt. An earlier attempt may still have taken effect.
        match attempts.effect {
            Effect::MayBeDone if access != Access::Read => Err(error.into_unknown_outcome()),
            Effect::MayBeDone | Effect::NotDone => Err(error),
        }
    }

    /// Runs `work` until an attempt succeeds, or fails with an error that a retry cannot fix. Keeps
    /// `attempts` up to date, because the caller may drop this future at any time.
    async fn run_with_retries<I: Send, T>(
        &self,
        access: Access,
        input: &mut I,
        work: &(impl for<'t> Fn(&'t mut Connection, &'t mut I) -> Attempt<'t, T> + Sync),
        attempts: &mut Attempts,
    ) -> Result<T, StoreError> {
        let mut backoff = INITIAL_BACKOFF;
        loop {
            let is_first_attempt = attempts.last_error.is_none();
            match self.pool.lease(access).await {
                Ok(lease) => {
                    // Until the attempt returns, its outcome is unknown: this future may be dropped.
                    let earlier_effect = mem::replace(&mut attempts.effect, Effect::MayBeDone);
                    let failure = match lease.run(work, input).await {
                        Ok(value) => return Ok(value),
                        Err(failure) => failure,
                    };
                    if failure.had_no_effect() {
                        attempts.effect = earlier_effect;
                    }
                    match failure.remedy() {
                        Remedy::Repeat => {}
                        // The other connections probably lead to the same server.
                        Remedy::Reconnect => self.pool.close_idle_connections(),
                        Remedy::GiveUp | Remedy::Report => return Err(failure.into()),
                    }
                    attempts.last_error = Some(failure.into());
                }
                // Without a connection for the first attempt, fail fast.
                Err(error) if is_first_attempt => return Err(error),
                // Without a connection for a retry, continue: only a retry can find out whether an
                // earlier attempt took effect.
                Err(error) => attempts.last_error = Some(error),
            }
            time::sleep(self.add_jitter(backoff)).await;
            backoff = MAX_BACKOFF.min(backoff * 2);
        }
    }

    /// Returns a new random token that identifies one write, 128 bits in hexadecimal.
    pub(super) fn draw_token(&self) -> String {
        let mut random = self.random.lock();
        format!("{:032x}", random.random::<u128>())
    }

    /// Multiplies a backoff by a random factor from 0.5 to 1.5.
    fn add_jitter(&self, backoff: Duration) -> Duration {
        let mut random = self.random.lock();
        backoff.mul_f64(random.random_range(0.5..1.5))
    }
}

/// Returns the error of an operation whose first attempt has not completed within `limit`.
fn timeout_error(limit: Duration) -> StoreError {
    let seconds = limit.as_secs();
    let message = format!("the database did not respond within {seconds} seconds");
    StoreError::Unavailable(cause(&message))
}
