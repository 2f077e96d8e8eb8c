//! Tests of `src/json/times.rs`.

use proptest::prelude::*;

use super::*;
use crate::{domain::clock::at_millisecond, json::Object};

#[test]
fn a_time_has_the_form_of_rfc_3339_and_any_offset() {
    for (text, expected) in [
        ("2026-12-06T10:00:00Z", "2026-12-06T10:00:00Z"),
        ("2026-12-06t10:00:00z", "2026-12-06T10:00:00Z"),
        ("2026-12-06T11:00:00+01:00", "2026-12-06T10:00:00Z"),
        ("2026-12-06T00:30:00.5-09:30", "2026-12-06T10:00:00.5Z"),
        ("2026-12-06T10:00:00.1239999999999999999Z", "2026-12-06T10:00:00.123Z"),
        ("2026-12-06T10:00:00-00:00", "2026-12-06T10:00:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2016-12-31T18:59:60-05:00", "2016-12-31T23:59:59Z"),
        ("9999-12-30T21:59:59Z", "9999-12-30T21:59:59Z"),
        ("9999-12-30T22:00:00.999Z", "9999-12-30T22:00:00Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-30T22:00:00Z"),
        ("9999-12-31T23:59:59-23:59", "9999-12-30T22:00:00Z"),
        ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z"),
    ] {
        assert_eq!(parse(text), Some(expected.parse().unwrap()), "{text}");
    }
    for other in [
        "",
        "2026-12-06",
        "2026-12-06T10:00:00",
        "2026-12-06 10:00:00Z",
        "2026-12-06T10:00Z",
        "20261206T100000Z",
        "2026-12-06T10:00:00.Z",
        "2026-12-06T10:00:00,5Z",
        "2026-12-06T10:00:00+01",
        "2026-12-06T10:00:00+0100",
        "2026-12-06T10:00:00+24:00",
        "2026-12-06T10:00:00Z[UTC]",
        "2026-12-06T24:00:00Z",
        "2026-02-29T10:00:00Z",
        "2026-12-31T10:00:60Z",
        "2026-12-31T23:59:60-05:00",
        "9999-12-32T00:00:00Z",
        "9999-12-31T24:00:00Z",
        "9999-12-31T10:00:00+00:99",
        "2026-12-06T10:00:00ZZ",
        "é026-12-06T10:00:00Z",
        "+002026-12-06T10:00:00Z",
    ] {
        assert_eq!(parse(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn a_time_that_is_parsed_can_be_stored_read_and_written_again(
        text in "(0000-01-0[12]|9999-12-3[01]|[0-9]{4}-[01][0-9]-[0-3][0-9])\
            T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?(Z|[+-][0-2][0-9]:[0-5][0-9])"
    ) {
        if let Some(time) = parse(&text) {
            prop_assert_eq!(at_millisecond(time.as_millisecond()), Some(time));
            let mut written = Vec::new();
            Object::begin(&mut written).time("", time);
            let written = std::str::from_utf8(&written[5..written.len() - 1]).unwrap();
            prop_assert_eq!(parse(written), Some(time), "{}", written);
        }
    }

    #[test]
    fn a_time_of_any_clock_can_be_stored_read_and_written_again(
        second in prop_oneof![
            Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
            Just(Timestamp::MIN.as_second()),
            Just(Timestamp::MAX.as_second()),
        ],
        millisecond in 0..1000_i32,
    ) {
        let time = Timestamp::new(second, millisecond * 1_000_000).unwrap();
        let stored = at_millisecond(time.as_millisecond()).unwrap();
        prop_assert_eq!(parse(&stored.to_string()), Some(stored));
        prop_assert_eq!(to_milliseconds(time), stored);
    }
}

#[test]
fn what_is_smaller_than_a_millisecond_is_dropped() {
    let time: Timestamp = "2026-12-06T10:00:00.1239Z".parse().unwrap();
    assert_eq!(to_milliseconds(time).to_string(), "2026-12-06T10:00:00.123Z");
}
