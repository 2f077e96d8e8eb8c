//! Time as an argument, so that a test can choose the date.

use std::time::Instant;

use jiff::Timestamp;

/// The first time that the service stores and shows, because RFC 3339 has no year before 0.
pub const EARLIEST: Timestamp = Timestamp::constant(-62_167_219_200, 0);

/// The last time that the service stores and shows, because no higher number of milliseconds can be converted to a
/// [`Timestamp`].
pub const LATEST: Timestamp = Timestamp::constant(253_402_207_200, 0);

/// Returns the time that a store keeps as this number of milliseconds since 1970; `None` if it keeps no time as that. A
/// time beyond [`EARLIEST`] or [`LATEST`] is read as the nearer of them: earlier versions and wrong clocks have left some.
pub fn timestamp_from_milliseconds(milliseconds: i64) -> Option<Timestamp> {
    if let Ok(time) = Timestamp::from_millisecond(milliseconds) {
        return Some(time.clamp(EARLIEST, LATEST));
    }
    // A timestamp can be converted to these numbers, but not back.
    let is_after_latest =
        (LATEST.as_millisecond()..=Timestamp::MAX.as_millisecond()).contains(&milliseconds);
    is_after_latest.then_some(LATEST)
}

/// Returns the time as a store keeps it: in whole milliseconds, from [`EARLIEST`] to [`LATEST`].
///
/// ```
/// use petstore_domain::clock::truncate_to_milliseconds;
///
/// let time = "2026-11-28T12:00:00.123456Z".parse().unwrap();
/// assert_eq!(truncate_to_milliseconds(time).to_string(), "2026-11-28T12:00:00.123Z");
/// ```
pub fn truncate_to_milliseconds(time: Timestamp) -> Timestamp {
    timestamp_from_milliseconds(time.as_millisecond()).unwrap_or(LATEST)
}

/// A clock, which tells the time. All code below the command line takes its time from a clock that is passed in.
/// `clippy.toml` bans the ambient clocks everywhere except here.
pub trait Clock: Send + Sync {
    /// Returns the date and time of day, which may jump when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// Returns a monotonic point in time, for measuring durations.
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
