//! Rate limits, and the meter that counts requests against them.
//!
//! The algorithm is GCRA (ITU-T I.371): a client may use all of its quota at once, and the quota
//! refills evenly. A meter is one number, the time at which the quota will be full again, so no
//! task has to refill it.

use std::{
    fmt,
    num::NonZeroU32,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::words::words;

words! {
    /// The unit of time of a rate.
    enum Period {
        Second = "s",
        Minute = "min",
        Hour = "h",
    }
}

impl Period {
    fn seconds(self) -> u32 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 60 * 60,
        }
    }
}

/// A number of requests per second, minute or hour: 1 to 1,000,000. As text: `10/s`, `600/min` or
/// `5000/h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    requests: NonZeroU32,
    period: Period,
}

impl RateLimit {
    const MAX_REQUESTS: u32 = 1_000_000;

    /// How many requests may come at once. After that, the quota refills evenly.
    pub fn quota(self) -> u32 {
        self.requests.get()
    }

    /// In how many seconds an empty quota refills.
    pub fn window(self) -> u32 {
        self.period.seconds()
    }

    /// The limit as a part of a sentence: `600 requests per minute`.
    pub fn in_words(self) -> String {
        let plural = if self.quota() == 1 { "" } else { "s" };
        let period = match self.period {
            Period::Second => "second",
            Period::Minute => "minute",
            Period::Hour => "hour",
        };
        format!("{} request{plural} per {period}", self.requests)
    }

    /// In how many nanoseconds one request is refilled.
    fn interval(self) -> u64 {
        u64::from(self.window()) * NANOS / u64::from(self.quota())
    }

    /// In how many seconds the quota has `count` requests again, rounded up; at least 1. `used`: in
    /// how many nanoseconds it will be full.
    fn wait(self, used: u64, count: u64) -> u64 {
        let then = self.window_nanos().saturating_sub(count * self.interval());
        used.saturating_sub(then).div_ceil(NANOS).max(1)
    }

    /// In how many nanoseconds an empty quota refills.
    fn window_nanos(self) -> u64 {
        self.interval() * u64::from(self.quota())
    }
}

const NANOS: u64 = 1_000_000_000;

/// The text is not a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a rate; use the form 10/s, 600/min or 5000/h, from 1 to {max}", max = RateLimit::MAX_REQUESTS)]
pub struct InvalidRateLimit;

impl FromStr for RateLimit {
    type Err = InvalidRateLimit;

    fn from_str(text: &str) -> Result<Self, InvalidRateLimit> {
        let (requests, period) = text.split_once('/').ok_or(InvalidRateLimit)?;
        let requests: NonZeroU32 = requests.parse().map_err(|_| InvalidRateLimit)?;
        let period = period.parse().map_err(|_| InvalidRateLimit)?;
        let limit = Self { requests, period };
        // Each rate has one spelling: not `+10/s`, for example.
        let valid = requests.get() <= Self::MAX_REQUESTS && limit.to_string() == text;
        valid.then_some(limit).ok_or(InvalidRateLimit)
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.requests, self.period)
    }
}

/// Counts requests against a [`RateLimit`]. A new meter has a full quota. Times are durations since
/// one fixed moment.
#[derive(Debug, Default)]
pub struct Meter {
    /// When the quota will be full again, in nanoseconds.
    full_at: AtomicU64,
}

/// The state of a meter after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The limit that the request was counted against.
    pub limit: RateLimit,
    /// Whether the request is within the limit.
    pub within: bool,
    /// How many more requests may follow at once.
    pub remaining: u32,
    /// In how many seconds the next request is refilled, rounded up; at least 1. For a batch above
    /// the limit: in how many seconds it can be sent again.
    pub more_in: u64,
}

impl Meter {
    /// Takes one request from the quota, unless the quota is used up.
    pub fn take(&self, limit: RateLimit, now: Duration) -> Reading {
        self.take_all(1, 1, limit, now)
    }

    /// Takes what a batch of so many commands costs in addition to its request, or nothing if the
    /// quota has less.
    pub fn take_commands(&self, commands: u32, limit: RateLimit, now: Duration) -> Reading {
        self.take_all(commands.saturating_sub(1), commands, limit, now)
    }

    /// `again`: how many the client needs to retry.
    fn take_all(&self, count: u32, again: u32, limit: RateLimit, now: Duration) -> Reading {
        let (now, cost) = (nanos(now), limit.interval() * u64::from(count));
        let taken = self.full_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
            let after = full_at.max(now) + cost;
            (after - now <= limit.window_nanos()).then_some(after)
        });
        match taken {
            Ok(before) => Reading::new(limit, true, before.max(now) + cost - now),
            Err(full_at) => {
                let used = full_at.saturating_sub(now);
                let more_in = limit.wait(used, again.into());
                Reading { more_in, ..Reading::new(limit, false, used) }
            }
        }
    }
}

