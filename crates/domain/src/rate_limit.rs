//! Rate limits, and the meter that enforces them.
//!
//! The algorithm is GCRA (ITU-T I.371), a form of token bucket: a client may use its whole quota in
//! one burst, and the quota refills at a constant rate. The only state of a meter is the time at
//! which the quota will be full again, so no background task needs to refill it.

use std::{
    fmt,
    num::NonZeroU32,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::named_enum::named_enum;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

named_enum! {
    /// The time unit of a rate.
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

/// A rate limit: 1 to 1,000,000 requests per second, minute or hour.
///
/// ```
/// use petstore_domain::RateLimit;
///
/// let limit: RateLimit = "600/min".parse().unwrap();
/// assert_eq!(limit.quota(), 600);
/// assert_eq!(limit.window(), 60);
/// assert!("+600/min".parse::<RateLimit>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    requests: NonZeroU32,
    period: Period,
}

impl RateLimit {
    const MAX_REQUESTS: u32 = 1_000_000;

    /// Returns the quota: the number of requests that a client may send in one burst.
    pub fn quota(self) -> u32 {
        self.requests.get()
    }

    /// Returns the time in which an empty quota refills completely, in seconds.
    pub fn window(self) -> u32 {
        self.period.seconds()
    }

    /// Returns the limit as part of a sentence, such as `600 requests per minute`.
    pub fn in_words(self) -> String {
        let plural = if self.quota() == 1 { "" } else { "s" };
        let period = match self.period {
            Period::Second => "second",
            Period::Minute => "minute",
            Period::Hour => "hour",
        };
        format!("{} request{plural} per {period}", self.requests)
    }

    /// Returns the time in which the quota refills by one request, in nanoseconds.
    fn request_nanos(self) -> u64 {
        u64::from(self.window()) * NANOS_PER_SECOND / u64::from(self.quota())
    }

    /// Returns the time in which an empty quota refills completely, in nanoseconds. It is a
    /// multiple of [`Self::request_nanos`], so that exactly the whole quota fits into it.
    fn window_nanos(self) -> u64 {
        self.request_nanos() * u64::from(self.quota())
    }

    /// Returns the number of requests that are available now. `nanos_until_full` is the time until
    /// the quota is full.
    fn available_requests(self, nanos_until_full: u64) -> u32 {
        // `nanos_until_full` can exceed the window only if the limit was lowered.
        let available_nanos = self.window_nanos().saturating_sub(nanos_until_full);
        // The result is at most the quota, so the default is never used.
        u32::try_from(available_nanos / self.request_nanos()).unwrap_or(Self::MAX_REQUESTS)
    }

    /// Returns the seconds until `count` requests are available, rounded up, but at least 1.
    /// `nanos_until_full` is the time until the quota is full.
    fn seconds_until(self, count: u32, nanos_until_full: u64) -> u64 {
        // With `count` requests available, the quota still needs this time to become full.
        let nanos_from_count_to_full = self
            .window_nanos()
            .saturating_sub(u64::from(count) * self.request_nanos());
        nanos_until_full
            .saturating_sub(nanos_from_count_to_full)
            .div_ceil(NANOS_PER_SECOND)
            .max(1)
    }
}

/// The error for a text that is not a valid rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a rate; use the form 10/s, 600/min or 5000/h, from 1 to {max}", max = RateLimit::MAX_REQUESTS)]
pub struct InvalidRateLimit;

impl FromStr for RateLimit {
    type Err = InvalidRateLimit;

    /// Parses a rate such as `600/min`.
    fn from_str(text: &str) -> Result<Self, InvalidRateLimit> {
        let (requests_text, period_text) = text.split_once('/').ok_or(InvalidRateLimit)?;
        let requests: NonZeroU32 = requests_text.parse().map_err(|_| InvalidRateLimit)?;
        let period = period_text.parse().map_err(|_| InvalidRateLimit)?;
        let limit = Self { requests, period };
        // Another spelling than the canonical one, such as `+10/s`, is an error.
        let is_canonical = limit.to_string() == text;
        if requests.get() > Self::MAX_REQUESTS || !is_canonical {
            return Err(InvalidRateLimit);
        }
        Ok(limit)
    }
}

impl fmt::Display for RateLimit {
    /// Writes the rate in the form that [`RateLimit::from_str`] parses, such as `600/min`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.requests, self.period)
    }
}

