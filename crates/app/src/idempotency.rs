//! Tracks the requests with an `Idempotency-Key` that are in flight, and deletes old remembered
//! requests.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use parking_lot::{Mutex, RwLock};
use petstore_domain::{
    Clock, IdempotencyKey, IdempotentRequest, KeyId, RequestOwner, WriteContext,
    idempotency::{MARK_INTERVAL, MARKS_UNTIL_FORGOTTEN},
};
use petstore_store::{Store, StoreError};

/// The maximum number of requests with an idempotency key in flight.
const MAX_IN_FLIGHT: usize = 4096;

/// The maximum number of remembered requests that one transaction deletes.
const REQUESTS_PER_DELETION: u32 = 200;

/// The requests that clients can safely retry, because they have an idempotency key.
pub struct Requests {
    store: Arc<dyn Store>,
    /// Caches the first key of the lineage of each API key. The first key never changes, so the
    /// store is queried once per key.
    ///
    /// A lineage is a key with its replacements, which share remembered requests.
    lineages: RwLock<HashMap<KeyId, KeyId>>,
    in_flight: InFlight,
    last_mark: Mutex<Option<SeenMark>>,
}

/// The newest mark in the store, and when this process first saw this mark.
///
/// Marks measure the age of remembered requests without a wall clock. A mark is added at regular
/// intervals while the service runs, so a request is at least as old as the number of marks after
/// it says.
#[derive(Clone, Copy)]
struct SeenMark {
    mark: i64,
    seen_at: Instant,
}

/// The requests with an idempotency key that are in flight.
#[derive(Default)]
struct InFlight {
    entries: Mutex<HashSet<InFlightEntry>>,
}

/// The identity of a request that is in flight. Its retries have the same identity.
#[derive(Clone, PartialEq, Eq, Hash)]
struct InFlightEntry {
    lineage: RequestOwner,
    key: IdempotencyKey,
}

/// Why a request cannot be processed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEntered {
    /// The same request is in flight.
    #[error("the request is in progress")]
    InProgress,
    /// Too many requests with an idempotency key are in flight.
    #[error("{MAX_IN_FLIGHT} requests with an Idempotency-Key are in progress")]
    TooMany,
}

/// A guard that keeps a request marked as in flight until it is dropped.
pub struct InFlightGuard<'a> {
    in_flight: &'a InFlight,
    entry: InFlightEntry,
}

