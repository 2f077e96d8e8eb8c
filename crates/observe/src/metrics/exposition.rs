//! The text exposition format of Prometheus, version 0.0.4.

use std::{
    fmt::{Display, Write},
    sync::atomic::Ordering::Relaxed,
};

use super::{Counter, Gauge, Histogram};

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, until the service restarts.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// The distribution of values.
    Histogram,
}

/// A page of metrics that is being written. Each metric begins once, followed by one sample, or by
/// one sample for each set of labels.
///
/// Nothing is escaped, because nothing comes from a client. Names, help texts and labels are
/// constants of the code. So are label values, except the ids of keys and webhooks.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// The `Content-Type` of the page.
    pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    /// Returns the text of the page.
    pub fn finish(self) -> String {
        self.0
    }

    /// Writes a counter without labels.
    pub fn counter(&mut self, name: &str, help: &str, counter: &Counter) {
        self.begin(Kind::Counter, name, help);
        self.sample(name, &[], counter.get());
    }

    /// Writes a gauge without labels.
    pub fn gauge(&mut self, name: &str, help: &str, gauge: &Gauge) {
        self.number(name, help, gauge.get());
    }

    /// Writes a gauge without labels that has this value.
    pub fn number(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(Kind::Gauge, name, help);
        self.sample(name, &[], value);
    }

    /// Writes a histogram without labels.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.begin(Kind::Histogram, name, help);
        self.histogram_samples(name, &[], histogram);
    }

    /// Writes the head of a metric. Its samples follow.
    pub fn begin(&mut self, kind: Kind, name: &str, help: &str) {
        let type_name = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {type_name}");
    }

    /// Writes a sample of the current counter or gauge. `labels` are pairs of a label and its
    /// value.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        self.0.push_str(name);
        for (index, (label, label_value)) in labels.iter().enumerate() {
            let separator = if index == 0 { '{' } else { ',' };
            // As above, writing to a string cannot fail.
            let _ = write!(self.0, "{separator}{label}=\"{label_value}\"");
        }
        let end_of_labels = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end_of_labels} {value}");
    }

    /// Writes the samples of the current histogram: its cumulative buckets, the sum and the count.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for 104 days, and good beyond"
    )]
    pub fn histogram_samples(
        &mut self,
        name: &str,
        labels: &[(&str, &dyn Display)],
        histogram: &Histogram,
    ) {
        let bucket_name = format!("{name}_bucket");
        // Summing the buckets as they are read keeps the count consistent with them, even if values
        // are recorded between two reads.
        let mut count = 0;
        for (index, bucket) in histogram.buckets.iter().enumerate() {
            count += bucket.load(Relaxed);
            let upper_bound = match histogram.bounds.get(index) {
                Some(&bound) => (bound as f64 / histogram.scale).to_string(),
                None => "+Inf".to_owned(),
            };
            let bucket_labels = [labels, &[("le", &upper_bound)]].concat();
            self.sample(&bucket_name, &bucket_labels, count);
        }
        let sum = histogram.sum.load(Relaxed) as f64 / histogram.scale;
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, count);
    }
}
