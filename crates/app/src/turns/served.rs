//! How many turns callers have had lately.

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use super::caller::Caller;

/// The maximum number of callers in one period. If there are more, the next period begins at once.
pub(super) const MAX_CALLERS: usize = 16_384;

/// The numbers of turns that callers have had in the present period and in the one before.
pub(super) struct Served {
    period: Duration,
    began: Instant,
    present: HashMap<Caller, usize>,
    former: HashMap<Caller, usize>,
}

impl Served {
    pub(super) fn new(period: Duration, now: Instant) -> Self {
        Self {
            period,
            began: now,
            present: HashMap::new(),
            former: HashMap::new(),
        }
    }

    /// Counts a turn of this caller.
    pub(super) fn note(&mut self, caller: Caller, now: Instant) {
        self.forget_old(now);
        *self.present.entry(caller).or_default() += 1;
    }

    /// Returns how many turns the caller has had.
    pub(super) fn turns(&self, caller: Caller) -> usize {
        let present = self.present.get(&caller).copied().unwrap_or_default();
        let former = self.former.get(&caller).copied().unwrap_or_default();
        present + former
    }

    /// Begins another period if the present one is over, or has too many callers.
    pub(super) fn forget_old(&mut self, now: Instant) {
        let age = now.saturating_duration_since(self.began);
        if age < self.period && self.present.len() < MAX_CALLERS {
            return;
        }
        self.former = mem::take(&mut self.present);
        if age >= 2 * self.period {
            self.former.clear();
        }
        self.began = now;
    }
}
