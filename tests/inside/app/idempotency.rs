//! Tests of `src/app/idempotency.rs`.

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
    let _others = [in_flight.enter(&request(2, 1)), in_flight.enter(&request(1, 2))];
    drop(first);
    assert!(in_flight.enter(&request(1, 1)).is_ok());
}

#[test]
fn the_requests_in_flight_are_limited() {
    let in_flight = InFlight::default();
    let enter = |number| in_flight.enter(&request(1, number));
    let entered: Vec<_> = (0..MAX_IN_FLIGHT).map(|number| enter(number).ok().unwrap()).collect();
    assert_eq!(enter(MAX_IN_FLIGHT).err(), Some(NotEntered::TooMany));
    drop(entered);
    assert!(in_flight.0.lock().unwrap().is_empty());
}
