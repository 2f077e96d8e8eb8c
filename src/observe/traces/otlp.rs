//! Spans in the JSON form of OTLP (OTLP specification, "JSON Protobuf Encoding"), with the
//! attributes of the semantic conventions for HTTP servers.

use serde_json::{Value, json};

use super::{OTHER_METHOD, Span};
use crate::domain::{Deployment, KeyId};

/// The span of a server that responds to a client (`SPAN_KIND_SERVER`).
const SERVER: u8 = 2;

/// The trace is sampled, and the remote flag below is valid
/// (`SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`).
const FLAGS: u32 = 0x101;

/// The parent span is in another process (`SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`).
const REMOTE_PARENT: u32 = 0x200;

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// An `ExportTraceServiceRequest` with these spans.
pub(super) fn request(spans: &[Span], deployment: Deployment) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [
                    text("service.name", "petstore"),
                    text("service.version", version),
                    text("deployment.environment.name", deployment.as_str()),
                ],
            },
            "scopeSpans": [{
                "scope": { "name": "petstore", "version": version },
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn span(span: &Span) -> Value {
    let mut attributes = vec![
        text("http.request.method", span.method),
        number("http.response.status_code", span.status.into()),
        text("petstore.request_id", &span.request_id),
    ];
    attributes.extend(span.route.map(|route| text("http.route", route)));
    let key_id = span.principal.key_id();
    attributes.extend(key_id.map(|KeyId(id)| number("petstore.key_id", id)));
    // A client error (4xx) is not an error of the server.
    let failed = span.status >= 500;
    attributes.extend(failed.then(|| text("error.type", &span.status.to_string())));
    let status = if failed { json!({ "code": ERROR }) } else { json!({}) };
    // A span name has `HTTP` for a method that HTTP does not know.
    let method = if span.method == OTHER_METHOD { "HTTP" } else { span.method };
    let remote = if span.parent_id.is_some() { REMOTE_PARENT } else { 0 };
    json!({
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id.as_deref().unwrap_or_default(),
        "flags": FLAGS | remote,
        "name": span.route.map_or(method.to_owned(), |route| format!("{method} {route}")),
        "kind": SERVER,
        "startTimeUnixNano": span.started.to_string(),
        "endTimeUnixNano": span.ended.to_string(),
        "attributes": attributes,
        "status": status,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// JSON has 64-bit integers as decimal text.
fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
