//! When a failed message is due again, and when an endpoint is disabled.

use jiff::SignedDuration;
use rand::{Rng, RngExt};

/// The schedule of the standard, in seconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
const STEPS: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, DAY];

const DAY: u64 = 86_400;

/// The longest step with what is added to it.
pub(super) const LONGEST: SignedDuration = SignedDuration::from_secs(95_040);

/// After so long with nothing but failures, an endpoint is disabled.
pub(super) const MAX_FAILING: SignedDuration = SignedDuration::from_hours(5 * 24);

/// How long to wait after this many failures, at least 1: a step, or what the endpoint asks for if
/// that is longer (at most a day), and up to a tenth more, so that messages do not come in a crowd.
pub(super) fn delay(
    failures: u32,
    retry_after: Option<u64>,
    random: &mut impl Rng,
) -> SignedDuration {
    let step = failures.max(1) as usize - 1;
    let step = STEPS.get(step).copied().unwrap_or(DAY).max(retry_after.unwrap_or(0).min(DAY));
    let millis = i64::try_from(step * 1000).unwrap_or(i64::MAX);
    SignedDuration::from_millis(millis + random.random_range(0..=millis / 10))
}

#[cfg(test)]
#[path = "../../tests/inside/delivery/schedule.rs"]
mod tests;
