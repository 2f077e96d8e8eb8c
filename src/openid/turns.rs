//! Turns for the requests that redeem codes at the provider: few at a time, few for each caller, and some that only
//! known browsers have. A caller waits for a turn, but not long.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

use super::settings::Failure;
use crate::domain::{StaffId, client::ClientAddress};

/// The maximum number of requests at a time, in turns that all callers share.
const MAX_TURNS: usize = 6;

/// The number of further turns, which only known browsers have.
const MAX_TURNS_OF_KNOWN: usize = 2;

/// The maximum number of turns of one caller.
const MAX_TURNS_OF_CALLER: usize = 2;

/// The maximum number of requests of one caller, with those that wait. The last one waits for 11 others.
const MAX_REQUESTS_OF_CALLER: usize = 24;

/// The maximum number of requests of all strangers, with those that wait.
const MAX_REQUESTS_OF_STRANGERS: usize = 256;

/// The sender of a code, with whom no other sender shares its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// A browser in which this member has signed in before.
    Known(StaffId),
    /// Any other browser.
    Stranger(ClientAddress),
}

/// The turns of all callers.
pub(super) struct Turns {
    shared: Arc<Semaphore>,
    of_known: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
    /// The shares of the callers that have a request.
    shares: Mutex<HashMap<Caller, Weak<Share>>>,
    limit: Duration,
}

/// The turns and places of one caller.
struct Share {
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// A turn, which ends when this is dropped.
pub(super) struct Turn {
    _share: Arc<Share>,
    _places: Vec<OwnedSemaphorePermit>,
    _turns: Vec<OwnedSemaphorePermit>,
}

impl Turns {
    /// Returns turns for which a caller waits up to `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            shared: Arc::new(Semaphore::new(MAX_TURNS)),
            of_known: Arc::new(Semaphore::new(MAX_TURNS_OF_KNOWN)),
            strangers: Arc::new(Semaphore::new(MAX_REQUESTS_OF_STRANGERS)),
            shares: Mutex::default(),
            limit,
        }
    }

    /// Waits for a turn of this caller. Fails at once if too many wait, and later if it takes too long.
    pub(super) async fn take(&self, caller: Caller) -> Result<Turn, Failure> {
        let full = |_| Failure::Unreachable("too many requests wait for the provider".to_owned());
        let share = self.share(caller);
        let mut places = vec![Arc::clone(&share.places).try_acquire_owned().map_err(full)?];
        if matches!(caller, Caller::Stranger(_)) {
            places.push(Arc::clone(&self.strangers).try_acquire_owned().map_err(full)?);
        }

        let turns = time::timeout(self.limit, self.turns(caller, &share)).await;
        let Ok(Some(turns)) = turns else {
            return Err(Failure::Unreachable("no turn at the provider came in time".to_owned()));
        };
        Ok(Turn { _share: share, _places: places, _turns: turns })
    }

    /// Returns a turn of the caller, and one of all.
    async fn turns(&self, caller: Caller, share: &Share) -> Option<Vec<OwnedSemaphorePermit>> {
        // No semaphore is ever closed.
        let own = Arc::clone(&share.turns).acquire_owned().await.ok()?;
        let turn = match caller {
            Caller::Stranger(_) => Arc::clone(&self.shared).acquire_owned().await.ok()?,
            Caller::Known(_) => match Arc::clone(&self.shared).try_acquire_owned() {
                Ok(turn) => turn,
                Err(_) => Arc::clone(&self.of_known).acquire_owned().await.ok()?,
            },
        };
        Some(vec![own, turn])
    }

    /// Returns the share of a caller, which all its requests have.
    fn share(&self, caller: Caller) -> Arc<Share> {
        let mut shares = self.shares.lock();
        if let Some(share) = shares.get(&caller).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Share {
            turns: Arc::new(Semaphore::new(MAX_TURNS_OF_CALLER)),
            places: Arc::new(Semaphore::new(MAX_REQUESTS_OF_CALLER)),
        });
        shares.insert(caller, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn stranger(last: u8) -> Caller {
        Caller::Stranger(IpAddr::from([192, 0, 2, last]).into())
    }

    #[tokio::test]
    async fn one_address_has_two_turns_and_others_do_not_wait_for_it() {
        let turns = Turns::new(Duration::from_mins(1));
        let _first = turns.take(stranger(1)).await;
        let second = turns.take(stranger(1)).await;
        let mut third = Box::pin(turns.take(stranger(1)));
        assert!(futures_util::poll!(&mut third).is_pending());
        assert!(turns.take(stranger(2)).await.is_ok());
        drop(second);
        assert!(third.await.is_ok());
    }

    #[tokio::test]
    async fn strangers_at_many_addresses_leave_turns_to_known_browsers() {
        let turns = Turns::new(Duration::from_mins(1));
        let mut held = Vec::new();
        for last in 0..6 {
            held.push(turns.take(stranger(last)).await);
        }
        let mut next = Box::pin(turns.take(stranger(6)));
        assert!(futures_util::poll!(&mut next).is_pending());
        for member in 1..=2 {
            held.push(turns.take(Caller::Known(StaffId(member))).await);
        }
        assert!(held.iter().all(Result::is_ok));
        drop(held);
        assert!(next.await.is_ok());
    }

    #[tokio::test]
    async fn who_waits_too_long_or_with_too_many_is_told_so_and_nothing_stays() {
        let turns = Turns::new(Duration::from_millis(1));
        let held = [turns.take(stranger(1)).await, turns.take(stranger(1)).await];
        assert!(turns.take(stranger(1)).await.is_err());
        drop(held);

        let turns = Turns::new(Duration::from_mins(1));
        let mut all: Vec<_> =
            (0..MAX_REQUESTS_OF_CALLER).map(|_| Box::pin(turns.take(stranger(1)))).collect();
        let mut held = Vec::new();
        for taking in &mut all {
            if let std::task::Poll::Ready(turn) = futures_util::poll!(taking) {
                held.push(turn);
            }
        }
        assert_eq!(held.len(), MAX_TURNS_OF_CALLER);
        assert!(turns.take(stranger(1)).await.is_err());
        assert!(turns.take(stranger(2)).await.is_ok());
        drop((all, held));
        assert!(turns.take(stranger(3)).await.is_ok());
        assert_eq!(turns.shares.lock().len(), 1);
    }
}
