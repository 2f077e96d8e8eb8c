//! Decides whether to trust the machine's clock. Everything that expires, deletes or disables
//! something by the time of day asks here first, because a wrong clock would cause damage that
//! cannot be undone.
//!
//! The database stores a confirmed time. A clock that is at most a day away from that time is
//! trusted at once. A clock that is further away is trusted only after an even run: a period in
//! which it keeps pace with the monotonic clock. The further away it is, the longer the run must
//! be. For example, a clock that is two days ahead must run evenly for an hour.
//!
//! After a sufficient even run, the clock also moves the confirmed time, forward or back, to the
//! time that it shows.

use std::{sync::Arc, time::Instant};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use petstore_domain::{Clock, clock::truncate_to_milliseconds};
use tracing::{info, warn};

use crate::{Store, StoreError};

/// The maximum distance from the confirmed time at which a clock is trusted at once.
const MAX_TRUSTED_DISTANCE: SignedDuration = SignedDuration::from_hours(24);

/// The maximum difference between the progress of the wall clock and of the monotonic clock during
/// an even run. A larger difference is a jump of the wall clock.
const MAX_UNEVENNESS: SignedDuration = SignedDuration::from_mins(1);

/// The time for which no clock is trusted after a jump, even if it is near the confirmed time.
const DISTRUST_AFTER_JUMP: SignedDuration = SignedDuration::from_mins(1);

/// The divisor that gives the duration of an even run. A clock must run evenly for its distance to
/// the confirmed time, divided by this number: for an hour if it is two days away, and for more
/// than ten days if it is 500 days away.
const DISTANCE_DIVISOR: i32 = 48;

/// The minimum distance between the clock and the confirmed time at which the confirmed time is
/// moved. Because of this minimum, not every reading causes a write.
///
/// It must be less than half an hour, which is the shortest even run that makes a distant clock
/// trusted. Another process with such a clock then sees the confirmed time move during its run, and
/// begins a new run.
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
    /// Reads both clocks.
    fn new(clock: &dyn Clock) -> Self {
        Self {
            instant: clock.instant(),
            now: truncate_to_milliseconds(clock.now()),
        }
    }

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

/// What the readings of the clock so far have shown.
struct State {
    /// The first reading of the current even run. A new run begins when the wall clock jumps, or
    /// when another process moves the confirmed time to a time that is not near this clock.
    even_since: Reading,
    /// Whether the wall clock has ever jumped. The clock is then trusted only after an even run of
    /// [`DISTRUST_AFTER_JUMP`]. The flag is never reset, because it has no effect after such a run.
    has_jumped: bool,
    /// The confirmed time at the last reading, if there was a reading.
    last_confirmed: Option<Timestamp>,
    /// The doubt at the last reading, if the clock was too far from the confirmed time.
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

/// The result of comparing a reading with the confirmed time.
enum Judgement {
    /// The clock may be wrong.
    NotTrusted,
    /// The clock is trusted, because it is near the confirmed time. It must not move that time yet.
    Near,
    /// The clock is trusted, and may move the confirmed time: it has run evenly for as long as its
    /// distance to that time requires.
    HasRunEvenly,
}

impl ConfirmedClock {
    /// Makes a clock that is checked against the confirmed time of a store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            even_since: Reading::new(&*clock),
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

    /// Returns the doubt of the last reading. Returns `None` if the clock was near enough to the
    /// confirmed time, or had run evenly for long enough. A jump of the clock is not reported here.
    pub fn doubt(&self) -> Option<Doubt> {
        self.state.lock().doubt
    }

    /// Returns the present time, truncated to milliseconds. Returns `None` if the clock is not
    /// trusted. After an even run, first moves the confirmed time to the present time.
    pub async fn now(&self) -> Result<Option<Timestamp>, StoreError> {
        let confirmed = self.store.confirmed_time(self.clock.now()).await?;
        // Read the clock again, because the store may have taken a while to respond.
        let reading = Reading::new(&*self.clock);
        let now = reading.now;
        let judgement = self.state.lock().judge(reading, confirmed);
        match judgement {
            Judgement::NotTrusted => Ok(None),
            // Each of several restarts in quick succession could otherwise move the confirmed time
            // by a day, with a clock that is another day ahead.
            Judgement::Near => Ok(Some(now)),
            Judgement::HasRunEvenly => self.move_confirmed_time(confirmed, now).await,
        }
    }

    /// Moves the confirmed time from `confirmed` to `now`, if they are far enough apart.
    ///
    /// Returns `now`. Returns `None` if another process has just moved the confirmed time instead,
    /// and the clock is distant from `confirmed`: the other process may be right.
    async fn move_confirmed_time(
        &self,
        confirmed: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        if now.duration_since(confirmed).abs() < MIN_DISTANCE_TO_MOVE {
            return Ok(Some(now));
        }
        if self.store.confirm_time(confirmed, now, None).await? {
            self.state.lock().last_confirmed = Some(now);
            return Ok(Some(now));
        }
        if is_near(now, confirmed) {
            Ok(Some(now))
        } else {
            Ok(None)
        }
    }
}

impl State {
    /// Decides whether to trust a reading, by comparing it with the confirmed time. Updates the
    /// state, and logs a change of the doubt.
    fn judge(&mut self, reading: Reading, confirmed: Timestamp) -> Judgement {
        let now = reading.now;
        self.restart_after_jump(reading);
        self.restart_after_distant_move(reading, confirmed);

        let even_duration = reading.monotonic_since(self.even_since);
        let distance = now.duration_since(confirmed).abs();
        let remaining = (distance / DISTANCE_DIVISOR).saturating_sub(even_duration);
        let has_run_evenly = !remaining.is_positive();
        let doubt = if is_near(now, confirmed) || has_run_evenly {
            None
        } else {
            Some(Doubt {
                now,
                confirmed,
                remaining,
            })
        };
        self.log_doubt_change(doubt, now, confirmed);
        self.doubt = doubt;

        let is_settled = !self.has_jumped || even_duration >= DISTRUST_AFTER_JUMP;
        if doubt.is_some() || !is_settled {
            Judgement::NotTrusted
        } else if has_run_evenly {
            Judgement::HasRunEvenly
        } else {
            Judgement::Near
        }
    }

    /// Restarts the even run if the wall clock has jumped relative to the monotonic clock.
    ///
    /// The comparison is with the beginning of the run. So a clock that is only a little too fast
    /// or too slow also restarts the run after some time.
    fn restart_after_jump(&mut self, reading: Reading) {
        let wall_duration = reading.wall_since(self.even_since);
        let monotonic_duration = reading.monotonic_since(self.even_since);
        if wall_duration.saturating_sub(monotonic_duration).abs() > MAX_UNEVENNESS {
            warn!("the clock of the machine has jumped; nothing expires for a minute");
            self.even_since = reading;
            self.has_jumped = true;
        }
    }

    /// Restarts the even run if another process has moved the confirmed time to a time that is not
    /// near this clock: two clocks then disagree, and either may be wrong.
    fn restart_after_distant_move(&mut self, reading: Reading, confirmed: Timestamp) {
        let previous = self.last_confirmed.replace(confirmed);
        let has_moved = previous.is_some_and(|previous_time| previous_time != confirmed);
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
