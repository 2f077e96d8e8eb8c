//! Authentication: every request under `/v1` needs a valid API key.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use foldhash::fast::RandomState;
use hyper::{HeaderMap, header};
use jiff::Timestamp;

use super::{
    issued_keys::IssuedKeys,
    key_usage::{UnsavedUse, Usage},
};
use crate::{
    domain::{
        Actor, Client, Clock, Deployment, KeyDigest, KeyId, KeyRecord, NamedActor, RateLimit,
        Scope, rate_limit::Reading,
    },
    http::{
        Settings,
        error::{ApiError, Problem},
    },
    observe::metrics::{Exposition, Kind},
    store::{Keys, StoreError},
};

/// How long a key is trusted after it was read from the store. Every process on the database
/// rejects a revoked key within this time.
const CACHED_FOR: Duration = Duration::from_secs(2);

/// The client that sent a request.
pub(crate) struct Caller {
    key: Arc<CachedKey>,
    at: Timestamp,
    /// The state of its rate limit, if it has one.
    pub(crate) rate: Option<Reading>,
}

impl Caller {
    pub(crate) fn key_id(&self) -> KeyId {
        self.key.record.id
    }

    /// The key as the actor of a change.
    pub(crate) fn actor(&self) -> NamedActor {
        NamedActor { actor: Actor::Key(self.key_id()), name: Some(Arc::clone(&self.key.name)) }
    }

    /// When the key was found to be valid.
    pub(crate) fn authenticated_at(&self) -> Timestamp {
        self.at
    }

    /// Records a call of the deprecated operation.
    pub(crate) fn note_deprecated_call(&self) {
        self.key.usage.note_deprecated_call(self.at);
    }
}

/// Rejects a caller whose key lacks the scope `needed`. Fails with 403.
pub(crate) fn allow(caller: Option<&Caller>, needed: Scope) -> Result<(), ApiError> {
    if caller.is_some_and(|caller| caller.key.record.scope.allows(needed)) {
        return Ok(());
    }
    Err(ApiError::insufficient_scope(needed))
}

/// Checks keys against the store, and caches valid ones for a moment, so most requests need no
/// query.
pub(crate) struct KeyRing {
    store: Arc<dyn Keys>,
    clock: Arc<dyn Clock>,
    deployment: Deployment,
    /// The rate limit of keys without their own limit.
    rate_limit: Option<RateLimit>,
    issued: IssuedKeys,
    /// The zero of the time that meters use.
    started: Instant,
    /// Contains only keys that exist in the store, so clients cannot make it grow. Clients do not
    /// choose digests, so a fast hash without protection against collisions is enough.
    known: RwLock<HashMap<KeyDigest, Arc<CachedKey>, RandomState>>,
}

/// A key as it was in the store at `read_at`.
struct CachedKey {
    record: KeyRecord,
    /// That of the record, shared with the changes that its requests make.
    name: Arc<str>,
    read_at: Instant,
    /// Kept when the key is read again.
    usage: Arc<Usage>,
}

impl KeyRing {
    /// A ring for the keys in `store`.
    pub(crate) fn new(store: Arc<dyn Keys>, clock: Arc<dyn Clock>, settings: &Settings) -> Self {
        Self {
            started: clock.instant(),
            issued: IssuedKeys::new(Arc::clone(&store), Arc::clone(&clock)),
            store,
            clock,
            deployment: settings.deployment,
            rate_limit: settings.rate_limit,
            known: RwLock::default(),
        }
    }