impl Requests {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            lineages: RwLock::default(),
            in_flight: InFlight::default(),
            last_mark: Mutex::default(),
        }
    }

    /// Returns the form in which the store remembers a request of the API key `caller`.
    pub async fn describe_request(
        &self,
        caller: KeyId,
        operation: &'static str,
        key: IdempotencyKey,
        fingerprint: [u8; 32],
    ) -> Result<IdempotentRequest, StoreError> {
        let lineage = self.first_of_lineage(caller).await?.into();
        Ok(IdempotentRequest {
            caller: caller.into(),
            lineage,
            operation,
            key,
            fingerprint,
        })
    }

    /// Marks a request with an idempotency key as in flight until the guard is dropped. Returns
    /// `None` for a request without a key, which is not tracked.
    ///
    /// Fails if a request with the same key is in flight already, or if `MAX_IN_FLIGHT` requests
    /// are.
    pub fn enter(&self, context: &WriteContext) -> Result<Option<InFlightGuard<'_>>, NotEntered> {
        match &context.idempotency {
            Some(request) => Ok(Some(self.in_flight.enter(request)?)),
            None => Ok(None),
        }
    }

    /// Deletes some of the remembered requests that are older than 48 hours. Returns whether more
    /// of them may be left.
    ///
    /// The age of a request is the number of marks that were added after it.
    pub(super) async fn forget(&self, clock: &dyn Clock) -> Result<bool, StoreError> {
        self.add_mark_if_due(clock).await?;
        let deleted_count = self
            .store
            .forget_idempotency_keys(MARKS_UNTIL_FORGOTTEN, REQUESTS_PER_DELETION)
            .await?;
        let may_have_more = deleted_count >= REQUESTS_PER_DELETION as usize;
        Ok(may_have_more)
    }

    /// Adds a mark to the store once the newest one has not changed for [`MARK_INTERVAL`]. Measures
    /// this time with the monotonic clock, so a wrong wall clock deletes nothing.
    async fn add_mark_if_due(&self, clock: &dyn Clock) -> Result<(), StoreError> {
        let last_mark = *self.last_mark.lock();
        // The store adds a mark after this one, unless another process has done so. Without this
        // mark, the store only returns its newest one.
        let mark_to_follow = match last_mark {
            Some(last)
                if clock.instant().saturating_duration_since(last.seen_at) >= MARK_INTERVAL =>
            {
                Some(last.mark)
            }
            _ => None,
        };
        let newest_mark = self.store.mark_idempotency_keys(mark_to_follow).await?;
        let known_mark = last_mark.map(|last| last.mark);
        if known_mark != Some(newest_mark) {
            *self.last_mark.lock() = Some(SeenMark {
                mark: newest_mark,
                seen_at: clock.instant(),
            });
        }
        Ok(())
    }

    /// Returns the first key of the lineage of `key`.
    async fn first_of_lineage(&self, key: KeyId) -> Result<KeyId, StoreError> {
        let cached_first = self.lineages.read().get(&key).copied();
        if let Some(first) = cached_first {
            return Ok(first);
        }
        let first = self.store.first_of_lineage(key).await?;
        self.lineages.write().insert(key, first);
        Ok(first)
    }
}

impl InFlight {
    /// Marks a request as in flight. See [`Requests::enter`].
    fn enter(&self, request: &IdempotentRequest) -> Result<InFlightGuard<'_>, NotEntered> {
        let entry = InFlightEntry {
            lineage: request.lineage,
            key: request.key.clone(),
        };
        let mut entries = self.entries.lock();
        if entries.contains(&entry) {
            return Err(NotEntered::InProgress);
        }
        if entries.len() >= MAX_IN_FLIGHT {
            return Err(NotEntered::TooMany);
        }
        entries.insert(entry.clone());
        Ok(InFlightGuard {
            in_flight: self,
            entry,
        })
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.in_flight.entries.lock().remove(&self.entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(api_key: i64, number: usize) -> IdempotentRequest {
        IdempotentRequest {
            caller: KeyId(api_key).into(),
            lineage: KeyId(api_key).into(),
            operation: "createPet",
            key: IdempotencyKey::new(format!("retry-{number}")).unwrap(),
            fingerprint: [0; 32],
        }
    }

    #[test]
    fn a_request_is_in_flight_until_its_entry_is_dropped() {
        let in_flight = InFlight::default();
        let first = in_flight.enter(&request(1, 1)).unwrap();
        let again = in_flight.enter(&request(1, 1));
        assert_eq!(again.err(), Some(NotEntered::InProgress));
        // The rejection of the second request leaves the first one in flight.
        let again = in_flight.enter(&request(1, 1));
        assert_eq!(again.err(), Some(NotEntered::InProgress));
        let _others = [
            in_flight.enter(&request(2, 1)),
            in_flight.enter(&request(1, 2)),
        ];
        drop(first);
        assert!(in_flight.enter(&request(1, 1)).is_ok());
    }

    #[test]
    fn the_requests_in_flight_are_limited() {
        let in_flight = InFlight::default();
        let enter = |number| in_flight.enter(&request(1, number));
        let entered: Vec<_> = (0..MAX_IN_FLIGHT)
            .map(|number| enter(number).ok().unwrap())
            .collect();
        assert_eq!(enter(MAX_IN_FLIGHT).err(), Some(NotEntered::TooMany));
        drop(entered);
        assert!(in_flight.entries.lock().is_empty());
    }
}
