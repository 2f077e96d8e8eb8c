//! Spans, and how many were sent.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::{domain::Actor, observe::metrics::Counter};

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
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub started: u64,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub ended: u64,
    pub work: Work,
    /// As in the log and in the response. That of a delivery is of the request that made the change,
    /// if there was one.
    pub request_id: Option<String>,
}

/// What a span is about.
#[derive(Debug, Clone)]
pub enum Work {
    Request {
        /// The method, or [`OTHER_METHOD`].
        method: &'static str,
        /// The path with placeholders, if an operation was found.
        route: Option<&'static str>,
        status: u16,
        /// Who sent the request.
        principal: Option<Actor>,
    },
    /// An attempt to deliver a message to a webhook.
    Delivery { webhook: i64, message_id: String, status: Option<u16>, error: Option<String> },
}

/// How many spans were sent and dropped.
#[derive(Debug, Default)]
pub(super) struct SpanCounts {
    pub(super) sent: Counter,
    pub(super) dropped: Counter,
}