    /// Identifies the client by the header fields of its request, and counts the request. Fails
    /// with 401 without a valid key; 503 or 500 if the store fails, and 503 if the connection was
    /// replaced in the meantime.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        client: &Client,
    ) -> Result<Caller, ApiError> {
        let digest = KeyDigest::of_presented(presented_key(headers)?, self.deployment)
            .ok_or_else(invalid_key)?;
        let now = self.clock.now();
        let known = if let Some(known) = self.cached(&digest) {
            known
        } else {
            self.look_up(digest).await?.ok_or_else(invalid_key)?
        };
        if !known.record.is_valid_at(now) {
            return Err(invalid_key());
        }
        if !client.trust() {
            return Err(ApiError::new(Problem::Unavailable, CONNECTION_REPLACED));
        }
        known.usage.note_use(now);
        let limit = known.record.rate_limit.or(self.rate_limit);
        let rate = limit.map(|limit| known.usage.meter.take(limit, self.time()));
        Ok(Caller { key: known, at: now, rate })
    }

    /// Counts the commands of a batch, in addition to its request.
    pub(crate) fn take_commands(&self, caller: &Caller, commands: u32) -> Option<Reading> {
        let meter = &caller.key.usage.meter;
        caller.rate.map(|Reading { limit, .. }| meter.take_commands(commands, limit, self.time()))
    }

    /// The time that meters use.
    fn time(&self) -> Duration {
        self.clock.instant().saturating_duration_since(self.started)
    }

    fn cached(&self, digest: &KeyDigest) -> Option<Arc<CachedKey>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let key = known.get(digest)?;
        let age = self.clock.instant().saturating_duration_since(key.read_at);
        (age < CACHED_FOR).then(|| Arc::clone(key))
    }

    async fn look_up(&self, digest: KeyDigest) -> Result<Option<Arc<CachedKey>>, StoreError> {
        let was_met =
            self.known.read().unwrap_or_else(PoisonError::into_inner).contains_key(&digest);
        if !was_met && !self.issued.contains(&digest).await? {
            return Ok(None);
        }
        let read_at = self.clock.instant();
        let record = self.store.find_key(&digest).await?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = record else {
            known.remove(&digest);
            return Ok(None);
        };
        let usage = known.get(&digest).map(|earlier| Arc::clone(&earlier.usage));
        let usage = usage.unwrap_or_default();
        let key = Arc::new(CachedKey { name: record.name.as_str().into(), record, read_at, usage });
        known.insert(digest, Arc::clone(&key));
        Ok(Some(key))
    }

    /// Writes the metrics of each key. Only keys that exist in the store are counted, so their
    /// number is bounded.
    pub(crate) fn expose(&self, page: &mut Exposition) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut calls: Vec<(KeyId, u64)> = known
            .values()
            .map(|key| (key.record.id, key.usage.deprecated_calls.get()))
            .filter(|&(_, calls)| calls > 0)
            .collect();
        drop(known);
        calls.sort_unstable();
        let name = "petstore_deprecated_calls_total";
        page.begin(Kind::Counter, name, "Calls of the deprecated operation, by key.");
        for (id, calls) in calls {
            page.sample(name, &[("operation", &"getPet"), ("key_id", &id)], calls);
        }
    }

    /// See [`super::App::save_key_uses`].
    pub(crate) async fn save_uses(&self) -> Result<(), StoreError> {
        let unsaved = self.unsaved_uses();
        if unsaved.is_empty() {
            return Ok(());
        }
        let uses = unsaved.iter().filter_map(UnsavedUse::to_save).collect();
        self.store.record_key_uses(uses).await?;
        unsaved.iter().for_each(UnsavedUse::saved);
        Ok(())
    }

    fn unsaved_uses(&self) -> Vec<UnsavedUse> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().filter_map(|key| key.usage.unsaved(key.record.id)).collect()
    }
}

/// The message for a client whose connection is replaced by a new one.
const CONNECTION_REPLACED: &str = "All connections are in use, so this one was closed for a new \
     one. Retry in a moment.";

/// The key in an `Authorization: Bearer KEY` field (RFC 6750, section 2.1).
fn presented_key(headers: &HeaderMap) -> Result<&[u8], ApiError> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next().ok_or_else(missing_key)?;
    if fields.next().is_some() {
        return Err(invalid_key());
    }
    let (scheme, key) = match field.as_bytes().iter().position(|&byte| byte == b' ') {
        Some(space) => field.as_bytes().split_at(space),
        None => return Err(missing_key()),
    };
    if !scheme.eq_ignore_ascii_case(b"Bearer") {
        return Err(missing_key());
    }
    Ok(key.trim_ascii())
}

pub(crate) fn missing_key() -> ApiError {
    ApiError::new(
        Problem::MissingApiKey,
        "An API key is required, sent as Authorization: Bearer KEY.",
    )
}

/// One message for every reason, so it reveals nothing about the keys of others.
pub(crate) fn invalid_key() -> ApiError {
    ApiError::new(
        Problem::InvalidApiKey,
        "The API key is not valid here: it is unknown, mistyped, expired or revoked, \
         or belongs to the other deployment.",
    )
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use futures_util::future::join_all;
    use hyper::header::HeaderValue;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{
        domain::{ApiKey, SystemClock},
        store::{OpenMode, sqlite::SqliteStore},
    };

    #[test]
    fn a_key_is_presented_as_one_bearer_token() {
        let presented = |fields: &[&str]| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(field).unwrap());
            }
            presented_key(&headers).map(<[u8]>::to_owned).map_err(|error| error.problem())
        };
        assert_eq!(presented(&["Bearer k"]), Ok(b"k".to_vec()));
        assert_eq!(presented(&["bEARER  k "]), Ok(b"k".to_vec()));
        for none in [&[][..], &["Bearer"], &["k"], &["Basic azpr"], &["Bearerk k"]] {
            assert_eq!(presented(none), Err(Problem::MissingApiKey), "{none:?}");
        }
        assert_eq!(presented(&["Bearer k", "Bearer k"]), Err(Problem::InvalidApiKey));
    }

    #[tokio::test]
    async fn a_million_invalid_keys_take_no_memory() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let store = Arc::new(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());
        let mut random = StdRng::seed_from_u64(1);
        let ring = KeyRing::new(store, Arc::new(SystemClock), &Settings::default());
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        let is_rejected = async |key: &str| {
            let mut headers = HeaderMap::new();
            let bearer = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
            headers.insert(header::AUTHORIZATION, bearer);
            let error = ring.authenticate(&headers, &client).await.err();
            error.is_some_and(|error| error.problem() == Problem::InvalidApiKey)
        };
        for number in 0..998_000 {
            assert!(is_rejected(&number.to_string()).await);
        }
        // These keys are well-formed, and arrive at the same time.
        let keys: Vec<_> =
            (0..2_000).map(|_| ApiKey::generate(Deployment::Production, &mut random)).collect();
        let rejected = join_all(keys.iter().map(|key| is_rejected(key.reveal()))).await;
        assert!(rejected.into_iter().all(|is_rejected| is_rejected));
        assert_eq!(ring.known.read().unwrap().len(), 0);
        // One reading for the first key, and one for all the others.
        assert_eq!(ring.issued.count_readings(), 2);
    }
}
