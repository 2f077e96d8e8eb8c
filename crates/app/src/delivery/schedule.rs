//! When a failed message is retried, and when an endpoint is disabled.

use jiff::SignedDuration;
use rand::{Rng, RngExt};

const SECONDS_PER_DAY: u64 = 86_400;

/// The retry schedule of Standard Webhooks, in seconds: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h,
/// 20 h, 24 h.
const STEP_SECONDS: [u64; 9] = [
    5,
    300,
    1_800,
    7_200,
    18_000,
    36_000,
    50_400,
    72_000,
    SECONDS_PER_DAY,
];

/// The longest possible delay: a step of 24 hours with the maximum jitter of a tenth.
pub(super) const LONGEST_DELAY: SignedDuration = SignedDuration::from_secs(95_040);

/// The status code with which an endpoint asks for no further messages: 410 (Gone) means that the
/// endpoint no longer exists (RFC 9110, section 15.5.11).
pub(super) const GONE: u16 = 410;

/// How long an endpoint may fail without a single success before it is disabled.
pub(super) const MAX_FAILING_TIME: SignedDuration = SignedDuration::from_hours(5 * 24);

/// Draws the delay before the next attempt after this number of failures, which is at least 1.
///
/// The delay is the step of the schedule. If the endpoint asks for a longer delay, it is
/// `retry_after` seconds, but at most a day. Jitter of up to a tenth is added, so that retries do
/// not arrive at once. For example, the delay after the second failure is between 300 and 330
/// seconds.
pub(super) fn draw_delay(
    failures: u32,
    retry_after: Option<u64>,
    random: &mut impl Rng,
) -> SignedDuration {
    // The first failure leads to the first step.
    let step_index = failures.max(1) as usize - 1;
    let step_seconds = STEP_SECONDS
        .get(step_index)
        .copied()
        .unwrap_or(SECONDS_PER_DAY);
    let requested_seconds = retry_after.unwrap_or(0).min(SECONDS_PER_DAY);
    let seconds = step_seconds.max(requested_seconds);
    let millis = i64::try_from(seconds * 1000).unwrap_or(i64::MAX);
    SignedDuration::from_millis(millis + random.random_range(0..=millis / 10))
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn each_step_is_that_of_the_standard_and_up_to_a_tenth_more() {
        let random = &mut StdRng::seed_from_u64(1);
        let expected = [
            5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400, 86_400,
        ];
        for (failures, seconds) in (1..).zip(expected) {
            let delays: Vec<i64> = (0..100)
                .map(|_| draw_delay(failures, None, random).as_secs())
                .collect();
            let shortest = delays.iter().min().unwrap();
            let longest = delays.iter().max().unwrap();
            assert!(
                *shortest >= seconds && *longest <= seconds * 11 / 10,
                "{failures}: {delays:?}"
            );
            // The jitter of the first step is less than a second.
            assert!(failures == 1 || longest > shortest);
        }
    }

    #[test]
    fn retry_after_only_lengthens_a_step_and_not_beyond_a_day() {
        let random = &mut StdRng::seed_from_u64(1);
        let mut seconds = |failures, after| draw_delay(failures, Some(after), random).as_secs();
        assert!((5..=6).contains(&seconds(1, 1)));
        assert!((120..=132).contains(&seconds(1, 120)));
        assert!((300..=330).contains(&seconds(2, 120)));
        assert!((86_400..=LONGEST_DELAY.as_secs()).contains(&seconds(1, u64::MAX)));
    }
}
