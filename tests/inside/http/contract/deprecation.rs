//! Tests of `src/http/contract/deprecation.rs`.

use super::*;

#[test]
fn the_dates_are_those_in_the_header_fields() {
    assert_eq!(REMOVED_AT.to_string(), "2030-12-05T00:00:00Z");
    let since = DEPRECATED_SINCE[1..].parse().unwrap();
    let since = Timestamp::from_second(since).unwrap();
    assert_eq!(since.to_string(), "2026-11-21T00:00:00Z");
}
