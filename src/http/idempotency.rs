//! `Idempotency-Key`: a client that received no response can retry its request safely
//! (draft-ietf-httpapi-idempotency-key-header).

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Instant,
};

use hyper::HeaderMap;

use super::error::{ApiError, Problem};
use crate::{
    domain::{
        Clock, IdempotencyKey, IdempotentRequest, KeyId, Owner,
        idempotency::{MARK_EVERY, REMEMBERED_FOR_MARKS},
    },
    store::{Keys, Requests, StoreError},
};

const HEADER: &str = "idempotency-key";

/// How many requests with an idempotency key the store may process at once.
const MAX_IN_FLIGHT: usize = 4096;

/// How many remembered requests one transaction deletes.
const FORGET_AT_ONCE: u32 = 200;

/// The first key of each lineage, by each of its keys that sent an idempotency key. It never
/// changes, so the store is queried once for each key.
#[derive(Default)]
pub(super) struct Lineages(RwLock<HashMap<KeyId, KeyId>>);

impl Lineages {
    /// See [`Keys::first_of_lineage`].
    pub(super) async fn first(&self, store: &dyn Keys, key: KeyId) -> Result<KeyId, StoreError> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        if let Some(first) = known {
            return Ok(first);
        }
        let first = store.first_of_lineage(key).await?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, first);
        Ok(first)
    }
}

/// The newest mark in the store, and when this process first saw it.
#[derive(Default)]
pub(super) struct LastMark(Mutex<Option<(i64, Instant)>>);

impl LastMark {
    /// See [`super::App::forget_old_requests`].
    pub(super) async fn forget(
        &self,
        store: &dyn Requests,
        clock: &dyn Clock,
    ) -> Result<bool, StoreError> {
        let seen = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = |since| clock.instant().saturating_duration_since(since) >= MARK_EVERY;
        let due = seen.filter(|&(_, since)| is_due(since)).map(|(mark, _)| mark);
        let newest = store.mark_idempotency_keys(due).await?;
        if seen.is_none_or(|(mark, _)| mark != newest) {
            let seen = Some((newest, clock.instant()));
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        }
        let forgotten = store.forget_idempotency_keys(REMEMBERED_FOR_MARKS, FORGET_AT_ONCE).await?;
        Ok(forgotten >= FORGET_AT_ONCE as usize)
    }
}

/// The idempotency key of a request, if it has one. Fails with 400 if it is invalid or given twice.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut fields = headers.get_all(HEADER).iter();
    let Some(field) = fields.next() else {
        return Ok(None);
    };
    let invalid = || {
        let message = "Idempotency-Key must be given once, as 1 to 255 visible ASCII characters, \
                       preferably in double quotes.";
        ApiError::new(Problem::InvalidParameter, message)
    };
    if fields.next().is_some() {
        return Err(invalid());
    }
    let text = field.to_str().ok().and_then(unquoted).ok_or_else(invalid)?;
    IdempotencyKey::new(text.into_owned()).map(Some).ok_or_else(invalid)
}

/// The content of a String (RFC 8941, section 3.3.3). Many clients send a UUID without quotes, so a
/// value without quotes is used as it is, unless it could be a list or have parameters.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    let Some(rest) = value.strip_prefix('"') else {
        return (!value.contains(['"', '\\', ',', ';'])).then_some(Cow::Borrowed(value));
    };
    let inner = rest.strip_suffix('"')?;
    if !inner.contains(['"', '\\']) {
        return Some(Cow::Borrowed(inner));
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => characters.next().filter(|escaped| matches!(escaped, '"' | '\\'))?,
            '"' => return None,
            other => other,
        });
    }
    Some(Cow::Owned(text))
}

/// The requests with an idempotency key that the store is processing. A retry during this time gets
/// a 409 at once, instead of waiting for the first request.
#[derive(Default)]
pub(super) struct InFlight(Mutex<HashSet<(Owner, IdempotencyKey)>>);

