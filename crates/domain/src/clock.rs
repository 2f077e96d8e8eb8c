//! The clock, and the times that a store can save. Code receives the clock as an argument, so that
//! tests can control the time.

use std::time::Instant;

use jiff::Timestamp;

/// The earliest time that the service stores and shows: the start of the year 0. RFC 3339 has no
/// earlier year.
pub const EARLIEST: Timestamp = Timestamp::constant(-62_167_219_200, 0);

/// The latest time that the service stores and shows: `9999-12-30T22:00:00Z`. It is the last whole
/// millisecond that can be converted to a [`Timestamp`].
pub const LATEST: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// Converts a stored number of milliseconds since 1970 to a time; `None` if no [`Timestamp`] has
/// this number.
///
/// A time outside of [`EARLIEST`] to [`LATEST`] is clamped, because earlier releases and wrong
/// clocks have stored such times.
pub fn timestamp_from_milliseconds(milliseconds: i64) -> Option<Timestamp> {
    if let Ok(time) = Timestamp::from_millisecond(milliseconds) {
        return Some(time.clamp(EARLIEST, LATEST));
    }
    // The second of `LATEST` is the last one of a `Timestamp`. Its later milliseconds can be
    // stored, but `from_millisecond` rejects them.
    let is_after_latest =
        (LATEST.as_millisecond()..=Timestamp::MAX.as_millisecond()).contains(&milliseconds);
    is_after_latest.then_some(LATEST)
}

/// Returns the time as a store saves it: truncated to whole milliseconds, and clamped to
/// [`EARLIEST`] to [`LATEST`].
///
/// ```
/// use petstore_domain::clock::truncate_to_milliseconds;
///
/// let time = "2026-11-28T12:00:00.123456Z".parse().unwrap();
/// assert_eq!(truncate_to_milliseconds(time).to_string(), "2026-11-28T12:00:00.123Z");
/// ```
pub fn truncate_to_milliseconds(time: Timestamp) -> Timestamp {
    // The number of milliseconds of a `Timestamp` is always in range, so the default is never used.
    timestamp_from_milliseconds(time.as_millisecond()).unwrap_or(LATEST)
}

/// A source of time. All code below the command line reads the time from a clock that is passed in.
/// The lints in `clippy.toml` forbid other clocks.
pub trait Clock: Send + Sync {
    /// Returns the date and time of day, which may jump when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// Returns a point in monotonic time, for measuring durations.
    fn instant(&self) -> Instant;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the machine's clock"
)]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}
