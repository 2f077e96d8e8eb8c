//! One line about a request: always when the service failed or was slow, and
//! for every request with `--access-log`.

use std::time::Duration;

use hyper::http::request::Parts;
use tracing::{error, info, warn};

use super::{App, Facts, Response, request_id, router::Operation, trace_context};
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
        let trace_id = trace_context::parent(&request.headers).map(|parent| parent.trace_id);
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
