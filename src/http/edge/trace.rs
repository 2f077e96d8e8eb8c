//! The span of a request, if traces are enabled.

use std::time::Duration;

use hyper::{Method, http::request::Parts};

use super::{request_id, trace_context};
use crate::{
    domain::KeyId,
    http::{App, Facts, Response},
    observe::traces::{OTHER_METHOD, Span, Spans},
};

/// The methods that HTTP defines.
const METHODS: [&str; 9] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

impl App {
    /// Records a span in `spans` for each request.
    #[must_use]
    pub fn traced(self, spans: Spans) -> Self {
        Self { spans: Some(spans), ..self }
    }

    /// Records the span of a completed request, unless its trace is not sampled.
    pub(in crate::http) fn trace(
        &self,
        request: &Parts,
        response: &Response,
        facts: &Facts,
        took: Duration,
    ) {
        let Some(spans) = &self.spans else {
            return;
        };
        let parent = trace_context::parent(&request.headers);
        let trace_id =
            parent.map_or_else(|| spans.new_trace_id(), |parent| parent.trace_id.to_owned());
        if !spans.samples(parent.map(|parent| parent.is_sampled), &trace_id) {
            return;
        }
        let ended = u64::try_from(self.clock.now().as_nanosecond()).unwrap_or_default();
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let request_id = response.headers().get(request_id::HEADER);
        spans.record(Span {
            trace_id,
            span_id: spans.new_span_id(),
            parent_id: parent.map(|parent| parent.span_id.to_owned()),
            started: ended.saturating_sub(took),
            ended,
            method: method(&request.method),
            route: facts.route.map(|route| route.path),
            status: response.status().as_u16(),
            key_id: facts.key_id.map(|KeyId(id)| id),
            request_id: request_id.and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned(),
        });
    }
}

fn method(method: &Method) -> &'static str {
    METHODS.into_iter().find(|known| method == known).unwrap_or(OTHER_METHOD)
}
