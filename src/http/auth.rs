//! The gate: nothing under `/v1` answers without a valid API key.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use hyper::{HeaderMap, header};
use jiff::Timestamp;

use super::error::{ApiError, Problem};
use crate::{
    domain::{Clock, Deployment, KeyDigest, KeyId, KeyRecord, Scope},
    store::{Store, StoreError},
};

/// How long a key that the store vouched for is believed. A revocation is
/// honoured within this time, by every process on the same database.
const BELIEVED_FOR: Duration = Duration::from_secs(2);

/// Who sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caller {
    /// The number of the key.
    pub(super) key_id: KeyId,
    /// What the key allows.
    pub(super) scope: Scope,
}

/// Whether a request needs a key: everything under `/v1` does, also what is
/// not there.
#[must_use]
pub(super) fn is_needed_for(path: &str) -> bool {
    path.strip_prefix("/v1").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses a caller whose key lacks the scope `needed`.
///
/// # Errors
///
/// 403.
pub(super) fn allow(caller: Option<Caller>, needed: Option<Scope>) -> Result<(), ApiError> {
    let Some(needed) = needed else {
        return Ok(());
    };
    if caller.is_some_and(|caller| caller.scope.allows(needed)) {
        return Ok(());
    }
    let message = format!("The API key lacks the scope {}.", needed.as_str());
    Err(ApiError::new(Problem::InsufficientScope, message))
}

/// Checks keys against the store, and remembers for a moment those that are
/// good, so that the store is not asked at every request.
pub(super) struct KeyRing {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    deployment: Deployment,
    /// Holds keys that the store has, so it grows no larger than the
    /// operator's list of keys, whatever clients send.
    known: RwLock<HashMap<KeyDigest, Arc<CachedKey>>>,
}

/// A key as the store had it a moment ago.
struct CachedKey {
    record: KeyRecord,
    read_at: Instant,
    /// When it was last used, in seconds since 1970, if the store does not
    /// know that yet; [`NOTHING`] otherwise. Outlives each reading of the key.
    unsaved_use: Arc<AtomicI64>,
}

const NOTHING: i64 = i64::MIN;

impl KeyRing {
    /// A ring for the keys of `deployment` that `store` holds.
    pub(super) fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        deployment: Deployment,
    ) -> Self {
        Self { store, clock, deployment, known: RwLock::default() }
    }

    /// Finds out who sent a request with these header fields.
    ///
    /// # Errors
    ///
    /// 401 without a valid key; 503 or 500 if the store cannot say.
    pub(super) async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let digest = KeyDigest::of_presented(presented_key(headers)?, self.deployment)
            .ok_or_else(refused)?;
        let now = self.clock.now();
        let known = match self.recall(&digest) {
            Some(known) => known,
            None => self.look_up(digest).await?.ok_or_else(refused)?,
        };
        if !known.record.is_valid_at(now) {
            return Err(refused());
        }
        known.unsaved_use.fetch_max(now.as_second(), Ordering::Relaxed);
        Ok(Caller { key_id: known.record.id, scope: known.record.scope })
    }

    fn recall(&self, digest: &KeyDigest) -> Option<Arc<CachedKey>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let key = known.get(digest)?;
        let age = self.clock.instant().saturating_duration_since(key.read_at);
        (age < BELIEVED_FOR).then(|| Arc::clone(key))
    }

    async fn look_up(&self, digest: KeyDigest) -> Result<Option<Arc<CachedKey>>, StoreError> {
        let read_at = self.clock.instant();
        let record = self.store.find_key(&digest).await?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = record else {
            known.remove(&digest);
            return Ok(None);
        };
        let unsaved_use = known.get(&digest).map_or_else(
            || Arc::new(AtomicI64::new(NOTHING)),
            |earlier| Arc::clone(&earlier.unsaved_use),
        );
        let key = Arc::new(CachedKey { record, read_at, unsaved_use });
        known.insert(digest, Arc::clone(&key));
        Ok(Some(key))
    }

    /// See [`super::App::save_key_uses`].
    pub(super) async fn save_uses(&self) -> Result<(), StoreError> {
        let unsaved = self.unsaved_uses();
        if unsaved.is_empty() {
            return Ok(());
        }
        let uses = unsaved
            .iter()
            .filter_map(|(id, second, _)| Some((*id, Timestamp::from_second(*second).ok()?)))
            .collect();
        self.store.record_key_uses(uses).await?;
        for (_, saved, unsaved_use) in unsaved {
            // Unless the key was used again meanwhile.
            let relaxed = Ordering::Relaxed;
            let _ = unsaved_use.compare_exchange(saved, NOTHING, relaxed, relaxed);
        }
        Ok(())
    }

    fn unsaved_uses(&self) -> Vec<(KeyId, i64, Arc<AtomicI64>)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let unsaved = |key: &Arc<CachedKey>| {
            let second = key.unsaved_use.load(Ordering::Relaxed);
            (second != NOTHING).then(|| (key.record.id, second, Arc::clone(&key.unsaved_use)))
        };
        known.values().filter_map(unsaved).collect()
    }
}

/// The key in an `Authorization: Bearer KEY` field (RFC 6750, section 2.1).
fn presented_key(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next().ok_or_else(missing)?;
    if fields.next().is_some() {
        return Err(refused());
    }
    let (scheme, key) = match field.as_bytes().iter().position(|&byte| byte == b' ') {
        Some(space) => field.as_bytes().split_at(space),
        None => return Err(missing()),
    };
    if !scheme.eq_ignore_ascii_case(b"Bearer") {
        return Err(missing());
    }
    std::str::from_utf8(key.trim_ascii()).map_err(|_| refused())
}

fn missing() -> ApiError {
    ApiError::new(
        Problem::MissingApiKey,
        "An API key is required, sent as Authorization: Bearer KEY.",
    )
}

/// The same for every reason, so that it tells nothing about keys of others.
fn refused() -> ApiError {
    ApiError::new(
        Problem::InvalidApiKey,
        "The API key is not valid here: it is unknown, mistyped, expired or revoked, \
         or belongs to the other deployment.",
    )
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn everything_under_v1_needs_a_key_and_nothing_else_does() {
        for path in ["/v1", "/v1/", "/v1/pets", "/v1/nothing", "/v1//"] {
            assert!(is_needed_for(path), "{path}");
        }
        for path in ["/", "/v1x", "/v10/pets", "/openapi.yaml", "/docs", "//v1/pets", "*", ""] {
            assert!(!is_needed_for(path), "{path}");
        }
    }

    #[test]
    fn a_key_is_presented_as_one_bearer_token() {
        let presented = |fields: &[&str]| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(field).unwrap());
            }
            presented_key(&headers).map(str::to_owned).map_err(|error| error.problem())
        };
        assert_eq!(presented(&["Bearer k"]), Ok("k".to_owned()));
        assert_eq!(presented(&["bEARER  k "]), Ok("k".to_owned()));
        for none in [&[][..], &["Bearer"], &["k"], &["Basic azpr"], &["Bearerk k"]] {
            assert_eq!(presented(none), Err(Problem::MissingApiKey), "{none:?}");
        }
        assert_eq!(presented(&["Bearer k", "Bearer k"]), Err(Problem::InvalidApiKey));
    }
}
