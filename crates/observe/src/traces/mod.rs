//! Traces: a span for each request and each delivery to a webhook, sent to a collector by OTLP.
//!
//! A request only puts a span into a bounded queue, and a task sends the spans. No request waits:
//! if the task cannot keep up, or the collector is unreachable, spans are dropped and counted.

mod collector;
mod otlp;
mod sampler;

use std::sync::Arc;

use hyper::HeaderMap;
use parking_lot::Mutex;
use petstore_domain::{Deployment, text};
use rand::{Rng, SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;

use self::otlp::SpanCounts;
pub use self::{
    collector::{Endpoint, Exporter, parse_headers},
    otlp::{OTHER_METHOD, Span, Work},
    sampler::Sampler,
};
use super::metrics::Exposition;

/// The maximum number of spans that wait to be sent, which bounds the memory.
const QUEUE_LENGTH: usize = 4096;

/// The recording side of tracing: decides which traces are sampled, generates ids, and queues
/// finished spans.
pub struct Spans {
    queue: mpsc::Sender<Span>,
    random: Mutex<StdRng>,
    sampler: Sampler,
    counts: Arc<SpanCounts>,
}

/// Creates the two ends of the queue of spans: the recorder that queues them, and the exporter that
/// sends them to the collector at `endpoint` with these `headers`. `sampler` selects the traces.
pub fn channel(
    endpoint: Endpoint,
    headers: HeaderMap,
    sampler: Sampler,
    deployment: Deployment,
    random: &mut impl Rng,
) -> Result<(Spans, Exporter), collector::SetupError> {
    let (queue, queued_spans) = mpsc::channel(QUEUE_LENGTH);
    let counts = Arc::new(SpanCounts::default());
    let exporter = Exporter::new(
        endpoint,
        headers,
        deployment,
        queued_spans,
        Arc::clone(&counts),
    )?;
    Ok((
        Spans {
            queue,
            random: Mutex::new(StdRng::from_rng(random)),
            sampler,
            counts,
        },
        exporter,
    ))
}

impl Spans {
    /// Queues a span without waiting. If the queue is full, the span is dropped and counted.
    pub fn record(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.counts.dropped.count();
        }
    }

    /// Whether the span of a request in this trace is sent. See [`Sampler::samples`].
    pub fn samples(&self, parent: Option<bool>, trace_id: &str) -> bool {
        self.sampler.samples(parent, trace_id)
    }

    /// Draws the id of a new trace.
    pub fn new_trace_id(&self) -> String {
        self.random_hex(16)
    }

    /// Draws the id of a new span.
    pub fn new_span_id(&self) -> String {
        self.random_hex(8)
    }

    /// Returns a random id of `byte_count` bytes, at most 16, in hexadecimal.
    fn random_hex(&self, byte_count: usize) -> String {
        let mut buffer = [0; 16];
        let bytes = &mut buffer[..byte_count];
        self.random.lock().fill_bytes(bytes);
        text::hex_digits(bytes)
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let SpanCounts { sent, dropped } = &*self.counts;
        exposition.counter(
            "petstore_spans_sent_total",
            "Spans that the collector accepted.",
            sent,
        );
        let help =
            "Spans that were dropped: the queue was full, or the collector did not accept them.";
        exposition.counter("petstore_spans_dropped_total", help, dropped);
    }
}
