//! Metrics in the text format of Prometheus (0.0.4).

#![expect(missing_docs, reason = "a comment says what a name does not")]

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
    /// The current value.
    Gauge,
    /// The distribution of values.
    Histogram,
}

/// A page of metrics under construction. Each metric begins once, with one sample, or one for each
/// set of labels. Names, labels and help come from the code, and label values from there or from
/// key numbers. Nothing comes from a client, so nothing needs escaping.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// The `Content-Type` of the page.
    pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    pub fn finish(self) -> String {
        self.0
    }

    pub fn counter(&mut self, name: &str, help: &str, counter: &Counter) {
        self.begin(Kind::Counter, name, help);
        self.sample(name, &[], counter.get());
    }

    pub fn gauge(&mut self, name: &str, help: &str, gauge: &Gauge) {
        self.number(name, help, gauge.get());
    }

    /// A gauge without labels, with this value.
    pub fn number(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(Kind::Gauge, name, help);
        self.sample(name, &[], value);
    }

    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.begin(Kind::Histogram, name, help);
        self.histogram_samples(name, &[], histogram);
    }

    pub fn begin(&mut self, kind: Kind, name: &str, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample of the current counter or gauge.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{value}\"");
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{after} {value}");
    }

    /// The samples of the current histogram.
    #[expect(clippy::cast_precision_loss, reason = "exact for 104 days, and good beyond")]
    pub fn histogram_samples(
        &mut self,
        name: &str,
        labels: &[(&str, &dyn Display)],
        histogram: &Histogram,
    ) {
        let bucket_name = format!("{name}_bucket");
        // The count is the sum of the buckets that were read, because values may be added
        // meanwhile.
        let mut count = 0;
        for (at, bucket) in histogram.buckets.iter().enumerate() {
            count += bucket.load(Relaxed);
            let bound = histogram.bounds.get(at).map(|&bound| bound as f64 / histogram.scale);
            let bound = bound.map_or("+Inf".to_owned(), |bound| bound.to_string());
            let labels = [labels, &[("le", &bound)]].concat();
            self.sample(&bucket_name, &labels, count);
        }
        let sum = histogram.sum.load(Relaxed) as f64 / histogram.scale;
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, count);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_page_has_the_format_of_prometheus() {
        let (counter, gauge) = (Counter::default(), Gauge::default());
        counter.count();
        let entered = gauge.enter();
        let mut page = Exposition::default();
        page.counter("a_total", "So many.", &counter);
        page.gauge("b", "Now.", &gauge);
        page.begin(Kind::Counter, "c_total", "By label.");
        page.sample("c_total", &[("x", &"one"), ("y", &2)], 3);
        drop(entered);
        assert_eq!(gauge.get(), 0);
        assert_eq!(
            page.finish(),
            "# HELP a_total So many.\n# TYPE a_total counter\na_total 1\n\
             # HELP b Now.\n# TYPE b gauge\nb 1\n\
             # HELP c_total By label.\n# TYPE c_total counter\nc_total{x=\"one\",y=\"2\"} 3\n"
        );
    }

    #[test]
    fn a_value_is_counted_in_every_bucket_that_includes_it() {
        let histogram = Histogram::of_durations();
        for micros in [10, 11, 20_000_000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let mut page = Exposition::default();
        page.histogram("t_seconds", "Time.", &histogram);
        let page = page.finish();
        for line in [
            "# TYPE t_seconds histogram",
            "t_seconds_bucket{le=\"0.00001\"} 1",
            "t_seconds_bucket{le=\"0.000025\"} 2",
            "t_seconds_bucket{le=\"10\"} 2",
            "t_seconds_bucket{le=\"+Inf\"} 3",
            "t_seconds_sum 20.000021",
            "t_seconds_count 3",
        ] {
            assert!(page.lines().any(|other| other == line), "{line} is not in {page}");
        }
    }

    #[test]
    fn a_size_above_all_bounds_is_counted() {
        let histogram = Histogram::of_sizes();
        for size in [0, 1, 2, 5_000] {
            histogram.observe_size(size);
        }
        let mut page = Exposition::default();
        page.histogram("n", "Sizes.", &histogram);
        let page = page.finish();
        for line in ["n_bucket{le=\"1\"} 2", "n_bucket{le=\"1024\"} 3", "n_sum 5003", "n_count 4"] {
            assert!(page.lines().any(|other| other == line), "{line} is not in {page}");
        }
    }
}
