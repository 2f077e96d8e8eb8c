//! Which endpoint may send its next message. It does no input or output, and reads no clock.
//!
//! An attempt can occupy its place for 15 seconds, and nobody knows that when it starts. So a place
//! that one endpoint needs is never lent to another one:
//!
//! - **An endpoint whose last attempt succeeded quickly keeps the place of that attempt** for its
//!   next message. The places in use and those that are kept are never more than [`PLACES`]: an
//!   endpoint gets no place to keep except its own, when its attempt ends, and a shared place is
//!   given only while one is free. So such an endpoint never waits for an attempt to another one.
//!   At most [`KEPT`] endpoints keep a place.
//! - **Slow endpoints, and those that are not known yet, always share [`SLOW`] places**, and the one
//!   that has waited longest is next. An attempt ends after 15 seconds, so of `n` such endpoints each
//!   has its turn within `n / 8 + 2` times 15 seconds.
//! - Of the other places, [`QUICK`] are for first messages of endpoints that are quick but keep no
//!   place, and [`MORE`] for further messages of quick endpoints. What remains is for all.
//! - **A new endpoint, or a quick one that keeps no place, does not wait for slow attempts:** if no
//!   place is free, it takes that of the youngest attempt which has run for [`AT_LEAST`]. That
//!   attempt ends without an outcome, and its message is sent again in its turn. The [`SLOW`] oldest
//!   attempts stay, so slow endpoints have 15 seconds there.

use std::time::Duration;

/// How many messages may be in flight, and what the places are for.
pub(super) const PLACES: usize = KEPT + SLOW + QUICK + MORE;
const KEPT: usize = 40;
const SLOW: usize = 8;
const QUICK: usize = 8;
const MORE: usize = 8;

/// How long an attempt has its place before an endpoint that is not slow may take it.
const AT_LEAST: Duration = Duration::from_millis(400);

/// How long a quick attempt takes at most.
const QUICK_ATTEMPT: Duration = Duration::from_secs(1);

/// What the last attempts to an endpoint have shown. One slow attempt costs a step, so a single
/// pause of a healthy endpoint does not put it among the slow ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Standing {
    /// No attempt has ended, or more than the last one was slow.
    #[default]
    Slow,
    /// The last attempt was quick, or the one before it was and kept a place.
    Quick,
    /// The last attempt was quick and succeeded. The endpoint keeps a place.
    Kept,
}

/// An endpoint, as far as its share of the places is concerned.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) standing: Standing,
    pub(super) in_flight: usize,
    /// Whether an attempt that is in flight is not quick any more.
    pub(super) is_late: bool,
    /// The number of its last start; 0 for a new endpoint, which is first.
    pub(super) started: u64,
}

/// Which attempt loses its place to an endpoint that is [waiting](Share::is_waiting), of those to
/// endpoints that keep no place. `running`: since when each of them runs.
pub(super) fn loser<T: Ord>(running: impl Iterator<Item = (Duration, T)>) -> Option<T> {
    let late: Vec<_> = running.filter(|(since, _)| *since >= AT_LEAST).collect();
    let youngest = (late.len() > SLOW).then(|| late.into_iter().min())?;
    youngest.map(|(_, attempt)| attempt)
}

/// Whether an attempt that took so long was quick.
pub(super) fn is_quick(took: Duration) -> bool {
    took <= QUICK_ATTEMPT
}

impl Standing {
    /// The standing after an attempt. `kept` is how many endpoints keep a place, with this one.
    pub(super) fn after(self, is_quick: bool, is_success: bool, kept: usize) -> Self {
        match self {
            Self::Kept if is_quick && is_success => Self::Kept,
            _ if is_quick && is_success && kept < KEPT => Self::Kept,
            _ if is_quick => Self::Quick,
            Self::Kept => Self::Quick,
            Self::Quick | Self::Slow => Self::Slow,
        }
    }
}

/// The places that are not in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// Those that no endpoint keeps.
    free: usize,
    /// How many of them the slow endpoints have not used of what is theirs.
    for_slow: usize,
}

impl Places {
    pub(super) fn among(shares: impl Iterator<Item = Share>) -> Self {
        let (mut taken, mut slow) = (0, 0);
        for share in shares {
            match share.standing {
                Standing::Kept => taken += share.in_flight.max(1),
                Standing::Quick => taken += share.in_flight,
                Standing::Slow => (taken, slow) = (taken + share.in_flight, slow + share.in_flight),
            }
        }
        Self { free: PLACES.saturating_sub(taken), for_slow: SLOW.saturating_sub(slow) }
    }

    /// Whether the endpoint may send one more message.
    pub(super) fn allow(self, share: Share) -> bool {
        let is_first = share.in_flight == 0;
        let reserved = match share.standing {
            Standing::Kept if is_first => return true,
            Standing::Slow if is_first && self.for_slow > 0 => 0,
            Standing::Quick if is_first => self.for_slow,
            Standing::Kept | Standing::Quick if !share.is_late => self.for_slow + QUICK,
            _ => self.for_slow + QUICK + MORE,
        };
        self.free > reserved
    }
}

impl Share {
    /// Whether the endpoint, if it has a message and no place, may take one from a slow attempt.
    pub(super) fn is_waiting(self) -> bool {
        let is_new = self.standing == Standing::Slow && self.started == 0;
        self.in_flight == 0 && (is_new || self.standing == Standing::Quick)
    }

