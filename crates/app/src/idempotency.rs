//! Requests with an `Idempotency-Key`: which ones are in flight, and how long they are remembered.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Instant,
};

use parking_lot::{Mutex, RwLock};
use petstore_domain::{
    Clock, IdempotencyKey, IdempotentRequest, KeyId, Owner, WriteContext,
    idempotency::{MARK_EVERY, REMEMBERED_FOR_MARKS},
};
use petstore_store::{self as store, Store, StoreError};

/// How many requests with an idempotency key the store may process at once.
const MAX_IN_FLIGHT: usize = 4096;

/// How many remembered requests one transaction deletes.
const FORGET_AT_ONCE: u32 = 200;

/// Requests that clients can repeat.
pub struct Requests {
    store: Arc<dyn Store>,
    /// The first key of each lineage, by each of its keys that sent an idempotency key. It never
    /// changes, so the store is queried once for each key.
    lineages: RwLock<HashMap<KeyId, KeyId>>,
    in_flight: InFlight,
    last_mark: LastMark,
}

impl Requests {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            lineages: RwLock::default(),
            in_flight: InFlight::default(),
            last_mark: LastMark::default(),
        }
    }

    /// Returns the request of this key, as the store remembers it.
    pub async fn of_key(
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

    /// Adds a request that can be repeated to those in flight, until the result is dropped. Fails if it
    /// is in flight already, and above `MAX_IN_FLIGHT`.
    pub fn enter(&self, context: &WriteContext) -> Result<Option<InFlightGuard<'_>>, NotEntered> {
        context
            .idempotency
            .as_ref()
            .map(|request| self.in_flight.enter(request))
            .transpose()
    }

    /// Deletes some of the remembered requests that are older than 48 hours, counted in marks, and
    /// returns whether more may be left.
    pub(super) async fn forget(&self, clock: &dyn Clock) -> Result<bool, StoreError> {
        self.last_mark.forget(self.store.as_ref(), clock).await
    }

    async fn first_of_lineage(&self, key: KeyId) -> Result<KeyId, StoreError> {
        let known = self.lineages.read().get(&key).copied();
        if let Some(first) = known {
            return Ok(first);
        }
        let first = self.store.first_of_lineage(key).await?;
        self.lineages.write().insert(key, first);
        Ok(first)
    }
}

/// The newest mark in the store, and when this process first saw it.
#[derive(Default)]
struct LastMark(Mutex<Option<(i64, Instant)>>);

impl LastMark {
    async fn forget(
        &self,
        store: &dyn store::Requests,
        clock: &dyn Clock,
    ) -> Result<bool, StoreError> {
        let seen = *self.0.lock();
        let is_due = |since| clock.instant().saturating_duration_since(since) >= MARK_EVERY;
        let due = seen
            .filter(|&(_, since)| is_due(since))
            .map(|(mark, _)| mark);
        let newest = store.mark_idempotency_keys(due).await?;
        if seen.is_none_or(|(mark, _)| mark != newest) {
            let seen = Some((newest, clock.instant()));
            *self.0.lock() = seen;
        }
        let forgotten = store
            .forget_idempotency_keys(REMEMBERED_FOR_MARKS, FORGET_AT_ONCE)
            .await?;
        Ok(forgotten >= FORGET_AT_ONCE as usize)
    }
}

/// The requests with an idempotency key that the store is processing.
#[derive(Default)]
struct InFlight(Mutex<HashSet<(Owner, IdempotencyKey)>>);

impl InFlight {
    fn enter(&self, request: &IdempotentRequest) -> Result<InFlightGuard<'_>, NotEntered> {
        let entry = (request.lineage, request.key.clone());
        let mut entries = self.0.lock();
        if entries.contains(&entry) {
            return Err(NotEntered::InProgress);
        }
        if entries.len() >= MAX_IN_FLIGHT {
            return Err(NotEntered::TooMany);
        }
        entries.insert(entry.clone());
        Ok(InFlightGuard { all: self, entry })
    }
}

/// Why a request is not processed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEntered {
    /// The same request is in flight.
    #[error("the request is in progress")]
    InProgress,
    #[error("{MAX_IN_FLIGHT} requests with an Idempotency-Key are in progress")]
    TooMany,
}

pub struct InFlightGuard<'a> {
    all: &'a InFlight,
    entry: (Owner, IdempotencyKey),
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.entry);
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
        assert!(in_flight.0.lock().is_empty());
    }
}
