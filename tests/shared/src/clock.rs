//! A clock that moves only when a test moves it.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use petstore_domain::Clock;

pub struct ManualClock(Mutex<(Timestamp, Instant)>);

impl ManualClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant can only be had from the machine"
    )]
    pub fn at(now: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new((now.parse().unwrap(), Instant::now()))))
    }

    pub fn advance(&self, by: Duration) {
        let mut time = self.0.lock().unwrap();
        time.0 += SignedDuration::try_from(by).unwrap();
        time.1 += by;
    }

    /// Sets the date and time of day, as an operator or NTP does.
    pub fn set(&self, now: Timestamp) {
        self.0.lock().unwrap().0 = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap().0
    }

    fn instant(&self) -> Instant {
        self.0.lock().unwrap().1
    }
}