impl Reading {
    /// `used`: in how many nanoseconds the quota will be full again.
    fn new(limit: RateLimit, within: bool, used: u64) -> Self {
        // `used` exceeds the full quota only if the limit was lowered.
        let left = limit.window_nanos().saturating_sub(used) / limit.interval();
        Self {
            limit,
            within,
            remaining: u32::try_from(left).unwrap_or(u32::MAX),
            more_in: limit.wait(used, left + 1),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(text: &str) -> RateLimit {
        text.parse().unwrap()
    }

    #[test]
    fn a_rate_has_one_spelling() {
        for (text, quota, window, words) in [
            ("1/s", 1, 1, "1 request per second"),
            ("600/min", 600, 60, "600 requests per minute"),
            ("5000/h", 5000, 3600, "5000 requests per hour"),
            ("1000000/s", 1_000_000, 1, "1000000 requests per second"),
        ] {
            assert_eq!((limit(text).quota(), limit(text).window()), (quota, window));
            assert_eq!(limit(text).in_words(), words);
            assert_eq!(limit(text).to_string(), text);
        }
        for bad in [
            "",
            "600",
            "/min",
            "0/s",
            "-1/s",
            "+1/s",
            "01/s",
            "1.5/s",
            "1/",
            "1/d",
            "1/S",
            "1 /s",
            "1/s/s",
            "1000001/s",
            "off",
        ] {
            assert_eq!(bad.parse::<RateLimit>(), Err(InvalidRateLimit), "{bad}");
        }
    }

    #[test]
    fn all_of_the_quota_may_be_used_at_once_and_comes_back_evenly() {
        let meter = Meter::default();
        let (limit, start) = (limit("60/min"), Duration::from_hours(1));
        for remaining in (0..60).rev() {
            let reading = meter.take(limit, start);
            assert_eq!((reading.within, reading.remaining, reading.more_in), (true, remaining, 1));
        }
        let spent = Reading { limit, within: false, remaining: 0, more_in: 1 };
        assert_eq!(meter.take(limit, start), spent);
        assert_eq!(meter.take(limit, start + Duration::from_millis(999)), spent);
        assert!(meter.take(limit, start + Duration::from_secs(1)).within);
        assert_eq!(meter.take(limit, start + Duration::from_secs(1)), spent);
        let later = meter.take(limit, start + Duration::from_mins(2));
        assert_eq!((later.within, later.remaining), (true, 59));
    }

    #[test]
    fn a_reading_says_when_there_will_be_more() {
        let meter = Meter::default();
        let limit = limit("2/h");
        let at = |seconds| meter.take(limit, Duration::from_secs(seconds));
        assert_eq!((at(0).remaining, at(600).remaining), (1, 0));
        let rejected = at(601);
        assert_eq!((rejected.within, rejected.more_in), (false, 1199));
        assert!(at(1800).within);
    }

    #[test]
    fn a_batch_takes_one_for_each_command_or_nothing() {
        let (meter, limit) = (Meter::default(), limit("60/min"));
        let batch = |commands, seconds| {
            let now = Duration::from_secs(seconds);
            meter.take(limit, now);
            let Reading { within, remaining, more_in, .. } =
                meter.take_commands(commands, limit, now);
            (within, remaining, more_in)
        };
        assert_eq!(batch(1, 0), (true, 59, 1));
        assert_eq!(batch(40, 0), (true, 19, 1));
        // Of its 40, one was taken with the request: 18 are left.
        assert_eq!(batch(40, 0), (false, 18, 22));
        assert_eq!(batch(40, 22), (true, 0, 1));
        assert_eq!(batch(60, 122), (true, 0, 1));
    }

    #[test]
    fn a_lowered_limit_counts_earlier_requests() {
        let meter = Meter::default();
        for _ in 0..100 {
            meter.take(limit("100/min"), Duration::ZERO);
        }
        let reading = meter.take(limit("1/min"), Duration::ZERO);
        assert_eq!((reading.within, reading.remaining, reading.more_in), (false, 0, 60));
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_twice_the_quota(
            quota in 1..50_u32,
            gaps in proptest::collection::vec(0..3_000_u64, 1..300),
        ) {
            let (meter, limit) = (Meter::default(), limit(&format!("{quota}/min")));
            let mut now = Duration::ZERO;
            let mut taken = Vec::new();
            for gap in gaps {
                now += Duration::from_millis(gap);
                let reading = meter.take(limit, now);
                if reading.within {
                    taken.push(now);
                }
            }
            for (at, &first) in taken.iter().enumerate() {
                let end = first + Duration::from_mins(1);
                let within = taken[at..].iter().take_while(|&&time| time < end).count();
                prop_assert!(within <= 2 * quota as usize, "{within}");
            }
        }

        #[test]
        fn a_client_that_waits_as_long_as_it_was_told_is_within_the_limit(quota in 1..1_000_000_u32, start in 0..1_000_000_u64) {
            let (meter, limit) = (Meter::default(), limit(&format!("{quota}/h")));
            let start = Duration::from_millis(start);
            let mut reading = meter.take(limit, start);
            for _ in 1..quota.min(100) {
                reading = meter.take(limit, start);
            }
            let later = start + Duration::from_secs(reading.more_in);
            let after = meter.take(limit, later);
            prop_assert!(after.within && after.remaining >= reading.remaining);
        }
    }
}
