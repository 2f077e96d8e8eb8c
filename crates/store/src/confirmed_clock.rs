//! The trust in the machine's clock. What expires, is deleted or is disabled by the time of
//! day asks here, because a wrong clock would destroy it.
//!
//! The database remembers a confirmed time. A clock that is near it is trusted at once. A clock that is further away is
//! trusted after it has run evenly, against the monotonic clock, for a part of the distance. A trusted clock then moves
//! the confirmed time.

use std::{sync::Arc, time::Instant};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use petstore_domain::{Clock, clock::truncate_to_milliseconds};
use tracing::{info, warn};

use crate::{Store, StoreError};

/// The maximum distance between the clock and the confirmed time of a clock that is trusted at once.
const MAX_TRUSTED_DISTANCE: SignedDuration = SignedDuration::from_hours(24);

/// The maximum difference by which the wall clock may move against the monotonic one. After a larger jump, no clock is
/// trusted for this time.
const MAX_JUMP: SignedDuration = SignedDuration::from_mins(1);

/// The part of the distance for which a clock that is further away must run evenly: an hour for two days, and more than
/// ten days for 500.
const DISTANCE_PARTS: i32 = 48;

/// The age that the confirmed time reaches before it is moved: less than the shortest wait of another
/// process whose clock is far away, which is half an hour.
const MOVE_AGE: SignedDuration = SignedDuration::from_mins(10);

/// Whether a clock that shows `now` agrees with the confirmed time.
pub fn is_near(now: Timestamp, confirmed: Timestamp) -> bool {
    now.duration_since(confirmed).abs() <= MAX_TRUSTED_DISTANCE
}

/// The machine's clock, compared with the time that the database remembers as confirmed.
pub struct ConfirmedClock {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// The times that both clocks of the machine show at one moment.
#[derive(Debug, Clone, Copy)]
struct Reading {
    instant: Instant,
    now: Timestamp,
}

impl Reading {
    /// Returns the time since an earlier reading, by the monotonic clock.
    fn monotonic_since(self, earlier: Self) -> SignedDuration {
        let duration = self.instant.saturating_duration_since(earlier.instant);
        SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
    }

    /// Returns the time since an earlier reading, by the wall clock.
    fn wall_since(self, earlier: Self) -> SignedDuration {
        self.now.duration_since(earlier.now)
    }
}

struct State {
    /// The reading since which both clocks have run evenly, and no other process has moved a distant confirmed time.
    even_since: Reading,
    has_jumped: bool,
    /// The confirmed time when it was read last.
    last_confirmed: Option<Timestamp>,
    doubt: Option<Doubt>,
}

/// The reason for which the clock is not trusted.
#[derive(Debug, Clone, Copy)]
pub struct Doubt {
    /// The time that the clock shows.
    pub now: Timestamp,
    /// The latest confirmed time.
    pub confirmed: Timestamp,
    /// The time for which the clock must still run evenly.
    pub remaining: SignedDuration,
}

impl ConfirmedClock {
    /// Makes a clock that is compared with the confirmed time of a store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let even_since = Reading {
            instant: clock.instant(),
            now: clock.now(),
        };
        let state = State {
            even_since,
            has_jumped: false,
            last_confirmed: None,
            doubt: None,
        };
        Self {
            store,
            clock,
            state: Mutex::new(state),
        }
    }

    /// Returns the machine's clock, for what a wrong time does not destroy.
    pub fn machine(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the doubt when the clock was read last, if there was one.
    pub fn doubt(&self) -> Option<Doubt> {
        self.state.lock().doubt
    }

    /// Returns the present time, in milliseconds, if the clock is trusted. Also moves the confirmed time.
    pub async fn now(&self) -> Result<Option<Timestamp>, StoreError> {
        let confirmed = self.store.confirmed_time(self.clock.now()).await?;
        let now = truncate_to_milliseconds(self.clock.now());
        let reading = Reading {
            instant: self.clock.instant(),
            now,
        };
        let judgement = self.state.lock().judge(reading, confirmed);
        let Judgement::Trusted { remaining } = judgement else {
            return Ok(None);
        };

        // Restarts in quick succession, each with a clock that is less than a day further ahead,
        // would otherwise move the confirmed time by a day each.
        let has_run_evenly = !remaining.is_positive();
        if has_run_evenly && now.duration_since(confirmed).abs() >= MOVE_AGE {
            if self.store.confirm_time(confirmed, now, None).await? {
                self.state.lock().last_confirmed = Some(now);
            } else if !is_near(now, confirmed) {
                // Another process has confirmed another time.
                return Ok(None);
            }
        }
        Ok(Some(now))
    }
}

/// The result of a comparison of the clock with the confirmed time.
enum Judgement {
    Trusted {
        /// The time for which the clock must still run evenly until it moves the confirmed time. It moves it now if
        /// this is not positive.
        remaining: SignedDuration,
    },
    NotTrusted,
}

impl State {
    /// Compares a reading with the confirmed time, and notes it.
    fn judge(&mut self, reading: Reading, confirmed: Timestamp) -> Judgement {
        let now = reading.now;
        let is_near_confirmed = is_near(now, confirmed);
        self.note_jump(reading);
        self.note_confirmed(reading, confirmed, is_near_confirmed);

        let even_duration = reading.monotonic_since(self.even_since);
        let distance = now.duration_since(confirmed).abs();
        let remaining = (distance / DISTANCE_PARTS).saturating_sub(even_duration);
        let doubt = if !is_near_confirmed && remaining.is_positive() {
            Some(Doubt {
                now,
                confirmed,
                remaining,
            })
        } else {
            None
        };
        self.log_difference(doubt, now, confirmed);
        self.doubt = doubt;

        let is_settled = !self.has_jumped || even_duration >= MAX_JUMP;
        if doubt.is_none() && is_settled {
            Judgement::Trusted { remaining }
        } else {
            Judgement::NotTrusted
        }
    }

    /// Begins the even time again if the wall clock has jumped against the monotonic one.
    fn note_jump(&mut self, reading: Reading) {
        let wall_duration = reading.wall_since(self.even_since);
        let monotonic_duration = reading.monotonic_since(self.even_since);
        if wall_duration.saturating_sub(monotonic_duration).abs() > MAX_JUMP {
            warn!("the clock of the machine has jumped; nothing expires for a minute");
            self.even_since = reading;
            self.has_jumped = true;
        }
    }

    /// Begins the even time again if another process has moved a distant confirmed time.
    fn note_confirmed(&mut self, reading: Reading, confirmed: Timestamp, is_near: bool) {
        let last_confirmed = self.last_confirmed.replace(confirmed);
        let has_moved = last_confirmed.is_some_and(|last_confirmed| last_confirmed != confirmed);
        if has_moved && !is_near {
            self.even_since = reading;
        }
    }

    /// Logs that a doubt begins or ends.
    fn log_difference(&self, doubt: Option<Doubt>, now: Timestamp, confirmed: Timestamp) {
        match (self.doubt, doubt) {
            (None, Some(_)) => warn!(
                clock = %now,
                %confirmed,
                "the clock is more than a day away from the last confirmed time, so nothing expires \
                 and nothing is deleted; correct the clock, or if it is right, run `petstore clock \
                 confirm`"
            ),
            (Some(_), None) => info!(clock = %now, %confirmed, "the clock is confirmed"),
            _ => {}
        }
    }
}
