//! Spans, and their JSON form in OTLP (OTLP specification, "JSON Protobuf Encoding"), with the
//! attributes of the semantic conventions for HTTP.

use petstore_domain::{Actor, Deployment, KeyId, store_area::WebhookId};
use serde_json::{Value, json};

use crate::metrics::Counter;

/// The method that a span reports for a request whose method is not an HTTP method.
pub const OTHER_METHOD: &str = "_OTHER";

/// The data of one request or delivery.
#[derive(Debug, Clone)]
pub struct Span {
    /// 32 hexadecimal digits: the client's trace, or a new one.
    pub trace_id: String,
    /// 16 hexadecimal digits, generated for this span.
    pub span_id: String,
    /// 16 hexadecimal digits: the client's span, if it sent one.
    pub parent_id: Option<String>,
    /// The start in nanoseconds since 1970-01-01T00:00:00Z.
    pub started: u64,
    /// The end in nanoseconds since 1970-01-01T00:00:00Z.
    pub ended: u64,
    /// The work that the span measures.
    pub work: Work,
    /// The id of the request, as in the log and in the response. A delivery has the id of the
    /// request that made the change, if there was one.
    pub request_id: Option<String>,
}

/// The work that a span measures.
#[derive(Debug, Clone)]
pub enum Work {
    /// The handling of a request.
    Request {
        /// The method, or [`OTHER_METHOD`].
        method: &'static str,
        /// The path template, such as `/v1/pets/{petId}`, if the request matched an operation.
        route: Option<&'static str>,
        /// The status code of the response.
        status: u16,
        /// The client that sent the request.
        client: Option<Actor>,
    },
    /// An attempt to deliver a message to a webhook.
    Delivery {
        /// The webhook that the message is for.
        webhook: WebhookId,
        /// The `webhook-id` of the message.
        message_id: String,
        /// The status code of the response, if there was one.
        status: Option<u16>,
        /// The class of the error, if the attempt failed.
        error: Option<String>,
    },
}

/// How many spans were sent and dropped.
#[derive(Debug, Default)]
pub(super) struct SpanCounts {
    pub(super) sent: Counter,
    pub(super) dropped: Counter,
}

/// The kind of a span in which this process handles a request (`SPAN_KIND_SERVER`).
const SERVER: u8 = 2;

/// The kind of a span in which this process sends a request (`SPAN_KIND_CLIENT`).
const CLIENT: u8 = 3;

/// The flags of every span: its trace is sampled, and the flag [`REMOTE_PARENT`] is valid
/// (`SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`).
const FLAGS: u32 = 0x101;

/// The flag of a span whose parent is in another process (`SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`).
const REMOTE_PARENT: u32 = 0x200;

/// The status of a span whose work failed (`STATUS_CODE_ERROR`).
const ERROR: u8 = 2;

/// The parts of a span that depend on the kind of its work.
struct SpanParts {
    /// [`SERVER`] or [`CLIENT`].
    kind: u8,
    name: String,
    attributes: Vec<Value>,
    /// The value of `error.type`, if the work failed.
    error_type: Option<String>,
}

/// Returns the OTLP message that sends these spans to a collector (`ExportTraceServiceRequest`).
pub(super) fn render_export_request(spans: &[Span], deployment: Deployment) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [
                    text_attribute("service.name", "petstore"),
                    text_attribute("service.version", version),
                    text_attribute("deployment.environment.name", deployment.as_str()),
                ],
            },
            "scopeSpans": [{
                "scope": { "name": "petstore", "version": version },
                "spans": spans.iter().map(render_span).collect::<Vec<_>>(),
            }],
        }],
    })
}

/// Returns a span in the JSON form of OTLP.
fn render_span(span: &Span) -> Value {
    let parts = match &span.work {
        Work::Request {
            method,
            route,
            status,
            client,
        } => describe_request(method, *route, *status, *client),
        Work::Delivery {
            webhook,
            message_id,
            status,
            error,
        } => describe_delivery(*webhook, message_id, *status, error.as_deref()),
    };
    let mut attributes = parts.attributes;
    if let Some(id) = &span.request_id {
        attributes.push(text_attribute("petstore.request_id", id));
    }
    if let Some(error_type) = &parts.error_type {
        attributes.push(text_attribute("error.type", error_type));
    }
    let mut flags = FLAGS;
    if span.parent_id.is_some() {
        flags |= REMOTE_PARENT;
    }
    json!({
        "traceId": span.trace_id,
        "spanId": span.span_id,
        // A span without a parent has an empty id here.
        "parentSpanId": span.parent_id.as_deref().unwrap_or_default(),
        "flags": flags,
        "name": parts.name,
        "kind": parts.kind,
        "startTimeUnixNano": span.started.to_string(),
        "endTimeUnixNano": span.ended.to_string(),
        "attributes": attributes,
        "status": otlp_status(parts.error_type.is_some()),
    })
}

/// Returns the parts of the span of a request.
fn describe_request(
    method: &str,
    route: Option<&str>,
    status: u16,
    client: Option<Actor>,
) -> SpanParts {
    let mut attributes = vec![
        text_attribute("http.request.method", method),
        integer_attribute("http.response.status_code", status.into()),
    ];
    if let Some(route) = route {
        attributes.push(text_attribute("http.route", route));
    }
    if let Some(Actor::Key(KeyId(id))) = client {
        attributes.push(integer_attribute("petstore.key_id", id));
    }
    // The semantic conventions name a span `HTTP` if its method is not an HTTP method.
    let method_name = if method == OTHER_METHOD {
        "HTTP"
    } else {
        method
    };
    let name = match route {
        Some(route) => format!("{method_name} {route}"),
        None => method_name.to_owned(),
    };
    // A client error (4xx) is not an error of the server.
    let error_type = if status >= 500 {
        Some(status.to_string())
    } else {
        None
    };
    SpanParts {
        kind: SERVER,
        name,
        attributes,
        error_type,
    }
}

/// Returns the parts of the span of an attempt to deliver a message.
fn describe_delivery(
    webhook: WebhookId,
    message_id: &str,
    status: Option<u16>,
    error: Option<&str>,
) -> SpanParts {
    let mut attributes = vec![
        text_attribute("http.request.method", "POST"),
        integer_attribute("petstore.webhook_id", webhook.0),
        text_attribute("petstore.message_id", message_id),
    ];
    if let Some(status) = status {
        attributes.push(integer_attribute(
            "http.response.status_code",
            status.into(),
        ));
    }
    SpanParts {
        kind: CLIENT,
        name: "deliver webhook".to_owned(),
        attributes,
        error_type: error.map(str::to_owned),
    }
}

/// Returns the `Status` of a span.
fn otlp_status(is_error: bool) -> Value {
    if is_error {
        json!({ "code": ERROR })
    } else {
        json!({})
    }
}

/// Returns an attribute with a string.
fn text_attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Returns an attribute with an integer. OTLP's JSON encodes 64-bit integers as decimal strings.
fn integer_attribute(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}
