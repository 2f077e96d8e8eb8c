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
    pub(super) took: Duration,
}

impl RequestLog {
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
        let &Line {
            is_for_clients,
            peer,
            request,
            response,
            facts,
            cause,
            took,
        } = line;
        // Not if an operator asks for the state of the service, and gets it with a 503.
        let failed = response.status().is_server_error() && facts.problem.is_some();
        let slow = is_for_clients && took >= self.slow_request + facts.may_wait;
        let every = is_for_clients && self.access_log;
        let is_invalid_key = facts.problem == Some(Problem::InvalidApiKey);
        if !(failed || slow || every || is_invalid_key) {
            return;
        }
        let is_of_stranger = is_for_clients && facts.principal.is_none() && (failed || slow);
        let left_out = if is_invalid_key {
            self.invalid_keys.line(now())
        } else if is_of_stranger {
            self.strangers.line(now())
        } else {
            None
        };
        let is_limited = is_invalid_key || is_of_stranger;
        if is_limited && left_out.is_none() && !every {
            return;
        }
        let client = forwarded::client(peer, &request.headers, &self.trusted_proxies);
        let method = request.method.as_str();
        let route = facts.route.map_or("none", |label| label.path);
        let status = response.status().as_u16();
        let code = facts.problem.map(Problem::code);
        let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let request_id = response
            .headers()
            .get(REQUEST_ID)
            .and_then(|id| id.to_str().ok());
        let (key_id, staff_id) = match facts.principal {
            Some(Actor::Key(KeyId(id))) => (Some(id), None),
            Some(Actor::Staff(StaffId(id))) => (None, Some(id)),
            _ => (None, None),
        };
        let trace_id = trace::parent(&request.headers).map(|parent| parent.trace_id);
        // A macro, because tracing needs the level at compile time.
        macro_rules! line {
            ($level:ident, $($field:tt)*) => {
                $level!(
                    %client, method, route, status, code, duration_us, request_id, key_id, staff_id, trace_id,
                    $($field)*
                )
            };
        }
        let cause = cause.map(|cause| chain(cause.as_ref()));
        if failed {
            line!(error, left_out, cause, "request failed");
        } else if is_invalid_key && left_out.is_some() {
            line!(warn, left_out, cause, "request with an invalid API key");
        } else if slow {
            line!(warn, left_out, "slow request");
        } else {
            line!(info, "request");
        }
    }
}

/// Limits lines that clients can cause to a burst of ten, and ten per minute.
pub struct LimitedLines {
    limit: Option<RateLimit>,
    started: Instant,
    meter: Meter,
    left_out: AtomicU64,
}

impl LimitedLines {
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
        let now = now.saturating_duration_since(self.started);
        if self
            .limit
            .is_some_and(|limit| self.meter.take(limit, now).within)
        {
            return Some(self.left_out.swap(0, Relaxed));
        }
        self.left_out.fetch_add(1, Relaxed);
        None
    }
}
