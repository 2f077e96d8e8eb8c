//! Distributed tracing: parses `traceparent` (W3C Trace Context), and records a span for each
//! request if tracing is enabled.

use std::time::Duration;

use hyper::{HeaderMap, Method, header::HeaderValue, http::request::Parts};
use jiff::Timestamp;
use petstore_observe::traces::{OTHER_METHOD, Span, Spans, Work};

use super::{
    request::{Facts, REQUEST_ID},
    response::Response,
};

/// The standard HTTP methods. Others share one name in spans, because clients can send arbitrary
/// ones.
const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
];

/// The client's span, from which it sent this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parent<'h> {
    /// 32 hexadecimal digits that are not all 0.
    pub trace_id: &'h str,
    /// 16 hexadecimal digits that are not all 0.
    pub span_id: &'h str,
    pub is_sampled: bool,
}

/// Records the span of a request that completed at `now` after `duration`, if its trace is sampled.
pub(super) fn record(
    spans: &Spans,
    now: Timestamp,
    request: &Parts,
    response: &Response,
    facts: &Facts,
    duration: Duration,
) {
    let parent = parse_parent(&request.headers);
    let trace_id = parent.map_or_else(|| spans.new_trace_id(), |span| span.trace_id.to_owned());
    if !spans.samples(parent.map(|span| span.is_sampled), &trace_id) {
        return;
    }
    let end_time = u64::try_from(now.as_nanosecond()).unwrap_or_default();
    let duration = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let request_id = response.headers().get(REQUEST_ID);
    spans.record(Span {
        trace_id,
        span_id: spans.new_span_id(),
        parent_id: parent.map(|span| span.span_id.to_owned()),
        started: end_time.saturating_sub(duration),
        ended: end_time,
        work: Work::Request {
            method: method_name(&request.method),
            route: facts.route.map(|label| label.path),
            status: response.status().as_u16(),
            client: facts.principal,
        },
        request_id: request_id
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned),
    });
}

/// Returns the name of a standard method, or [`OTHER_METHOD`].
fn method_name(method: &Method) -> &'static str {
    METHODS
        .into_iter()
        .find(|name| method == name)
        .unwrap_or(OTHER_METHOD)
}

/// Parses the parent span in `traceparent`, if there is exactly one such field and it is valid.
pub(crate) fn parse_parent(headers: &HeaderMap) -> Option<Parent<'_>> {
    let mut fields = headers.get_all("traceparent").iter();
    let field = fields.next()?;
    // Two fields are ambiguous.
    if fields.next().is_some() {
        return None;
    }
    parse_traceparent(field)
}

/// Parses a `traceparent`: version, trace id, span id and flags (section 3.2.2 of Trace Context). A
/// version after 00 may have more parts.
///
/// Example: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
fn parse_traceparent(traceparent: &HeaderValue) -> Option<Parent<'_>> {
    let mut parts = traceparent.to_str().ok()?.split('-');
    let version = parts.next()?;
    let trace_id = parts.next()?;
    let span_id = parts.next()?;
    let flags = parts.next()?;
    let has_more_parts = parts.next().is_some();

    // The version ff is forbidden. Any other unknown version is read like version 00.
    let is_valid_version = is_hex(version, 2) && version != "ff";
    let has_valid_end = version != "00" || !has_more_parts;
    if !is_valid_version || !has_valid_end || !is_hex(flags, 2) {
        return None;
    }
    if !is_id(trace_id, 32) || !is_id(span_id, 16) {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    Some(Parent {
        trace_id,
        span_id,
        is_sampled: flags & 1 == 1,
    })
}

/// Whether the text is an id of this length: lower-case hexadecimal digits that are not all 0.
fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|byte| byte != b'0')
}

/// Whether the text consists of exactly `length` lower-case hexadecimal digits.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_traceparent_names_a_parent() {
        let trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
        let span_id = "00f067aa0ba902b7";
        let assert_parsed = |text: &str, is_sampled: bool| {
            let value = HeaderValue::from_str(text).unwrap();
            assert_eq!(
                parse_traceparent(&value),
                Some(Parent {
                    trace_id,
                    span_id,
                    is_sampled
                }),
                "{text}"
            );
        };
        let valid = format!("00-{trace_id}-{span_id}-01");
        assert_parsed(&valid, true);
        assert_parsed(&format!("00-{trace_id}-{span_id}-00"), false);
        assert_parsed(&format!("cc{}-more", &valid[2..]), true);
        for invalid in [
            "",
            trace_id,
            &valid[..valid.len() - 1],
            &format!("{valid}-more"),
            &format!("ff{}", &valid[2..]),
            &valid.to_uppercase(),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ] {
            let value = HeaderValue::from_str(invalid).unwrap();
            assert_eq!(parse_traceparent(&value), None, "{invalid}");
        }
    }

    #[test]
    fn two_parents_are_both_ignored() {
        let mut headers = HeaderMap::new();
        assert_eq!(parse_parent(&headers), None);
        for (trace, is_taken) in ["4", "5"].into_iter().zip([true, false]) {
            let text = format!("00-{}-00f067aa0ba902b7-01", trace.repeat(32));
            headers.append("traceparent", text.parse().unwrap());
            assert_eq!(parse_parent(&headers).is_some(), is_taken);
        }
    }
}
