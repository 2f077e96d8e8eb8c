//! Traces: a span for each request, sent to a collector by OTLP.
//!
//! A request pays for one span put in a bounded queue. A task of its own sends
//! them on; if it cannot keep up, or the collector is away, spans are dropped
//! and counted, and no request ever waits.

mod collector;
mod otlp;

use std::{
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;

pub use self::collector::{Endpoint, Exporter};
use super::metrics::{Counter, Exposition};
use crate::domain::Deployment;

/// How many spans may wait to be sent.
const QUEUE_LENGTH: usize = 4096;

/// The method of a span whose request had one that HTTP does not know.
pub const OTHER_METHOD: &str = "_OTHER";

/// What one request was, and how long it took.
#[derive(Debug, Clone)]
pub struct Span {
    /// 32 hexadecimal digits: the trace of whoever asked, or a new one.
    pub trace_id: String,
    /// 16 hexadecimal digits: a new one.
    pub span_id: String,
    /// 16 hexadecimal digits, of whoever asked.
    pub parent_id: Option<String>,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub started: u64,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub ended: u64,
    /// The method, or [`OTHER_METHOD`].
    pub method: &'static str,
    /// The path, with names in place of what varies, if an operation was found.
    pub route: Option<&'static str>,
    /// The status code of the answer.
    pub status: u16,
    /// The number of the API key, if there was a valid one.
    pub key_id: Option<i64>,
    /// As in the log and in the answer.
    pub request_id: String,
}

/// Where requests leave their spans.
pub struct Spans {
    queue: mpsc::Sender<Span>,
    random: Mutex<StdRng>,
    counted: Arc<Counted>,
}

/// What became of spans.
#[derive(Debug, Default)]
struct Counted {
    sent: Counter,
    dropped: Counter,
}

/// A queue for spans, and what sends them to the collector at `endpoint`.
///
/// # Errors
///
/// If the collector wants TLS and that cannot be set up.
pub fn start(
    endpoint: Endpoint,
    deployment: Deployment,
    random: &mut impl Rng,
) -> Result<(Spans, Exporter), collector::SetupError> {
    let (queue, spans) = mpsc::channel(QUEUE_LENGTH);
    let counted = Arc::new(Counted::default());
    let exporter = Exporter::new(endpoint, deployment, spans, Arc::clone(&counted))?;
    Ok((Spans { queue, random: Mutex::new(StdRng::from_rng(random)), counted }, exporter))
}

impl Spans {
    /// Leaves a span to be sent, if there is room.
    pub fn record(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.counted.dropped.count();
        }
    }

    /// The identifier of a new trace.
    #[must_use]
    pub fn new_trace_id(&self) -> String {
        self.random_hex(16)
    }

    /// The identifier of a new span.
    #[must_use]
    pub fn new_span_id(&self) -> String {
        self.random_hex(8)
    }

    fn random_hex(&self, length: usize) -> String {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..length];
        self.random.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
        let mut hex = String::with_capacity(2 * length);
        for byte in bytes {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// Shows what became of spans.
    pub fn expose(&self, page: &mut Exposition) {
        let Counted { sent, dropped } = &*self.counted;
        page.counter("petstore_spans_sent_total", "Spans that the collector took.", sent);
        let help = "Spans that were dropped: too many, or the collector was away.";
        page.counter("petstore_spans_dropped_total", help, dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_queue_cannot_hold_is_dropped_and_counted() {
        let mut random = StdRng::seed_from_u64(1);
        let endpoint = "http://127.0.0.1:4318".parse().unwrap();
        let (spans, _exporter) = start(endpoint, Deployment::Production, &mut random).unwrap();
        let span = Span {
            trace_id: spans.new_trace_id(),
            span_id: spans.new_span_id(),
            parent_id: None,
            started: 1,
            ended: 2,
            method: "GET",
            route: None,
            status: 404,
            key_id: None,
            request_id: String::new(),
        };
        for _ in 0..QUEUE_LENGTH {
            spans.record(span.clone());
        }
        assert_eq!(spans.counted.dropped.get(), 0);
        for _ in 0..3 {
            spans.record(span.clone());
        }
        assert_eq!(spans.counted.dropped.get(), 3);
    }
}
