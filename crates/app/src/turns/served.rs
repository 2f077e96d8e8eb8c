//! Counts the recent turns of each caller.

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use super::caller::Caller;

/// The maximum number of callers in one period, which bounds the memory. If there are more, a new
/// period begins early.
pub(super) const MAX_CALLERS: usize = 16_384;

/// The numbers of turns that callers have had in the current period and in the previous one. With
/// two periods, a turn is remembered for at least one period and at most two.
pub(super) struct Served {
    period: Duration,
    period_start: Instant,
    /// The number of turns of each caller in the current period.
    current_turns: HashMap<Caller, usize>,
    /// The number of turns of each caller in the previous period.
    previous_turns: HashMap<Caller, usize>,
}

impl Served {
    pub(super) fn new(period: Duration, now: Instant) -> Self {
        Self {
            period,
            period_start: now,
            current_turns: HashMap::new(),
            previous_turns: HashMap::new(),
        }
    }

    /// Counts a turn of the caller.
    pub(super) fn count(&mut self, caller: Caller, now: Instant) {
        self.rotate(now);
        *self.current_turns.entry(caller).or_default() += 1;
    }

    /// Returns how many turns the caller has had in both periods.
    pub(super) fn turns(&self, caller: Caller) -> usize {
        let current_count = self.current_turns.get(&caller).copied();
        let previous_count = self.previous_turns.get(&caller).copied();
        current_count.unwrap_or_default() + previous_count.unwrap_or_default()
    }

    /// Begins a new period if the current one is over, or has [`MAX_CALLERS`]. The current period
    /// becomes the previous one, and the turns before it are forgotten.
    pub(super) fn rotate(&mut self, now: Instant) {
        let age = now.saturating_duration_since(self.period_start);
        if age < self.period && self.current_turns.len() < MAX_CALLERS {
            return;
        }
        self.previous_turns = mem::take(&mut self.current_turns);
        // Nobody has called this for a whole period, so the turns are too old to count.
        if age >= 2 * self.period {
            self.previous_turns.clear();
        }
        self.period_start = now;
    }
}
