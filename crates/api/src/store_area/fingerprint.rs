//! The fingerprints of requests: the service recognizes by them whether a request with a known `Idempotency-Key` is a
//! repetition.

use hyper::{
    header::{self, HeaderValue},
    http::{request::Parts, uri::PathAndQuery},
};
use petstore_formats::json;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the fingerprint of a request with JSON. It differs for another method, path, condition or body. Two bodies with
/// the same JSON values have the same fingerprint, however they are written.
pub(super) fn of_json(request: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    add(&mut hash, request.method.as_str().as_bytes());
    add(&mut hash, request.uri.path().as_bytes());
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        let values = request.headers.get_all(name);
        let values: Vec<_> = values.iter().map(HeaderValue::as_bytes).collect();
        add(&mut hash, &values.join(&b','));
    }
    // The body was parsed before, so it is JSON.
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.sort_all_objects();
    normalize_numbers(&mut body);
    add(&mut hash, body.to_string().as_bytes());
    hash.finalize().into()
}

/// Adds a part to a hash, with its length, so that no two lists of parts have the same hash.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update(part.len().to_be_bytes());
    hash.update(part);
}

/// Returns the fingerprint of a request with a picture. It differs for other bytes, and for another path or query.
pub(super) fn of_picture(request: &Parts, picture: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let target = request
        .uri
        .path_and_query()
        .map_or("", PathAndQuery::as_str);
    add(&mut hash, target.as_bytes());
    hash.update(picture);
    hash.finalize().into()
}

/// Gives each integer one spelling.
///
/// Example: `7.0` becomes `7`.
fn normalize_numbers(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(normalize_numbers),
        Value::Array(elements) => elements.iter_mut().for_each(normalize_numbers),
        Value::Number(number) => {
            if let Some(integer) = json::parse_integer(&number.to_string()) {
                *number = integer.into();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
