//! The query of a list: arbitrary bytes that a URL can contain.

use std::collections::HashMap;

use hyper::StatusCode;
use petstore_domain::PetStatus;
use serde_json::{Value, json};

use super::{
    memory::{ANIMALS, animal},
    service::send,
};

pub(super) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Some(response) = send("GET", &format!("/v1/pets?{text}"), b"") else {
        return;
    };
    // A fragment is not sent.
    let query = text.split('#').next().unwrap();
    let (mut parameters, mut strict) = (HashMap::new(), true);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        strict &= ["limit", "status", "cursor"].contains(&&*name);
        strict &= parameters.insert(name, value).is_none();
    }
    let limit = parameters
        .get("limit")
        .map_or(Some(20), |limit| parse_limit(limit));
    let status = parameters
        .get("status")
        .map(|status| status.parse::<PetStatus>());
    let valid = strict && limit.is_some() && !matches!(status, Some(Err(_)));
    if parameters.contains_key("cursor") {
        // Another target covers cursors. Here, the other parameters must still be validated.
        assert!(valid || response.status == StatusCode::BAD_REQUEST);
        return;
    }
    assert_eq!(
        response.status.is_success(),
        valid,
        "{text}: {}",
        response.body
    );
    if let (true, Some(limit)) = (valid, limit) {
        let status = status.and_then(Result::ok);
        assert_eq!(response.body, page(status, 0, limit));
        let more = page(status, 0, 100) != response.body;
        assert_eq!(response.headers.contains_key("link"), more);
    }
}

/// The limit in this text, in its only valid spelling.
fn parse_limit(text: &str) -> Option<usize> {
    (1..=100).find(|limit| limit.to_string() == text)
}

/// The page with this many animals after `after`.
pub(super) fn page(status: Option<PetStatus>, after: i64, limit: usize) -> Value {
    (1..=ANIMALS)
        .filter_map(animal)
        .filter(|pet| pet.id.get() > after && status.is_none_or(|status| status == pet.status))
        .take(limit)
        .map(|pet| {
            json!({
                "id": pet.id.get(),
                "name": pet.name.as_str(),
                "categoryId": pet.category_id,
                "status": pet.status.as_str(),
            })
        })
        .collect()
}
