//! Rates, and the meter that counts against them.

use std::time::Duration;

use petstore_domain::{
    RateLimit,
    rate_limit::{InvalidRateLimit, Meter, MeterReading},
};
use proptest::prelude::*;

fn limit(text: &str) -> RateLimit {
    text.parse().unwrap()
}

#[test]
fn a_rate_has_one_spelling() {
    for (text, quota, window, words) in [
        ("1/s", 1, 1, "1 request per second"),
        ("600/min", 600, 60, "600 requests per minute"),
        ("5000/h", 5000, 3600, "5000 requests per hour"),
        ("1000000/s", 1_000_000, 1, "1000000 requests per second"),
    ] {
        assert_eq!((limit(text).quota(), limit(text).window()), (quota, window));
        assert_eq!(limit(text).in_words(), words);
        assert_eq!(limit(text).to_string(), text);
    }
    for bad in [
        "",
        "600",
        "/min",
        "0/s",
        "-1/s",
        "+1/s",
        "01/s",
        "1.5/s",
        "1/",
        "1/d",
        "1/S",
        "1 /s",
        "1/s/s",
        "1000001/s",
        "off",
    ] {
        assert_eq!(bad.parse::<RateLimit>(), Err(InvalidRateLimit), "{bad}");
    }
}

#[test]
fn all_of_the_quota_may_be_used_at_once_and_comes_back_evenly() {
    let meter = Meter::default();
    let (limit, start) = (limit("60/min"), Duration::from_hours(1));
    for remaining in (0..60).rev() {
        let reading = meter.take(limit, start);
        assert_eq!(
            (
                reading.is_within_limit,
                reading.remaining,
                reading.refill_seconds
            ),
            (true, remaining, 1)
        );
    }
    let spent = MeterReading {
        limit,
        is_within_limit: false,
        remaining: 0,
        refill_seconds: 1,
    };
    assert_eq!(meter.take(limit, start), spent);
    assert_eq!(meter.take(limit, start + Duration::from_millis(999)), spent);
    assert!(
        meter
            .take(limit, start + Duration::from_secs(1))
            .is_within_limit
    );
    assert_eq!(meter.take(limit, start + Duration::from_secs(1)), spent);
    let later = meter.take(limit, start + Duration::from_mins(2));
    assert_eq!((later.is_within_limit, later.remaining), (true, 59));
}

#[test]
fn a_reading_says_when_there_will_be_more() {
    let meter = Meter::default();
    let limit = limit("2/h");
    let at = |seconds| meter.take(limit, Duration::from_secs(seconds));
    assert_eq!((at(0).remaining, at(600).remaining), (1, 0));
    let rejected = at(601);
    assert_eq!(
        (rejected.is_within_limit, rejected.refill_seconds),
        (false, 1199)
    );
    assert!(at(1800).is_within_limit);
}

#[test]
fn a_batch_takes_one_for_each_command_or_nothing() {
    let (meter, limit) = (Meter::default(), limit("60/min"));
    let batch = |commands, seconds| {
        let now = Duration::from_secs(seconds);
        meter.take(limit, now);
        let MeterReading {
            is_within_limit: within,
            remaining,
            refill_seconds: more_in,
            ..
        } = meter.take_commands(commands, limit, now);
        (within, remaining, more_in)
    };
    assert_eq!(batch(1, 0), (true, 59, 1));
    assert_eq!(batch(40, 0), (true, 19, 1));
    // Of its 40, one was taken with the request: 18 are left.
    assert_eq!(batch(40, 0), (false, 18, 22));
    assert_eq!(batch(40, 22), (true, 0, 1));
    assert_eq!(batch(60, 122), (true, 0, 1));
}

#[test]
fn a_lowered_limit_counts_earlier_requests() {
    let meter = Meter::default();
    for _ in 0..100 {
        meter.take(limit("100/min"), Duration::ZERO);
    }
    let reading = meter.take(limit("1/min"), Duration::ZERO);
    assert_eq!(
        (
            reading.is_within_limit,
            reading.remaining,
            reading.refill_seconds
        ),
        (false, 0, 60)
    );
}

proptest! {
    #[test]
    fn no_window_has_more_than_twice_the_quota(
        quota in 1..50_u32,
        gaps in proptest::collection::vec(0..3_000_u64, 1..300),
    ) {
        let (meter, limit) = (Meter::default(), limit(&format!("{quota}/min")));
        let mut now = Duration::ZERO;
        let mut taken = Vec::new();
        for gap in gaps {
            now += Duration::from_millis(gap);
            let reading = meter.take(limit, now);
            if reading.is_within_limit {
                taken.push(now);
            }
        }
        for (at, &first) in taken.iter().enumerate() {
            let end = first + Duration::from_mins(1);
            let within = taken[at..].iter().take_while(|&&time| time < end).count();
            prop_assert!(within <= 2 * quota as usize, "{within}");
        }
    }

    #[test]
    fn a_client_that_waits_as_long_as_it_was_told_is_within_the_limit(quota in 1..1_000_000_u32, start in 0..1_000_000_u64) {
        let (meter, limit) = (Meter::default(), limit(&format!("{quota}/h")));
        let start = Duration::from_millis(start);
        let mut reading = meter.take(limit, start);
        for _ in 1..quota.min(100) {
            reading = meter.take(limit, start);
        }
        let later = start + Duration::from_secs(reading.refill_seconds);
        let after = meter.take(limit, later);
        prop_assert!(after.is_within_limit && after.remaining >= reading.remaining);
    }
}
