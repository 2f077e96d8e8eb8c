//! API keys: authenticates requests, and records the use of each key.

mod error;
mod issued;
mod usage;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use foldhash::fast::RandomState;
use jiff::Timestamp;
use parking_lot::RwLock;
use petstore_domain::{
    Actor, Client, Clock, Deployment, KeyDigest, KeyId, KeyRecord, NamedActor, RateLimit, Scope,
    rate_limit::MeterReading,
};
use petstore_observe::metrics::{Exposition, Kind};
use petstore_store::{Keys, StoreError};

pub use self::error::KeyError;
use self::{
    error::EndedKey,
    issued::IssuedKeys,
    usage::{UnsavedUse, Usage},
};

/// How long a key is trusted after it was read from the store. Every process on the database
/// therefore rejects a revoked key within this time.
const CACHE_TTL: Duration = Duration::from_secs(2);

/// The authenticated client that sent a request.
pub struct Caller {
    key: Arc<CachedKey>,
    authenticated_at: Timestamp,
    /// The state of the rate limit of the key, if it has one.
    pub rate: Option<MeterReading>,
}

impl Caller {
    /// Returns the id of the key.
    pub fn key_id(&self) -> KeyId {
        self.key.record.id
    }

    /// Returns the key as the actor of a change, with its name.
    pub fn actor(&self) -> NamedActor {
        NamedActor {
            actor: Actor::Key(self.key_id()),
            name: Some(Arc::clone(&self.key.name)),
        }
    }

    /// Returns the time at which the key was found valid.
    pub fn authenticated_at(&self) -> Timestamp {
        self.authenticated_at
    }

    /// Whether the key has this scope.
    pub fn may(&self, needed: Scope) -> bool {
        self.key.record.scope.allows(needed)
    }

    /// Records a call of the deprecated operation.
    pub fn note_deprecated_call(&self) {
        self.key.usage.note_deprecated_call(self.authenticated_at);
    }
}

/// Authenticates keys against the store. Caches keys for `CACHE_TTL`, so most requests need no
/// query.
pub struct KeyRing {
    store: Arc<dyn Keys>,
    clock: Arc<dyn Clock>,
    deployment: Deployment,
    /// The rate limit of keys that do not have their own.
    rate_limit: Option<RateLimit>,
    issued: IssuedKeys,
    /// The epoch of the time that rate limit meters use.
    started: Instant,
    /// Contains only keys that exist in the store, so clients cannot make it grow. Clients do not
    /// choose digests, so a fast hash without protection against collisions is enough.
    cached_keys: RwLock<HashMap<KeyDigest, Arc<CachedKey>, RandomState>>,
}

/// A key as it was in the store at `read_at`.
struct CachedKey {
    record: KeyRecord,
    /// The name of the record, shared with the changes that its requests make.
    name: Arc<str>,
    read_at: Instant,
    /// Carried over when the key is read again.
    usage: Arc<Usage>,
}

impl KeyRing {
    /// Returns a key ring for the keys in `store` that belong to this deployment. `rate_limit`
    /// applies to keys without a limit of their own.
    pub(super) fn new(
        store: Arc<dyn Keys>,
        clock: Arc<dyn Clock>,
        deployment: Deployment,
        rate_limit: Option<RateLimit>,
    ) -> Self {
        Self {
            started: clock.instant(),
            issued: IssuedKeys::new(Arc::clone(&store), Arc::clone(&clock)),
            store,
            clock,
            deployment,
            rate_limit,
            cached_keys: RwLock::default(),
        }
    }

    /// Authenticates a client by the key that it presents, and counts the request against the rate
    /// limit of the key.
    ///
    /// Does not enforce the limit: the caller must check [`Caller::rate`].
    pub async fn authenticate(
        &self,
        presented_key: &[u8],
        client: &Client,
    ) -> Result<Caller, KeyError> {
        let digest =
            KeyDigest::from_presented(presented_key, self.deployment).ok_or(KeyError::Invalid)?;
        let now = self.clock.now();
        let cached_key = match self.find_cached(&digest) {
            Some(cached_key) => cached_key,
            None => self.look_up(digest).await?.ok_or(KeyError::Invalid)?,
        };
        if let Some(ended_key) = EndedKey::from_record(&cached_key.record, now) {
            return Err(KeyError::Ended(ended_key));
        }
        // From now on, the connection is not closed to make room for another one. `trust` returns
        // `false` if this has already happened.
        if !client.trust() {
            return Err(KeyError::ConnectionReplaced);
        }
        cached_key.usage.note_use(now);
        let limit = cached_key.record.rate_limit.or(self.rate_limit);
        let rate = limit.map(|limit| cached_key.usage.meter.take(limit, self.meter_time()));
        Ok(Caller {
            key: cached_key,
            authenticated_at: now,
            rate,
        })
    }