impl InFlight {
    /// Adds a request, until the result is dropped. Fails with 409 if the request is in flight
    /// already; 503 above [`MAX_IN_FLIGHT`].
    pub(super) fn enter(&self, request: &IdempotentRequest) -> Result<InFlightGuard<'_>, ApiError> {
        let entry = (request.lineage, request.key.clone());
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.contains(&entry) {
            return Err(ApiError::new(
                Problem::IdempotencyInProgress,
                "The request with this Idempotency-Key is still in progress. \
                 Retry in a moment.",
            ));
        }
        if entries.len() >= MAX_IN_FLIGHT {
            return Err(ApiError::from(StoreError::Overloaded).caused_by(Arc::new(TooManyInFlight)));
        }
        entries.insert(entry.clone());
        Ok(InFlightGuard { all: self, entry })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{MAX_IN_FLIGHT} requests with an Idempotency-Key are in progress")]
struct TooManyInFlight;

pub(super) struct InFlightGuard<'a> {
    all: &'a InFlight,
    entry: (Owner, IdempotencyKey),
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.entry);
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn read(fields: &[&str]) -> Result<Option<String>, Problem> {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(HEADER, HeaderValue::from_bytes(field.as_bytes()).unwrap());
        }
        key(&headers)
            .map(|key| key.map(|key| key.as_str().to_owned()))
            .map_err(|error| error.problem())
    }

    #[test]
    fn a_key_is_read_with_and_without_quotes() {
        assert_eq!(read(&[]), Ok(None));
        let longest = "k".repeat(255);
        let quoted_longest = format!("\"{}\"", r"\\".repeat(255));
        for (field, value) in [
            (r#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("a/b+c==", "a/b+c=="),
            (r#""a,b;c""#, "a,b;c"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            (&longest, &longest),
            (&quoted_longest, &r"\".repeat(255)),
        ] {
            assert_eq!(read(&[field]), Ok(Some(value.to_owned())), "{field}");
        }
    }

    #[test]
    fn an_invalid_empty_or_repeated_key_is_rejected() {
        let too_long = "k".repeat(256);
        let quoted_too_long = format!("\"{too_long}\"");
        for fields in [
            &[""][..],
            &["\"\""],
            &["\""],
            &["\"a"],
            &["a\""],
            &["\"a\"b\""],
            &["\"a\\\""],
            &["\"a\\b\""],
            &["\"a\"; b=1"],
            &["\"a\", \"b\""],
            &["a, b"],
            &["a,b"],
            &["a;b"],
            &["a b"],
            &["\"a b\""],
            &["a\tb"],
            &["é"],
            &["\"é\""],
            &[&too_long],
            &[&quoted_too_long],
            &["a", "b"],
            &["a", "a"],
        ] {
            assert_eq!(read(fields), Err(Problem::InvalidParameter), "{fields:?}");
        }
    }

    proptest! {
        #[test]
        fn a_key_in_quotes_reads_back(text in "[!-~]{1,255}") {
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
            prop_assert_eq!(read(&[&format!("\"{escaped}\"")]), Ok(Some(text)));
        }
    }

    fn request(api_key: i64, number: usize) -> IdempotentRequest {
        IdempotentRequest {
            caller: KeyId(api_key).into(),
            lineage: KeyId(api_key).into(),
            operation: "createPet",
            key: IdempotencyKey::new(format!("retry-{number}")).unwrap(),
            fingerprint: [0; 32],
        }
    }

    fn problem_of(rejected: Result<InFlightGuard<'_>, ApiError>) -> Problem {
        rejected.err().unwrap().problem()
    }

    #[test]
    fn a_request_is_in_flight_until_its_entry_is_dropped() {
        let in_flight = InFlight::default();
        let first = in_flight.enter(&request(1, 1)).unwrap();
        let again = in_flight.enter(&request(1, 1));
        assert_eq!(problem_of(again), Problem::IdempotencyInProgress);
        // The rejection of the second request leaves the first one in flight.
        let again = in_flight.enter(&request(1, 1));
        assert_eq!(problem_of(again), Problem::IdempotencyInProgress);
        let _others = [in_flight.enter(&request(2, 1)), in_flight.enter(&request(1, 2))];
        drop(first);
        assert!(in_flight.enter(&request(1, 1)).is_ok());
    }

    #[test]
    fn the_requests_in_flight_are_limited() {
        let in_flight = InFlight::default();
        let enter = |number| in_flight.enter(&request(1, number));
        let entered: Vec<_> =
            (0..MAX_IN_FLIGHT).map(|number| enter(number).ok().unwrap()).collect();
        assert_eq!(problem_of(enter(MAX_IN_FLIGHT)), Problem::Unavailable);
        drop(entered);
        assert!(in_flight.0.lock().unwrap().is_empty());
    }
}
