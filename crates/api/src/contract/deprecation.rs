//! The deprecation of `getPet` and the date of its removal.

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
};
use jiff::Timestamp;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// When `getPet` is removed: 5 December 2030, 00:00:00 UTC. From then on, it responds with 410.
pub(crate) const REMOVED_AT: Timestamp = Timestamp::constant(1_922_659_200, 0);

/// When `getPet` was deprecated: 21 November 2026, 00:00:00 UTC, as a structured field date (RFC 9745,
/// section 2.1). The operation was deprecated from its first release on.
const DEPRECATED_SINCE: &str = "@1795219200";

/// [`REMOVED_AT`] as an HTTP date (RFC 8594, section 3).
const SUNSET_DATE: &str = "Thu, 05 Dec 2030 00:00:00 GMT";

/// Whether `getPet` has been removed by this time.
pub(crate) fn is_removed_at(now: Timestamp) -> bool {
    now >= REMOVED_AT
}

/// Adds the headers that announce the deprecation of `getPet` to a response. `successor` is a `Link` to the
/// replacement.
pub(crate) fn announce(headers: &mut HeaderMap, successor: &HeaderValue) {
    headers.insert(DEPRECATION, HeaderValue::from_static(DEPRECATED_SINCE));
    headers.insert(SUNSET, HeaderValue::from_static(SUNSET_DATE));
    headers.append(header::LINK, successor.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dates_are_those_in_the_header_fields() {
        assert_eq!(REMOVED_AT.to_string(), "2030-12-05T00:00:00Z");
        let since = DEPRECATED_SINCE[1..].parse().unwrap();
        let since = Timestamp::from_second(since).unwrap();
        assert_eq!(since.to_string(), "2026-11-21T00:00:00Z");
    }
}