    /// Counts the commands of a batch against the rate limit of the key, in addition to the request
    /// itself. Returns the new state of the rate limit. Returns `None` if the key has no limit.
    pub fn take_commands(&self, caller: &Caller, commands: u32) -> Option<MeterReading> {
        let limit = caller.rate?.limit;
        let meter = &caller.key.usage.meter;
        Some(meter.take_commands(commands, limit, self.meter_time()))
    }

    /// Returns the current time of the rate limit meters.
    fn meter_time(&self) -> Duration {
        self.clock.instant().saturating_duration_since(self.started)
    }

    /// Returns a cached key that was read within [`CACHE_TTL`]. Returns `None` if there is no such
    /// key.
    fn find_cached(&self, digest: &KeyDigest) -> Option<Arc<CachedKey>> {
        let cached_keys = self.cached_keys.read();
        let key = cached_keys.get(digest)?;
        let age = self.clock.instant().saturating_duration_since(key.read_at);
        if age < CACHE_TTL {
            Some(Arc::clone(key))
        } else {
            None
        }
    }

    /// Reads a key from the store, and caches it. Returns `None` if no key has this digest.
    async fn look_up(&self, digest: KeyDigest) -> Result<Option<Arc<CachedKey>>, StoreError> {
        // An expired cache entry shows that the key existed, so only other digests must be checked.
        let is_known = self.cached_keys.read().contains_key(&digest);
        if !is_known && !self.issued.contains(&digest).await? {
            return Ok(None);
        }
        let read_at = self.clock.instant();
        let record = self.store.find_key(&digest).await?;
        let mut cached_keys = self.cached_keys.write();
        let Some(record) = record else {
            cached_keys.remove(&digest);
            return Ok(None);
        };
        let usage = match cached_keys.get(&digest) {
            Some(stale_key) => Arc::clone(&stale_key.usage),
            None => Arc::default(),
        };
        let key = Arc::new(CachedKey {
            name: record.name.as_str().into(),
            record,
            read_at,
            usage,
        });
        cached_keys.insert(digest, Arc::clone(&key));
        Ok(Some(key))
    }

    /// Writes the metric of calls of the deprecated operation, by key. Only stored keys are
    /// counted, which bounds the number of time series.
    pub(crate) fn expose_deprecated_calls(&self, exposition: &mut Exposition) {
        let cached_keys = self.cached_keys.read();
        let mut calls_by_key: Vec<(KeyId, u64)> = cached_keys
            .values()
            .map(|key| (key.record.id, key.usage.deprecated_calls.get()))
            .filter(|&(_, calls)| calls > 0)
            .collect();
        drop(cached_keys);
        calls_by_key.sort_unstable();
        let name = "petstore_deprecated_calls_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Calls of the deprecated operation, by key.",
        );
        for (id, calls) in calls_by_key {
            exposition.sample(name, &[("operation", &"getPet"), ("key_id", &id)], calls);
        }
    }

    /// Saves the uses of keys that are not yet in the store. After an error, the next call saves
    /// them.
    pub(crate) async fn save_uses(&self) -> Result<(), StoreError> {
        let unsaved_uses = self.find_unsaved_uses();
        if unsaved_uses.is_empty() {
            return Ok(());
        }
        let uses = unsaved_uses
            .iter()
            .filter_map(UnsavedUse::to_key_use)
            .collect();
        self.store.record_key_uses(uses).await?;
        for unsaved_use in &unsaved_uses {
            unsaved_use.mark_saved();
        }
        Ok(())
    }

    /// Returns the last uses that are not yet in the store, one per key.
    fn find_unsaved_uses(&self) -> Vec<UnsavedUse> {
        let cached_keys = self.cached_keys.read();
        cached_keys
            .values()
            .filter_map(|key| key.usage.find_unsaved_use(key.record.id))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use futures_util::future::join_all;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use petstore_domain::{ApiKey, SystemClock};
    use petstore_store::OpenMode;
    use petstore_store_sqlite::SqliteStore;

    #[tokio::test]
    async fn a_million_invalid_keys_take_no_memory() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let store = Arc::new(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());
        let mut random = StdRng::seed_from_u64(1);
        let ring = KeyRing::new(store, Arc::new(SystemClock), Deployment::Production, None);
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        let is_rejected = async |key: &str| {
            let error = ring.authenticate(key.as_bytes(), &client).await.err();
            matches!(error, Some(KeyError::Invalid))
        };
        for number in 0..998_000 {
            assert!(is_rejected(&number.to_string()).await);
        }
        // Now send well-formed keys, all at the same time.
        let keys: Vec<_> = (0..2_000)
            .map(|_| ApiKey::generate(Deployment::Production, &mut random))
            .collect();
        let rejected = join_all(keys.iter().map(|key| is_rejected(key.reveal()))).await;
        assert!(rejected.into_iter().all(|is_rejected| is_rejected));
        assert_eq!(ring.cached_keys.read().len(), 0);
        // One read for the first key, and one for all the others.
        assert_eq!(ring.issued.count_reads(), 2);
    }
}
