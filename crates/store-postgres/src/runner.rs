//! Runs operations over the connections, with retries.

use std::{
    mem,
    sync::atomic::{AtomicU64, Ordering::Release},
    time::Duration,
};

use parking_lot::Mutex;
use petstore_store::{StoreError, cause, drivers::postgres::Remedy};
use rand::{RngExt, rngs::StdRng};
use tokio::time;

use super::pool::{Access, Connection, Pool, Try};

/// How long an operation may take, including retries.
const DONE_WITHIN: Duration = Duration::from_secs(5);

/// The pause before the second attempt. Each further pause is twice as long, up to the maximum, and
/// multiplied by a random factor from 0.5 to 1.5.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);

pub(super) struct Runner {
    pub(super) pool: Pool,
    /// Makes tokens, and spreads the pauses, so that transactions that conflicted do not conflict
    /// again.
    random: Mutex<StdRng>,
    /// How many operations have ended that may have written.
    pub(super) writes: AtomicU64,
}

impl Runner {
    pub(super) fn new(pool: Pool, random: StdRng) -> Self {
        Self {
            pool,
            random: Mutex::new(random),
            writes: AtomicU64::default(),
        }
    }

    /// Runs `work` on `what`, with retries. `work` must have the same result however often it runs,
    /// even if it is unknown whether an earlier attempt succeeded.
    pub(super) async fn run<W: Send, T>(
        &self,
        access: Access,
        what: W,
        work: impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Try<'t, T> + Sync,
    ) -> Result<T, StoreError> {
        self.run_within(DONE_WITHIN, access, what, work).await
    }

    /// Returns the same with another time limit.
    pub(super) async fn run_within<W: Send, T>(
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
        let ended = time::timeout(limit, trying).await;
        if access != Access::Read {
            self.writes.fetch_add(1, Release);
        }
        let error = match ended {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error,
            Err(_) => last.unwrap_or_else(|| {
                let seconds = limit.as_secs();
                let text = format!("the database did not respond within {seconds} seconds");
                StoreError::Unavailable(cause(&text))
            }),
        };
        // The last failure says nothing about earlier attempts.
        let is_known = !may_be_done || access == Access::Read;
        Err(if is_known {
            error
        } else {
            error.into_unknown_outcome()
        })
    }

    /// Returns a name for a write that no other write ever has.
    pub(super) fn token(&self) -> String {
        let mut random = self.random.lock();
        format!("{:032x}", random.random::<u128>())
    }

    fn around(&self, pause: Duration) -> Duration {
        let mut random = self.random.lock();
        pause.mul_f64(random.random_range(0.5..1.5))
    }
}
