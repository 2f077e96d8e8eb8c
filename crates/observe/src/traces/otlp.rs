//! Spans, how many were sent, and their JSON form of OTLP (OTLP specification, "JSON Protobuf Encoding"), with the
//! attributes of the semantic conventions for HTTP.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::{Actor, Deployment, KeyId, store_area::WebhookId};
use serde_json::{Value, json};

use crate::metrics::Counter;

/// The span's method if the request's method is not known to HTTP.
pub const OTHER_METHOD: &str = "_OTHER";

/// The data of one request or delivery.
#[derive(Debug, Clone)]
pub struct Span {
    /// 32 hexadecimal digits: the client's trace, or a new one.
    pub trace_id: String,
    /// 16 hexadecimal digits: a new one.
    pub span_id: String,
    /// 16 hexadecimal digits: the client's span.
    pub parent_id: Option<String>,
    /// The start in nanoseconds since 1970-01-01T00:00:00Z.
    pub started: u64,
    /// The end in nanoseconds since 1970-01-01T00:00:00Z.
    pub ended: u64,
    pub work: Work,
    /// The id of the request, as in the log and in the response. A delivery has the id of the request that made the change,
    /// if there was one.
    pub request_id: Option<String>,
}

/// The work that a span measures.
#[derive(Debug, Clone)]
pub enum Work {
    Request {
        /// The method, or [`OTHER_METHOD`].
        method: &'static str,
        /// The path with placeholders, if an operation was found.
        route: Option<&'static str>,
        status: u16,
        /// The client that sent the request.
        principal: Option<Actor>,
    },
    /// An attempt to deliver a message to a webhook.
    Delivery {
        webhook: WebhookId,
        message_id: String,
        status: Option<u16>,
        error: Option<String>,
    },
}

/// How many spans were sent and dropped.
#[derive(Debug, Default)]
pub(super) struct SpanCounts {
    pub(super) sent: Counter,
    pub(super) dropped: Counter,
}

/// The span of a server that responds to a client (`SPAN_KIND_SERVER`).
const SERVER: u8 = 2;

/// The span of a client (`SPAN_KIND_CLIENT`).
const CLIENT: u8 = 3;

/// The trace is sampled, and the remote flag below is valid
/// (`SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`).
const FLAGS: u32 = 0x101;

/// The parent span is in another process (`SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`).
const REMOTE_PARENT: u32 = 0x200;

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Returns an `ExportTraceServiceRequest` with these spans.
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
    let (kind, name, mut attributes, error) = match &span.work {
        Work::Request {
            method,
            route,
            status,
            principal,
        } => {
            let mut attributes = vec![
                text("http.request.method", method),
                number("http.response.status_code", (*status).into()),
            ];
            attributes.extend(route.map(|route| text("http.route", route)));
            if let Some(Actor::Key(KeyId(id))) = principal {
                attributes.push(number("petstore.key_id", *id));
            }
            // A span name has `HTTP` for a method that HTTP does not know.
            let method = if *method == OTHER_METHOD {
                "HTTP"
            } else {
                method
            };
            let name = route.map_or(method.to_owned(), |route| format!("{method} {route}"));
            // A client error (4xx) is not an error of the server.
            (
                SERVER,
                name,
                attributes,
                (*status >= 500).then(|| status.to_string()),
            )
        }
        Work::Delivery {
            webhook,
            message_id,
            status,
            error,
        } => {
            let mut attributes = vec![
                text("http.request.method", "POST"),
                number("petstore.webhook_id", webhook.0),
                text("petstore.message_id", message_id),
            ];
            attributes
                .extend(status.map(|status| number("http.response.status_code", status.into())));
            (
                CLIENT,
                "deliver webhook".to_owned(),
                attributes,
                error.clone(),
            )
        }
    };
    attributes.extend(
        span.request_id
            .as_deref()
            .map(|id| text("petstore.request_id", id)),
    );
    attributes.extend(error.as_deref().map(|error| text("error.type", error)));
    let status = if error.is_some() {
        json!({ "code": ERROR })
    } else {
        json!({})
    };
    let remote = if span.parent_id.is_some() {
        REMOTE_PARENT
    } else {
        0
    };
    json!({
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id.as_deref().unwrap_or_default(),
        "flags": FLAGS | remote,
        "name": name,
        "kind": kind,
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
