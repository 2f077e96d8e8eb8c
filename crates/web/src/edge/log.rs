//! Request logging: every request that failed or was slow, requests with an invalid API key, and
//! with `--access-log` every request. The number of lines that strangers can cause is limited.

use std::{
    net::IpAddr,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use hyper::http::request::Parts;
use petstore_domain::{Actor, KeyId, Networks, Problem, RateLimit, StaffId, rate_limit::Meter};
use petstore_observe::log::error_chain;
use petstore_store::Cause;
use tracing::{error, info, warn};

use super::{
    forwarded,
    request::{Facts, REQUEST_ID},
    response::Response,
    settings::Settings,
    trace,
};

/// The limit of each kind of line that clients can cause, with a burst of the same size.
const LIMIT: &str = "10/min";

/// The log of requests, with the settings that decide which requests are logged.
pub(super) struct RequestLog {
    access_log: bool,
    slow_request: Duration,
    invalid_key_limiter: LogLimiter,
    /// For failed and slow requests of clients without a valid key or session, who could flood the
    /// log.
    stranger_limiter: LogLimiter,
    trusted_proxies: Networks,
}

/// The data for the log line of a request.
pub(super) struct Line<'a> {
    pub(super) is_for_clients: bool,
    pub(super) peer: IpAddr,
    pub(super) request: &'a Parts,
    pub(super) response: &'a Response,
    pub(super) facts: &'a Facts,
    pub(super) cause: Option<&'a Cause>,
    pub(super) duration: Duration,
}

/// Why a request is logged, which determines the level and the message.
#[derive(Clone, Copy)]
enum Reason {
    Failure,
    InvalidKey,
    Slowness,
    AccessLog,
}

impl RequestLog {
    /// Creates a request log with these settings.
    pub(super) fn new(settings: &Settings, now: Instant) -> Self {
        Self {
            access_log: settings.access_log,
            slow_request: settings.slow_request,
            invalid_key_limiter: LogLimiter::new(now),
            stranger_limiter: LogLimiter::new(now),
            trusted_proxies: settings.trusted_proxies.clone(),
        }
    }

    /// Logs a request if it failed, was slow or had an invalid key, or if every request is logged.
    ///
    /// A line that strangers can cause is suppressed if there are too many of its kind, unless
    /// every request is logged.
    pub(super) fn write(&self, line: &Line<'_>, now: impl Fn() -> Instant) {
        let facts = line.facts;
        // A readiness check may report a 503 as its regular result, without a problem. It is no
        // failure.
        let has_failed = line.response.status().is_server_error() && facts.problem.is_some();
        let is_slow = line.is_for_clients && line.duration >= self.slow_request + facts.extra_time;
        let is_in_access_log = line.is_for_clients && self.access_log;
        let is_invalid_key = facts.problem == Some(Problem::InvalidApiKey);
        if !(has_failed || is_slow || is_in_access_log || is_invalid_key) {
            return;
        }

        let limiter = self.find_limiter(line, has_failed || is_slow);
        let mut suppressed_count = None;
        let mut is_suppressed = false;
        if let Some(limiter) = limiter {
            suppressed_count = limiter.try_acquire(now());
            is_suppressed = suppressed_count.is_none();
        }
        // The access log has every request, even one whose warning or error is suppressed.
        if is_suppressed && !is_in_access_log {
            return;
        }

        let reason = if has_failed {
            Reason::Failure
        } else if is_invalid_key && !is_suppressed {
            Reason::InvalidKey
        } else if is_slow {
            Reason::Slowness
        } else {
            Reason::AccessLog
        };
        self.write_line(line, reason, suppressed_count);
    }

    /// Finds the limiter for the log line of a request, if strangers can cause such lines.
    /// `is_noteworthy` says that the request failed or was slow.
    fn find_limiter(&self, line: &Line<'_>, is_noteworthy: bool) -> Option<&LogLimiter> {
        if line.facts.problem == Some(Problem::InvalidApiKey) {
            return Some(&self.invalid_key_limiter);
        }
        let is_of_stranger = line.is_for_clients && line.facts.principal.is_none();
        if is_of_stranger && is_noteworthy {
            return Some(&self.stranger_limiter);
        }
        None
    }

    /// Writes the log line of a request. `suppressed_count` is the number of lines that its limiter
    /// has suppressed since the last one, if the line has a limiter.
    fn write_line(&self, line: &Line<'_>, reason: Reason, suppressed_count: Option<u64>) {
        let headers = &line.request.headers;
        let facts = line.facts;
        let client = forwarded::find_client_address(line.peer, headers, &self.trusted_proxies);
        let method = line.request.method.as_str();
        let route = facts.route.map_or("none", |label| label.path);
        let status = line.response.status().as_u16();
        let code = facts.problem.map(Problem::code);
        let duration_us = u64::try_from(line.duration.as_micros()).unwrap_or(u64::MAX);
        let request_id = line.response.headers().get(REQUEST_ID);
        let request_id = request_id.and_then(|id| id.to_str().ok());
        let (key_id, staff_id) = match facts.principal {
            Some(Actor::Key(KeyId(id))) => (Some(id), None),
            Some(Actor::Staff(StaffId(id))) => (None, Some(id)),
            _ => (None, None),
        };
        let trace_id = trace::parse_parent(headers).map(|parent| parent.trace_id);
        // A macro, because tracing needs the level at compile time. Example: `log!(info,
        // "request")` is `info!(%client, method, …, "request")`.
        macro_rules! log {
            ($level:ident, $($field:tt)*) => {
                $level!(
                    %client, method, route, status, code, duration_us, request_id, key_id, staff_id, trace_id,
                    $($field)*
                )
            };
        }
        let cause = line.cause.map(|cause| error_chain(cause.as_ref()));
        // The name of the log field.
        let left_out = suppressed_count;
        match reason {
            Reason::Failure => log!(error, left_out, cause, "request failed"),
            Reason::InvalidKey => log!(warn, left_out, cause, "request with an invalid API key"),
            Reason::Slowness => log!(warn, left_out, "slow request"),
            Reason::AccessLog => log!(info, "request"),
        }
    }
}

/// A limiter for one kind of log line that clients can cause: a burst of ten, and ten per minute.
/// It counts the suppressed lines, so that the next line can report their number.
pub struct LogLimiter {
    limit: Option<RateLimit>,
    started: Instant,
    meter: Meter,
    suppressed_count: AtomicU64,
}

impl LogLimiter {
    /// Creates a limiter that allows a full burst at first.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            // Never `None`, because the limit is valid.
            limit: LIMIT.parse().ok(),
            started: now,
            meter: Meter::default(),
            suppressed_count: AtomicU64::default(),
        }
    }

    /// Takes one line from the limit, and returns how many lines were suppressed since the last
    /// one.
    ///
    /// Returns `None` if the limit is exceeded, so that this line must be suppressed, too.
    pub fn try_acquire(&self, now: Instant) -> Option<u64> {
        let time = now.saturating_duration_since(self.started);
        let is_within_limit = self
            .limit
            .is_some_and(|limit| self.meter.take(limit, time).is_within_limit);
        if is_within_limit {
            return Some(self.suppressed_count.swap(0, Relaxed));
        }
        self.suppressed_count.fetch_add(1, Relaxed);
        None
    }
}
