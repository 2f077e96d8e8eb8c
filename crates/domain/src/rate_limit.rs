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

    /// Returns the limit as a part of a sentence: `600 requests per minute`.
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
pub struct MeterReading {
    /// The limit that the request was counted against.
    pub limit: RateLimit,
    /// Whether the request is within the limit.
    pub is_within_limit: bool,
    /// How many more requests may follow at once.
    pub remaining: u32,
    /// In how many seconds the next request is refilled, rounded up; at least 1. For a batch above
    /// the limit: in how many seconds it can be sent again.
    pub refill_seconds: u64,
}

impl Meter {
    /// Takes one request from the quota, unless the quota is used up.
    pub fn take(&self, limit: RateLimit, now: Duration) -> MeterReading {
        self.take_all(1, 1, limit, now)
    }

    /// Takes what a batch of so many commands costs in addition to its request, or nothing if the
    /// quota has less.
    pub fn take_commands(&self, commands: u32, limit: RateLimit, now: Duration) -> MeterReading {
        self.take_all(commands.saturating_sub(1), commands, limit, now)
    }

    /// Gives one request back that was taken.
    pub fn give_back(&self, limit: RateLimit) {
        let _ = self
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                Some(full_at.saturating_sub(limit.interval()))
            });
    }

    /// `again`: how many the client needs to retry.
    fn take_all(&self, count: u32, again: u32, limit: RateLimit, now: Duration) -> MeterReading {
        let now = nanos(now);
        let cost = limit.interval() * u64::from(count);
        let taken = self
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                let after = full_at.max(now) + cost;
                (after - now <= limit.window_nanos()).then_some(after)
            });
        match taken {
            Ok(before) => MeterReading::new(limit, true, before.max(now) + cost - now),
            Err(full_at) => {
                let used = full_at.saturating_sub(now);
                let more_in = limit.wait(used, again.into());
                MeterReading {
                    refill_seconds: more_in,
                    ..MeterReading::new(limit, false, used)
                }
            }
        }
    }
}

impl MeterReading {
    /// `used`: in how many nanoseconds the quota will be full again.
    fn new(limit: RateLimit, within: bool, used: u64) -> Self {
        // `used` exceeds the full quota only if the limit was lowered.
        let left = limit.window_nanos().saturating_sub(used) / limit.interval();
        Self {
            limit,
            is_within_limit: within,
            remaining: u32::try_from(left).unwrap_or(u32::MAX),
            refill_seconds: limit.wait(used, left + 1),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}