/// A meter that counts the requests of one client against a [`RateLimit`]. A new meter has a full
/// quota. All times are durations since one fixed moment.
#[derive(Debug, Default)]
pub struct Meter {
    /// The time when the quota will be full again, in nanoseconds. Accesses are relaxed, because no
    /// other memory depends on this time.
    full_at: AtomicU64,
}

/// The state of a meter after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeterReading {
    /// The limit against which the request was counted.
    pub limit: RateLimit,
    /// Whether the request is within the limit.
    pub is_within_limit: bool,
    /// The number of requests that may follow immediately.
    pub remaining: u32,
    /// The seconds until one more request is available or, if the limit was exceeded, until the
    /// request or batch can be retried. Rounded up, but at least 1.
    pub refill_seconds: u64,
}

impl Meter {
    /// Takes one request from the quota, unless it is exhausted.
    pub fn take(&self, limit: RateLimit, now: Duration) -> MeterReading {
        let count = 1;
        let retry_count = 1;
        self.take_requests(count, retry_count, limit, now)
    }

    /// Takes the additional cost of a batch from the quota, or nothing if the quota is too small.
    ///
    /// The batch itself was already counted as one request, so the additional cost is one request
    /// for each command after the first.
    pub fn take_commands(&self, commands: u32, limit: RateLimit, now: Duration) -> MeterReading {
        let count = commands.saturating_sub(1);
        // A retry is counted as one request again, before its additional cost.
        let retry_count = commands;
        self.take_requests(count, retry_count, limit, now)
    }

    /// Gives back one request that was taken.
    pub fn refund(&self, limit: RateLimit) {
        // The update cannot fail, because the closure always returns `Some`.
        let _ = self
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                Some(full_at.saturating_sub(limit.request_nanos()))
            });
    }

    /// Takes `count` requests from the quota, or none if fewer are available.
    ///
    /// `retry_count` is the number of requests that a retry will need.
    fn take_requests(
        &self,
        count: u32,
        retry_count: u32,
        limit: RateLimit,
        now: Duration,
    ) -> MeterReading {
        let now = to_nanos(now);
        let cost = limit.request_nanos() * u64::from(count);
        let full_at_after_taking = |full_at: u64| full_at.max(now) + cost;
        let update = self
            .full_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                // The requests are available if the quota would be full again within one window.
                let new_full_at = full_at_after_taking(full_at);
                let are_available = new_full_at - now <= limit.window_nanos();
                are_available.then_some(new_full_at)
            });
        match update {
            Ok(former_full_at) => {
                let nanos_until_full = full_at_after_taking(former_full_at) - now;
                let remaining = limit.available_requests(nanos_until_full);
                MeterReading {
                    limit,
                    is_within_limit: true,
                    remaining,
                    // The quota refills by one request.
                    refill_seconds: limit.seconds_until(remaining + 1, nanos_until_full),
                }
            }
            Err(full_at) => {
                let nanos_until_full = full_at.saturating_sub(now);
                MeterReading {
                    limit,
                    is_within_limit: false,
                    remaining: limit.available_requests(nanos_until_full),
                    // The quota refills until it is enough for a retry.
                    refill_seconds: limit.seconds_until(retry_count, nanos_until_full),
                }
            }
        }
    }
}

/// Converts a duration to nanoseconds. A duration that is too long becomes half of the maximum, so
/// that the sum with the cost of a request cannot overflow.
fn to_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}
