//! Decides whether to trust the machine's clock. Everything that expires, deletes or disables
//! something by the time of day asks here first, because a wrong clock would cause damage that
//! cannot be undone.
//!
//! The database stores a confirmed time. A clock that is near that time is trusted at once. A clock
//! that is further away is trusted only after an even run: it must keep pace with the monotonic
//! clock for a fraction of the distance. A trusted clock then moves the confirmed time, forward or
//! back, to the time that it shows.

use std::{sync::Arc, time::Instant};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use petstore_domain::{Clock, clock::truncate_to_milliseconds};
use tracing::{info, warn};

use crate::{Store, StoreError};

/// The maximum distance from the confirmed time at which a clock is trusted at once.
const MAX_TRUSTED_DISTANCE: SignedDuration = SignedDuration::from_hours(24);

/// The maximum difference between the progress of the wall clock and of the monotonic clock. A
/// larger difference is a jump of the wall clock. After a jump, no time is trusted for this
/// duration.
const MAX_JUMP: SignedDuration = SignedDuration::from_mins(1);

/// The divisor for the duration of an even run. A distant clock must run evenly for its distance to
/// the confirmed time, divided by this: an hour for two days, and more than ten days for 500 days.
const DISTANCE_DIVISOR: i32 = 48;

/// The minimum distance from the clock at which the confirmed time is moved, which avoids a write
/// at each reading. It is less than half an hour, the shortest time for which another process with
/// a distant clock must wait, so that process sees the confirmed time move.
const MIN_DISTANCE_TO_MOVE: SignedDuration = SignedDuration::from_mins(10);

/// Whether a clock that shows `now` is near enough to the confirmed time to be trusted at once.
pub fn is_near(now: Timestamp, confirmed: Timestamp) -> bool {
    now.duration_since(confirmed).abs() <= MAX_TRUSTED_DISTANCE
}

/// The machine's clock, which is trusted or not by comparison with the confirmed time in the
/// database.
pub struct ConfirmedClock {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// A simultaneous reading of the monotonic clock and the wall clock.
#[derive(Debug, Clone, Copy)]
struct Reading {
    instant: Instant,
    now: Timestamp,
}

impl Reading {
    /// Returns the time since an earlier reading, as measured by the monotonic clock.
    fn monotonic_since(self, earlier: Self) -> SignedDuration {
        let duration = self.instant.saturating_duration_since(earlier.instant);
        SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
    }

    /// Returns the time since an earlier reading, as measured by the wall clock.
    fn wall_since(self, earlier: Self) -> SignedDuration {
        self.now.duration_since(earlier.now)
    }
}

struct State {
    /// The first reading of the current even run. A new run begins when the wall clock jumps, or
    /// when another process moves the confirmed time while it is distant from this clock.
    even_since: Reading,
    /// Whether the wall clock has jumped. It is then trusted only after an even run of
    /// [`MAX_JUMP`].
    has_jumped: bool,
    /// The confirmed time at the last reading.
    last_confirmed: Option<Timestamp>,
    doubt: Option<Doubt>,
}

/// The reason why the clock is not trusted: it is too far from the confirmed time.
#[derive(Debug, Clone, Copy)]
pub struct Doubt {
    /// The time that the clock shows.
    pub now: Timestamp,
    /// The latest confirmed time.
    pub confirmed: Timestamp,
    /// How much longer the clock must run evenly to be trusted.
    pub remaining: SignedDuration,
}

impl ConfirmedClock {
    /// Makes a clock that is checked against the confirmed time of a store.
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

    /// Returns the machine's clock without the check, for uses in which a wrong time does no
    /// lasting damage.
    pub fn machine(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the reason why the clock was too far from the confirmed time to be trusted at the
    /// last reading; `None` if it was not. A jump of the clock is not reported here.
    pub fn doubt(&self) -> Option<Doubt> {
        self.state.lock().doubt
    }

    /// Returns the present time, truncated to milliseconds; `None` if the clock is not trusted.
    /// After an even run, also moves the confirmed time to it.
    pub async fn now(&self) -> Result<Option<Timestamp>, StoreError> {
        let confirmed = self.store.confirmed_time(self.clock.now()).await?;
        // Read the clock again, because the store may have taken a while to respond.
        let now = truncate_to_milliseconds(self.clock.now());
        let reading = Reading {
            instant: self.clock.instant(),
            now,
        };
        let judgement = self.state.lock().judge(reading, confirmed);
        let Judgement::Trusted { remaining } = judgement else {
            return Ok(None);
        };

        // Move the confirmed time only after an even run. Otherwise, each of several restarts in
        // quick succession could move it by a day, with a clock that is another day ahead.
        let has_run_evenly = !remaining.is_positive();
        if has_run_evenly && now.duration_since(confirmed).abs() >= MIN_DISTANCE_TO_MOVE {
            if self.store.confirm_time(confirmed, now, None).await? {
                self.state.lock().last_confirmed = Some(now);
            } else if !is_near(now, confirmed) {
                // Another process has just moved the confirmed time, and it may be right.
                return Ok(None);
            }
        }
        Ok(Some(now))
    }
}

/// The result of comparing the clock with the confirmed time.
enum Judgement {
    Trusted {
        /// How much longer the clock must run evenly before it may move the confirmed time. It may
        /// move it now if this is not positive.
        remaining: SignedDuration,
    },
    NotTrusted,
}

impl State {
    /// Decides whether to trust a reading, by comparing it with the confirmed time. Updates the
    /// even run and the doubt.
    fn judge(&mut self, reading: Reading, confirmed: Timestamp) -> Judgement {
        let now = reading.now;
        self.restart_after_jump(reading);
        self.restart_after_distant_move(reading, confirmed);

        let even_duration = reading.monotonic_since(self.even_since);
        let distance = now.duration_since(confirmed).abs();
        let remaining = (distance / DISTANCE_DIVISOR).saturating_sub(even_duration);
        let doubt = if !is_near(now, confirmed) && remaining.is_positive() {
            Some(Doubt {
                now,
                confirmed,
                remaining,
            })
        } else {
            None
        };
        self.log_doubt_change(doubt, now, confirmed);
        self.doubt = doubt;

        let is_settled = !self.has_jumped || even_duration >= MAX_JUMP;
        if doubt.is_none() && is_settled {
            Judgement::Trusted { remaining }
        } else {
            Judgement::NotTrusted
        }
    }

    /// Restarts the even run if the wall clock has jumped relative to the monotonic clock.
    fn restart_after_jump(&mut self, reading: Reading) {
        let wall_duration = reading.wall_since(self.even_since);
        let monotonic_duration = reading.monotonic_since(self.even_since);
        if wall_duration.saturating_sub(monotonic_duration).abs() > MAX_JUMP {
            warn!("the clock of the machine has jumped; nothing expires for a minute");
            self.even_since = reading;
            self.has_jumped = true;
        }
    }

    /// Restarts the even run if another process has moved the confirmed time, but not near to this
    /// clock: two clocks then disagree, and either may be wrong.
    fn restart_after_distant_move(&mut self, reading: Reading, confirmed: Timestamp) {
        let last_confirmed = self.last_confirmed.replace(confirmed);
        let has_moved = last_confirmed.is_some_and(|last_confirmed| last_confirmed != confirmed);
        if has_moved && !is_near(reading.now, confirmed) {
            self.even_since = reading;
        }
    }

    /// Logs when the clock becomes doubtful, and when it is trusted again.
    fn log_doubt_change(&self, doubt: Option<Doubt>, now: Timestamp, confirmed: Timestamp) {
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
