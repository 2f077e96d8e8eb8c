//! The log line of a request: for every request that failed or was slow, for some requests with an
//! invalid API key, and with `--access-log` for every request.

use std::{
    net::IpAddr,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use hyper::http::request::Parts;
use petstore_domain::{Actor, KeyId, Networks, Problem, RateLimit, StaffId, rate_limit::Meter};
use petstore_observe::log::chain;
use petstore_store::Cause;
use tracing::{error, info, warn};

use super::{
    forwarded,
    request::{Facts, REQUEST_ID},
    response::Response,
    settings::Settings,
    trace,
};

/// Decides which requests have a line, and writes it.
pub(super) struct RequestLog {
    access_log: bool,
    slow_request: Duration,
    invalid_keys: LimitedLines,
    /// Failed and slow requests of clients without a key or a session, who can cause any number of them.
    strangers: LimitedLines,
    trusted_proxies: Networks,
}

/// The content of a line about a request.
pub(super) struct Line<'a> {
    pub(super) is_for_clients: bool,
    pub(super) peer: IpAddr,
    pub(super) request: &'a Parts,
    pub(super) response: &'a Response,
    pub(super) facts: &'a Facts,
    pub(super) cause: Option<&'a Cause>,
    pub(super) duration: Duration,
}

impl RequestLog {
    /// Returns the log of an edge with these settings.
    pub(super) fn new(settings: &Settings, now: Instant) -> Self {
        Self {
            access_log: settings.access_log,
            slow_request: settings.slow_request,
            invalid_keys: LimitedLines::new(now),
            strangers: LimitedLines::new(now),
            trusted_proxies: settings.trusted_proxies.clone(),
        }
    }

    /// Writes the line of a request, if it needs one.
    pub(super) fn write(&self, line: &Line<'_>, now: impl Fn() -> Instant) {
        let facts = line.facts;
        // An operator who asks for the state of the service can get it with a 503, which is no failure.
        let has_failed = line.response.status().is_server_error() && facts.problem.is_some();
        let is_slow = line.is_for_clients && line.duration >= self.slow_request + facts.may_wait;
        let is_in_access_log = line.is_for_clients && self.access_log;
        let is_invalid_key = facts.problem == Some(Problem::InvalidApiKey);
        if !(has_failed || is_slow || is_in_access_log || is_invalid_key) {
            return;
        }

        let is_of_stranger =
            line.is_for_clients && facts.principal.is_none() && (has_failed || is_slow);
        let left_out = if is_invalid_key {
            self.invalid_keys.line(now())
        } else if is_of_stranger {
            self.strangers.line(now())
        } else {
            None
        };
        let is_limited = is_invalid_key || is_of_stranger;
        if is_limited && left_out.is_none() && !is_in_access_log {
            return;
        }

        let reason = if has_failed {
            Reason::Failure
        } else if is_invalid_key && left_out.is_some() {
            Reason::InvalidKey
        } else if is_slow {
            Reason::Slowness
        } else {
            Reason::AccessLog
        };
        self.write_line(line, reason, left_out);
    }

    /// Writes the line of a request. `left_out` is the number of lines that were left out since the last one.
    fn write_line(&self, line: &Line<'_>, reason: Reason, left_out: Option<u64>) {
        let headers = &line.request.headers;
        let facts = line.facts;
        let client = forwarded::client(line.peer, headers, &self.trusted_proxies);
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
        let trace_id = trace::parent(headers).map(|parent| parent.trace_id);
        // A macro, because tracing needs the level at compile time. Example: `line!(info, "request")` is
        // `info!(%client, method, …, "request")`.
        macro_rules! line {
            ($level:ident, $($field:tt)*) => {
                $level!(
                    %client, method, route, status, code, duration_us, request_id, key_id, staff_id, trace_id,
                    $($field)*
                )
            };
        }
        let cause = line.cause.map(|cause| chain(cause.as_ref()));
        match reason {
            Reason::Failure => line!(error, left_out, cause, "request failed"),
            Reason::InvalidKey => line!(warn, left_out, cause, "request with an invalid API key"),
            Reason::Slowness => line!(warn, left_out, "slow request"),
            Reason::AccessLog => line!(info, "request"),
        }
    }
}

/// The reason for the line of a request.
#[derive(Clone, Copy)]
enum Reason {
    Failure,
    InvalidKey,
    Slowness,
    AccessLog,
}

/// Limits lines that clients can cause to a burst of ten, and ten per minute.
pub struct LimitedLines {
    limit: Option<RateLimit>,
    started: Instant,
    meter: Meter,
    left_out: AtomicU64,
}

impl LimitedLines {
    /// Returns a limit that allows a burst from now on.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            limit: "10/min".parse().ok(),
            started: now,
            meter: Meter::default(),
            left_out: AtomicU64::default(),
        }
    }

    /// Returns how many lines were omitted since the last one, or `None` if this one must be
    /// omitted too.
    pub fn line(&self, now: Instant) -> Option<u64> {
        let time = now.saturating_duration_since(self.started);
        let is_allowed = self
            .limit
            .is_some_and(|limit| self.meter.take(limit, time).is_within_limit);
        if is_allowed {
            return Some(self.left_out.swap(0, Relaxed));
        }
        self.left_out.fetch_add(1, Relaxed);
        None
    }
}
