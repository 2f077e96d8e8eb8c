//! Time as an argument, so that a test can stand on either side of a date.

use std::time::Instant;

use jiff::Timestamp;

/// Tells the time. Everything below the command line that needs the time asks
/// a clock that it was given; `clippy.toml` bans the ambient ones everywhere but here.
pub trait Clock: Send + Sync {
    /// The date and time of day, which may jump when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// A point on a clock that only moves forward, for measuring durations.
    fn instant(&self) -> Instant;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}
