//! The page of metrics.

use std::time::Duration;

use petstore_observe::metrics::{Counter, Exposition, Gauge, Histogram, Kind};

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
    let histogram = Histogram::default();
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
        assert!(
            page.lines().any(|other| other == line),
            "{line} is not in {page}"
        );
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
    for line in [
        "n_bucket{le=\"1\"} 2",
        "n_bucket{le=\"1024\"} 3",
        "n_sum 5003",
        "n_count 4",
    ] {
        assert!(
            page.lines().any(|other| other == line),
            "{line} is not in {page}"
        );
    }
}
