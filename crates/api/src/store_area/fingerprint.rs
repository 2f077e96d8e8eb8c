//! Fingerprints of requests. By comparing them, the service tells whether a request with a known
//! `Idempotency-Key` is a retry or a different request.

use hyper::{
    header::{self, HeaderValue},
    http::{request::Parts, uri::PathAndQuery},
};
use petstore_formats::json;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the fingerprint of a request with a JSON body. It covers the method, the path, the preconditions
/// and the body. Bodies that differ only in whitespace, in the order of members or in the spelling of
/// integers have the same fingerprint.
pub(super) fn of_json(request: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    add_part(&mut hash, request.method.as_str().as_bytes());
    add_part(&mut hash, request.uri.path().as_bytes());
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        let lines = request.headers.get_all(name).iter();
        let values: Vec<_> = lines.map(HeaderValue::as_bytes).collect();
        add_part(&mut hash, &values.join(&b','));
    }
    // The body has already been parsed, so it is valid JSON.
    let mut body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.sort_all_objects();
    normalize_numbers(&mut body);
    add_part(&mut hash, body.to_string().as_bytes());
    hash.finalize().into()
}

/// Returns the fingerprint of a request with a picture. It covers the path, the query and the bytes.
pub(super) fn of_picture(request: &Parts, picture: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let target = request
        .uri
        .path_and_query()
        .map_or("", PathAndQuery::as_str);
    add_part(&mut hash, target.as_bytes());
    hash.update(picture);
    hash.finalize().into()
}

/// Adds a part to a hash, preceded by its length. Without the lengths, different lists of parts could have
/// the same hash, such as `ab`, `c` and `a`, `bc`.
fn add_part(hash: &mut Sha256, part: &[u8]) {
    hash.update(part.len().to_be_bytes());
    hash.update(part);
}

/// Rewrites each number whose value is an integer in its canonical form.
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
