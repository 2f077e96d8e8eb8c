//! When the machine's clock may be believed. What expires, is deleted or is disabled by the time of
//! day asks here, because a wrong clock would destroy it.

use std::{sync::Arc, time::Instant};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use petstore_domain::{Clock, clock::to_milliseconds};
use tracing::{info, warn};

use crate::{Store, StoreError};

/// How far the clock may be from the confirmed time.
const NEAR: SignedDuration = SignedDuration::from_hours(24);

/// How far the wall clock may move against the monotonic one. After a larger jump, nothing is
/// believed for this time.
const JUMP: SignedDuration = SignedDuration::from_mins(1);

/// A clock that is further away is believed after it has run evenly for this part of the distance:
/// an hour for two days, and more than ten days for 500.
const PART: i32 = 48;

/// How old the confirmed time becomes before it is moved: less than the shortest wait of another
/// process whose clock is far away, which is half an hour.
const MOVE: SignedDuration = SignedDuration::from_mins(10);

/// Whether a clock that shows `now` agrees with the confirmed time.
pub fn is_near(now: Timestamp, confirmed: Timestamp) -> bool {
    now.duration_since(confirmed).abs() <= NEAR
}

/// The machine's clock, compared with the time that the database remembers as confirmed.
pub struct ConfirmedClock {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    /// Since when both clocks have run evenly, and nobody else has moved a distant confirmed time.
    since: (Instant, Timestamp),
    has_jumped: bool,
    /// The confirmed time at the last look.
    seen: Option<Timestamp>,
    doubt: Option<Doubt>,
}

/// Why the clock is not believed.
#[derive(Debug, Clone, Copy)]
pub struct Doubt {
    /// What the clock shows.
    pub now: Timestamp,
    /// The latest confirmed time.
    pub confirmed: Timestamp,
    /// For how long the clock must still run evenly.
    pub rest: SignedDuration,
}

impl ConfirmedClock {
    /// This clock, compared with the confirmed time of this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let since = (clock.instant(), clock.now());
        let state = State {
            since,
            has_jumped: false,
            seen: None,
            doubt: None,
        };
        Self {
            store,
            clock,
            state: Mutex::new(state),
        }
    }

    /// The machine's clock, for what a wrong time does not destroy.
    pub fn machine(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The doubt at the last look, if there was one.
    pub fn doubt(&self) -> Option<Doubt> {
        self.state.lock().doubt
    }

    /// The present time, in milliseconds, if it may be believed. Also moves the confirmed time.
    pub async fn now(&self) -> Result<Option<Timestamp>, StoreError> {
        let confirmed = self.store.confirmed_time(self.clock.now()).await?;
        let now = to_milliseconds(self.clock.now());
        let judged = self
            .state
            .lock()
            .judge((self.clock.instant(), now), confirmed);
        let Some(rest) = judged else { return Ok(None) };
        // Restarts in quick succession, each with a clock that is less than a day further ahead,
        // would otherwise move the confirmed time by a day each.
        let has_run_evenly = !rest.is_positive();
        if has_run_evenly && now.duration_since(confirmed).abs() >= MOVE {
            if self.store.confirm_time(confirmed, now, None).await? {
                self.state.lock().seen = Some(now);
            } else if !is_near(now, confirmed) {
                // Another process has confirmed another time.
                return Ok(None);
            }
        }
        Ok(Some(now))
    }
}

impl State {
    /// For how long the clocks that show `present` must still run evenly until they move the
    /// confirmed time (not positive: no longer); `None` if they may not be believed.
    fn judge(
        &mut self,
        present: (Instant, Timestamp),
        confirmed: Timestamp,
    ) -> Option<SignedDuration> {
        let (instant, now) = present;
        let passed = |since: (Instant, Timestamp)| {
            let passed = instant.saturating_duration_since(since.0);
            SignedDuration::try_from(passed).unwrap_or(SignedDuration::MAX)
        };
        let shown = now.duration_since(self.since.1);
        if shown.saturating_sub(passed(self.since)).abs() > JUMP {
            warn!("the clock of the machine has jumped; nothing expires for a minute");
            (self.since, self.has_jumped) = (present, true);
        }
        let is_near = is_near(now, confirmed);
        if self
            .seen
            .replace(confirmed)
            .is_some_and(|seen| seen != confirmed)
            && !is_near
        {
            self.since = present;
        }
        let passed = passed(self.since);
        let distance = now.duration_since(confirmed).abs();
        let rest = (distance / PART).saturating_sub(passed);
        let doubt = (!is_near && rest.is_positive()).then_some(Doubt {
            now,
            confirmed,
            rest,
        });
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
        self.doubt = doubt;
        let is_believed = doubt.is_none() && (!self.has_jumped || passed >= JUMP);
        is_believed.then_some(rest)
    }
}
