//! One line about a request: always when the service failed or was slow, and
//! for every request with `--access-log`.

use std::time::Duration;

use hyper::{header::HeaderValue, http::request::Parts};
use tracing::{error, info, warn};

use super::{App, Facts, Response, request_id, router::Operation};
use crate::{domain::KeyId, store::Cause, telemetry::chain};

impl App {
    /// Writes the line about a request, if there is to be one.
    pub(super) fn log(
        &self,
        request: &Parts,
        response: &Response,
        facts: &Facts,
        cause: Option<&Cause>,
        took: Duration,
    ) {
        let failed = response.status().is_server_error();
        let slow = took >= self.slow_request;
        if !(failed || slow || self.access_log) {
            return;
        }
        let method = request.method.as_str();
        let route = facts.operation.map_or("none", Operation::route);
        let status = response.status().as_u16();
        let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let request_id = response.headers().get(request_id::HEADER).and_then(|id| id.to_str().ok());
        let key_id = facts.key_id.map(|KeyId(id)| id);
        let trace_id = request.headers.get("traceparent").and_then(trace_id);
        // The level is part of a line's static description, hence the macro.
        macro_rules! line {
            ($level:ident, $($field:tt)*) => {
                $level!(method, route, status, duration_us, request_id, key_id, trace_id, $($field)*)
            };
        }
        if failed {
            let cause = cause.map(|cause| chain(cause.as_ref()));
            line!(error, cause, "request failed");
        } else if slow {
            line!(warn, "slow request");
        } else {
            line!(info, "request");
        }
    }
}

/// The trace that a request belongs to (W3C Trace Context, section 3.2.2):
/// `00-`, 32 hexadecimal digits that are not all 0, and more.
fn trace_id(traceparent: &HeaderValue) -> Option<&str> {
    let mut parts = traceparent.to_str().ok()?.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let valid = hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && hex(trace, 32)
        && hex(parent, 16)
        && hex(flags, 2)
        && trace.bytes().any(|byte| byte != b'0')
        && parent.bytes().any(|byte| byte != b'0');
    valid.then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_taken_from_a_valid_traceparent_alone() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let of = |text: &str| trace_id(&HeaderValue::from_str(text).unwrap()).map(str::to_owned);
        let valid = format!("00-{trace}-00f067aa0ba902b7-01");
        assert_eq!(of(&valid).as_deref(), Some(trace));
        assert_eq!(of(&format!("cc{}-more", &valid[2..])).as_deref(), Some(trace));
        for invalid in [
            "",
            trace,
            &valid[..valid.len() - 1],
            &format!("{valid}-more"),
            &format!("ff{}", &valid[2..]),
            &valid.to_uppercase(),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ] {
            assert_eq!(of(invalid), None, "{invalid}");
        }
    }
}
