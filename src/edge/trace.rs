//! The span of a request, if traces are enabled.

use std::time::Duration;

use hyper::{Method, http::request::Parts};
use jiff::Timestamp;

use super::{facts::Facts, request_id, response::Response, trace_context};
use crate::observe::traces::{OTHER_METHOD, Span, Spans, Work};

/// The methods that HTTP defines.
const METHODS: [&str; 9] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// Records the span of a request that was completed `now`, unless its trace is not sampled.
pub(super) fn record(
    spans: &Spans,
    now: Timestamp,
    request: &Parts,
    response: &Response,
    facts: &Facts,
    took: Duration,
) {
    let parent = trace_context::parent(&request.headers);
    let trace_id = parent.map_or_else(|| spans.new_trace_id(), |parent| parent.trace_id.to_owned());
    if !spans.samples(parent.map(|parent| parent.is_sampled), &trace_id) {
        return;
    }
    let ended = u64::try_from(now.as_nanosecond()).unwrap_or_default();
    let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
    let request_id = response.headers().get(request_id::HEADER);
    spans.record(Span {
        trace_id,
        span_id: spans.new_span_id(),
        parent_id: parent.map(|parent| parent.span_id.to_owned()),
        started: ended.saturating_sub(took),
        ended,
        work: Work::Request {
            method: method(&request.method),
            route: facts.route.map(|label| label.path),
            status: response.status().as_u16(),
            principal: facts.principal,
        },
        request_id: request_id.and_then(|id| id.to_str().ok()).map(str::to_owned),
    });
}

fn method(method: &Method) -> &'static str {
    METHODS.into_iter().find(|known| method == known).unwrap_or(OTHER_METHOD)
}
