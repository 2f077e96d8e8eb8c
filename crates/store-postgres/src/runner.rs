//! Runs operations over the connections, with retries.

use std::{
    mem,
    sync::atomic::{AtomicU64, Ordering::Release},
    time::Duration,
};

use parking_lot::Mutex;
use petstore_store::{
    StoreError, cause,
    drivers::postgres::{Failure, Remedy},
};
use rand::{RngExt, rngs::StdRng};
use tokio::time;

use super::pool::{Access, Attempt, Connection, Pool};

/// The time limit of an operation, including retries.
const OPERATION_LIMIT: Duration = Duration::from_secs(5);

/// The pause before the second attempt. Each further pause is twice as long, up to the maximum, and
/// multiplied by a random factor from 0.5 to 1.5.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);

/// Runs operations over the connections of a pool.
pub(super) struct Runner {
    pub(super) pool: Pool,
    /// The randomness for tokens, and for the pauses, so that transactions that conflicted do not
    /// conflict again.
    random: Mutex<StdRng>,
    /// The number of operations that have ended and may have written.
    pub(super) writes: AtomicU64,
}

/// The knowledge about the effect of the attempts of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// No attempt had an effect.
    NotDone,
    /// An attempt may have had an effect.
    MayBeDone,
}

/// The attempts of an operation so far.
struct Attempts {
    certainty: Certainty,
    /// The error of the last attempt; `None` before the first one has failed.
    last_error: Option<StoreError>,
}

impl Runner {
    /// Creates a runner for the connections of this pool.
    pub(super) fn new(pool: Pool, random: StdRng) -> Self {
        Self {
            pool,
            random: Mutex::new(random),
            writes: AtomicU64::default(),
        }
    }

    /// Runs `work` with `input`, with retries. `work` must have the same result however often it
    /// runs, even if it is unknown whether an earlier attempt succeeded.
    pub(super) async fn run<W: Send, T>(
        &self,
        access: Access,
        input: W,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Attempt<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        self.run_with_limit(OPERATION_LIMIT, access, input, work)
            .await
    }

    /// Runs `work` like [`Self::run`], but with another time limit.
    pub(super) async fn run_with_limit<W: Send, T>(
        &self,
        limit: Duration,
        access: Access,
        mut input: W,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Attempt<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        let mut attempts = Attempts {
            certainty: Certainty::NotDone,
            last_error: None,
        };
        let running = self.repeat(access, &mut input, &work, &mut attempts);
        let result = time::timeout(limit, running).await;
        if access != Access::Read {
            self.writes.fetch_add(1, Release);
        }

        let error = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => attempts.last_error.unwrap_or_else(|| no_response(limit)),
        };
        // The last error says nothing about earlier attempts.
        match attempts.certainty {
            Certainty::MayBeDone if access != Access::Read => Err(error.into_unknown_outcome()),
            Certainty::MayBeDone | Certainty::NotDone => Err(error),
        }
    }

    /// Runs `work` until an attempt succeeds, or fails with an error that a retry cannot change.
    async fn repeat<W: Send, T>(
        &self,
        access: Access,
        input: &mut W,
        work: &(impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Attempt<'t, T> + Sync),
        attempts: &mut Attempts,
    ) -> Result<T, StoreError> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.pool.lease(access).await {
                Ok(lease) => {
                    // If this future is dropped now, nobody learns what the attempt has done.
                    let earlier_certainty =
                        mem::replace(&mut attempts.certainty, Certainty::MayBeDone);
                    let failure = match lease.run(work, input).await {
                        Ok(value) => return Ok(value),
                        Err(failure) => failure,
                    };
                    if failure.is_certain() {
                        attempts.certainty = earlier_certainty;
                    }
                    attempts.last_error = Some(self.retry_after(failure)?);
                }
                // Before the first attempt, this fails at once if the database is unreachable.
                Err(error) if attempts.last_error.is_none() => return Err(error),
                // After a failed attempt, a retry learns the outcome.
                Err(error) => attempts.last_error = Some(error),
            }
            time::sleep(self.randomize(pause)).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Returns the error of an attempt as `Ok` if another attempt can succeed, and as `Err` otherwise.
    fn retry_after(&self, failure: Failure) -> Result<StoreError, StoreError> {
        match failure.remedy() {
            Remedy::Repeat => Ok(failure.into()),
            Remedy::Reconnect => {
                self.pool.close_idle_connections();
                Ok(failure.into())
            }
            Remedy::GiveUp | Remedy::Report => Err(failure.into()),
        }
    }

    /// Draws a name for a write that no other write ever has.
    pub(super) fn draw_token(&self) -> String {
        let mut random = self.random.lock();
        format!("{:032x}", random.random::<u128>())
    }

    fn randomize(&self, pause: Duration) -> Duration {
        let mut random = self.random.lock();
        pause.mul_f64(random.random_range(0.5..1.5))
    }
}

/// Returns the error of an operation whose first attempt has not ended within `limit`.
fn no_response(limit: Duration) -> StoreError {
    let seconds = limit.as_secs();
    let message = format!("the database did not respond within {seconds} seconds");
    StoreError::Unavailable(cause(&message))
}
