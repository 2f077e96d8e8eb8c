//! Time as an argument, so that a test can choose the date.

use std::time::Instant;

use jiff::Timestamp;

/// Tells the time. All code below the command line takes its time from a clock that is passed in.
/// `clippy.toml` bans the ambient clocks everywhere except here.
pub trait Clock: Send + Sync {
    /// The date and time of day, which may jump when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// A monotonic point in time, for measuring durations.
    fn instant(&self) -> Instant;
}

/// The machine's clock.
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
