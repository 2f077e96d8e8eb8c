//! Parses times, as clients write them.

use jiff::Timestamp;

pub use petstore_domain::clock::truncate_to_milliseconds;

/// The pattern of a time up to its seconds, in which `0` stands for any digit.
const DATE_TIME_PATTERN: &str = "0000-00-00T00:00:00";

/// The length of a fraction in milliseconds: a point and three digits.
const MILLISECONDS_LENGTH: usize = 4;

/// The number of seconds in a day without a leap second.
const DAY_SECONDS: i64 = 86_400;

/// Parses an RFC 3339 time with any offset, truncated to milliseconds, as a store keeps it. Returns
/// `None` for any other text.
///
/// A leap second is only valid at the end of a day in UTC (RFC 3339, section 5.7). A time in the
/// last hours of the year 9999 is after [`Timestamp::MAX`], and becomes that time.
///
/// ```
/// use petstore_formats::json::times::parse;
///
/// assert_eq!(parse("2026-12-06T11:00:00.1239+01:00"), "2026-12-06T10:00:00.123Z".parse().ok());
/// assert_eq!(parse("2026-12-06 10:00:00Z"), None);
/// ```
pub fn parse(text: &str) -> Option<Timestamp> {
    let (seconds, fraction_and_offset) = text.split_at_checked(DATE_TIME_PATTERN.len())?;
    let (fraction, offset) = split_fraction(fraction_and_offset);
    // The parser of `Timestamp` also accepts other forms, for example without separators.
    let is_rfc_3339 = matches_pattern(seconds, DATE_TIME_PATTERN)
        && (matches!(offset, "Z" | "z") || is_offset(offset));
    if !is_rfc_3339 {
        return None;
    }

    // Only milliseconds are kept, so the parser need not accept longer fractions.
    let milliseconds = &fraction[..fraction.len().min(MILLISECONDS_LENGTH)];
    let time = parse_timestamp(&format!("{seconds}{milliseconds}{offset}"))?;
    let is_leap_second = seconds.ends_with(":60");
    // The parser reads a leap second as the second before it.
    let is_end_of_day = (time.as_second() + 1) % DAY_SECONDS == 0;
    if is_leap_second && !is_end_of_day {
        return None;
    }
    Some(truncate_to_milliseconds(time))
}

/// Splits `.5+01:00` into `.5` and `+01:00`. The fraction is empty if there is none.
fn split_fraction(text: &str) -> (&str, &str) {
    let Some(after_point) = text.strip_prefix('.') else {
        return ("", text);
    };
    let offset = after_point.trim_start_matches(|character: char| character.is_ascii_digit());
    if offset.len() == after_point.len() {
        return ("", text);
    }
    text.split_at(text.len() - offset.len())
}

/// Parses a time. A valid time in the year 9999 that is after [`Timestamp::MAX`] becomes that time.
fn parse_timestamp(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    // If the same time a year earlier is valid, this one is only too late.
    let year_before = format!("9998{}", text.strip_prefix("9999")?);
    match year_before.parse::<Timestamp>() {
        Ok(_) => Some(Timestamp::MAX),
        Err(_) => None,
    }
}

/// Whether a text is an offset of less than a day, such as `+01:00`.
fn is_offset(text: &str) -> bool {
    // Texts of two digits have the same order as their numbers.
    (matches_pattern(text, "+00:00") || matches_pattern(text, "-00:00")) && &text[1..3] < "24"
}

/// Whether a text matches a pattern: each `0` in the pattern stands for any digit, and every other
/// character for itself, regardless of upper and lower case.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text
            .bytes()
            .zip(pattern.bytes())
            .all(|(byte, pattern_byte)| match pattern_byte {
                b'0' => byte.is_ascii_digit(),
                _ => byte.eq_ignore_ascii_case(&pattern_byte),
            })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::Object;
    use petstore_domain::clock::timestamp_from_milliseconds;

    #[test]
    fn a_time_has_the_form_of_rfc_3339_and_any_offset() {
        for (text, expected) in [
            ("2026-12-06T10:00:00Z", "2026-12-06T10:00:00Z"),
            ("2026-12-06t10:00:00z", "2026-12-06T10:00:00Z"),
            ("2026-12-06T11:00:00+01:00", "2026-12-06T10:00:00Z"),
            ("2026-12-06T00:30:00.5-09:30", "2026-12-06T10:00:00.5Z"),
            (
                "2026-12-06T10:00:00.1239999999999999999Z",
                "2026-12-06T10:00:00.123Z",
            ),
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
                prop_assert_eq!(timestamp_from_milliseconds(time.as_millisecond()), Some(time));
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
            let stored = timestamp_from_milliseconds(time.as_millisecond()).unwrap();
            prop_assert_eq!(parse(&stored.to_string()), Some(stored));
            prop_assert_eq!(truncate_to_milliseconds(time), stored);
        }
    }

    #[test]
    fn what_is_smaller_than_a_millisecond_is_dropped() {
        let time: Timestamp = "2026-12-06T10:00:00.1239Z".parse().unwrap();
        assert_eq!(
            truncate_to_milliseconds(time).to_string(),
            "2026-12-06T10:00:00.123Z"
        );
    }
}
