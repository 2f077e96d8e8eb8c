//! Tests of `src/console/markup.rs`.

use super::*;

#[test]
fn a_name_is_shown_in_its_direction_without_control_characters_and_never_as_markup() {
    let shown = |text: &str| name(text, 5).into_string();
    assert_eq!(shown("<b>"), "<bdi>&lt;b&gt;</bdi>");
    assert_eq!(shown("a\u{1}\nb"), "<bdi>a\u{fffd} b</bdi>");
    assert_eq!(shown("\u{202e}evil"), "<bdi>\u{fffd}evil</bdi>");
    assert_eq!(shown("🐕🐕🐕🐕🐕🐕"), "<bdi>🐕🐕🐕🐕🐕…</bdi>");
    assert_eq!(shown(" \n"), texts().no_name);
}

#[test]
fn a_moment_within_a_week_is_shown_by_its_distance() {
    let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
    let shown = |at: &str| wording::relative(at.parse().unwrap(), now);
    assert_eq!(shown("2026-11-22T11:59:01Z").unwrap(), "just now");
    assert_eq!(shown("2026-11-22T12:00:00Z").unwrap(), "just now");
    assert_eq!(shown("2026-11-22T12:00:59Z").unwrap(), "in less than a minute");
    assert_eq!(shown("2026-11-22T11:59:00Z").unwrap(), "1 minute ago");
    assert_eq!(shown("2026-11-23T11:59:00Z").unwrap(), "in 23 hours");
    // The day counts: 36 hours can be tomorrow, 25 can be yesterday.
    assert_eq!(shown("2026-11-23T23:59:59Z").unwrap(), "tomorrow");
    assert_eq!(shown("2026-11-21T11:00:00Z").unwrap(), "yesterday");
    assert_eq!(shown("2026-11-24T13:00:00Z").unwrap(), "in 2 days");
    assert_eq!(shown("2026-11-20T12:00:00Z").unwrap(), "2 days ago");
    assert_eq!(shown("2026-11-29T12:00:00Z"), None);
    let exact = wording::exact("2026-01-02T03:04:05Z".parse().unwrap());
    assert_eq!(exact, "2\u{a0}January\u{a0}2026, 03:04 UTC");
}