    /// The order of endpoints that may send: the one with the fewest messages in flight, and of
    /// those the one whose last start is the longest ago.
    pub(super) fn order(self) -> (usize, u64) {
        (self.in_flight, self.started)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    /// Endpoints that always have messages, four at a time.
    struct Crowd {
        shares: Vec<Share>,
        starts: u64,
    }

    impl Crowd {
        fn new(count: usize) -> Self {
            Self { shares: vec![Share::default(); count], starts: 0 }
        }

        fn places(&self) -> Places {
            Places::among(self.shares.iter().copied())
        }

        /// Starts attempts of those that `want`, as the dispatcher does, until no more may start.
        fn start(&mut self, want: impl Fn(usize) -> bool) -> Vec<usize> {
            let mut started = Vec::new();
            loop {
                let places = self.places();
                let may = |(at, share): &(usize, &Share)| {
                    want(*at) && share.in_flight < 4 && places.allow(**share)
                };
                let all = self.shares.iter().enumerate();
                let Some((at, _)) = all.filter(may).min_by_key(|(_, share)| share.order()) else {
                    return started;
                };
                self.starts += 1;
                self.shares[at].in_flight += 1;
                self.shares[at].started = self.starts;
                started.push(at);
                self.check();
            }
        }

        fn end(&mut self, at: usize, is_quick: bool, is_success: bool) {
            let kept = self.shares.iter().filter(|share| share.standing == Standing::Kept).count();
            let share = &mut self.shares[at];
            share.in_flight -= 1;
            share.standing = share.standing.after(is_quick, is_success, kept);
            self.check();
        }

        /// What holds after every event.
        fn check(&self) {
            let in_flight: usize = self.shares.iter().map(|share| share.in_flight).sum();
            let keep = |share: &&Share| share.standing == Standing::Kept;
            let idle = self.shares.iter().filter(keep).filter(|share| share.in_flight == 0);
            let idle: Vec<&Share> = idle.collect();
            assert!(in_flight + idle.len() <= PLACES, "{in_flight} and {}", idle.len());
            assert!(self.shares.iter().filter(keep).count() <= KEPT);
            assert!(idle.iter().all(|share| self.places().allow(**share)));
        }
    }

    #[test]
    fn an_endpoint_that_keeps_a_place_can_always_start_whatever_others_do() {
        for seed in 0..20 {
            let random = &mut StdRng::seed_from_u64(seed);
            let (count, is_bad) = (random.random_range(1..=150), random.random_range(0.0..1.0));
            let mut crowd = Crowd::new(count);
            for _ in 0..2_000 {
                let some = random.random_range(0..count);
                crowd.start(|at| at % 3 != some % 3);
                let some = random.random_range(0..count);
                if crowd.shares[some].in_flight > 0 {
                    crowd.shares[some].is_late = random.random_bool(is_bad);
                    crowd.end(some, random.random_bool(1.0 - is_bad), random.random_bool(0.8));
                }
            }
        }
    }

    #[test]
    fn each_slow_endpoint_has_its_turn_in_bounded_time_whatever_quick_ones_do() {
        for (slow, quick) in [(99, 1), (60, 40), (50, 50), (20, 80), (1, 99)] {
            let random = &mut StdRng::seed_from_u64(1);
            let mut crowd = Crowd::new(slow + quick);
            let mut last_turn = vec![0; slow];
            let bound = slow / SLOW + 2;
            // All attempts of slow endpoints end after 15 seconds.
            for period in 1..30 {
                // Meanwhile quick ones send message after message. Some fail, and keep no place.
                for _ in 0..5 {
                    for at in crowd.start(|_| true).into_iter().filter(|at| *at < slow) {
                        last_turn[at] = period;
                    }
                    for at in slow..slow + quick {
                        while crowd.shares[at].in_flight > 0 && random.random_bool(0.9) {
                            crowd.end(at, true, random.random_bool(0.9));
                        }
                    }
                }
                for (at, last) in last_turn.iter().enumerate() {
                    assert!(period - last <= bound, "{at} of {slow} waits since {last}: {period}");
                    while crowd.shares[at].in_flight > 0 {
                        crowd.end(at, false, true);
                    }
                }
            }
        }
    }

    #[test]
    fn an_endpoint_that_may_be_quick_takes_the_place_of_the_youngest_late_attempt_but_eight() {
        let idle = |standing, started| Share { standing, started, ..Share::default() };
        assert!(idle(Standing::Slow, 0).is_waiting() && idle(Standing::Quick, 1).is_waiting());
        assert!(!idle(Standing::Slow, 1).is_waiting() && !idle(Standing::Kept, 1).is_waiting());
        let running = |count| (0..count).map(|at| (AT_LEAST * at, at));
        assert_eq!(loser(running(9)), None);
        // Not 0, which has just begun.
        assert_eq!(loser(running(10)), Some(1));
    }

    #[test]
    fn one_slow_attempt_costs_a_step_and_one_quick_success_wins_a_place() {
        let after =
            |standing: Standing, is_quick, is_success| standing.after(is_quick, is_success, 0);
        assert_eq!(after(Standing::Kept, false, true), Standing::Quick);
        assert_eq!(after(Standing::Quick, false, true), Standing::Slow);
        assert_eq!(after(Standing::Slow, true, true), Standing::Kept);
        // A failure costs the place even if it is quick.
        assert_eq!(after(Standing::Kept, true, false), Standing::Quick);
        // There are only so many places to keep.
        assert_eq!(Standing::Slow.after(true, true, KEPT), Standing::Quick);
        assert_eq!(Standing::Kept.after(true, true, KEPT), Standing::Kept);
        assert!(is_quick(QUICK_ATTEMPT) && !is_quick(2 * QUICK_ATTEMPT));
    }

    #[test]
    fn one_endpoint_has_its_messages_in_flight_also_if_it_is_slow() {
        for standing in [Standing::Slow, Standing::Quick, Standing::Kept] {
            let mut crowd = Crowd::new(1);
            crowd.shares[0].standing = standing;
            assert_eq!(crowd.start(|_| true).len(), 4);
        }
    }
}
