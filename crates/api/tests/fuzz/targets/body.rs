//! The body of a create: arbitrary bytes.

use hyper::StatusCode;
use petstore_domain::PetStatus;
use serde_json::Value;

use super::service::send;

pub(super) fn run(input: &[u8]) {
    let response = send("POST", "/v1/pets", input).unwrap();
    // A second parser, which is more lenient because it accepts duplicate members.
    let read: Option<Value> = serde_json::from_slice(input).ok();
    if response.status != StatusCode::CREATED {
        let refused = ["twice", "deeper", "larger"]
            .iter()
            .any(|word| response.body["message"].as_str().unwrap().contains(word));
        // serde_json represents a number by a private member name.
        let private = input.windows(11).any(|bytes| bytes == b"$serde_json");
        let valid = read.as_ref().is_some_and(is_new_pet);
        assert!(refused || private || !valid, "refused: {}", response.body);
        return;
    }
    let read = read.unwrap();
    assert_eq!(response.body["name"], read["name"]);
    let status = read
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or("available");
    assert_eq!(response.body["status"], status);
    if let Some(category_id) = read["categoryId"].as_i64() {
        assert_eq!(response.body["categoryId"], category_id);
    }
    let location = response.headers["location"].to_str().unwrap();
    let found = send("GET", location, b"").unwrap();
    assert_eq!((found.status, found.body), (StatusCode::OK, response.body));
}

/// Whether this is certainly a valid `NewPet`.
fn is_new_pet(body: &Value) -> bool {
    let status = match body.get("status") {
        None => true,
        Some(status) => status
            .as_str()
            .is_some_and(|status| status.parse::<PetStatus>().is_ok()),
    };
    body.is_object()
        && status
        && body["name"]
            .as_str()
            .is_some_and(|name| !name.contains('\0'))
        && body["categoryId"].as_i64().is_some()
}
