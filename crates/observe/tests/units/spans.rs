//! The queue of spans.

use hyper::HeaderMap;
use petstore_domain::Deployment;
use petstore_observe::{
    metrics::Exposition,
    traces::{Sampler, Span, Work, channel},
};
use rand::{SeedableRng, rngs::StdRng};

#[test]
fn spans_beyond_the_queue_are_dropped_and_counted() {
    let mut random = StdRng::seed_from_u64(1);
    let endpoint = "http://127.0.0.1:4318".parse().unwrap();
    let (headers, sampler) = (HeaderMap::new(), Sampler::default());
    let deployment = Deployment::Production;
    let (spans, _exporter) = channel(endpoint, headers, sampler, deployment, &mut random).unwrap();
    let dropped = || {
        let mut page = Exposition::default();
        spans.expose(&mut page);
        let page = page.finish();
        let count = page
            .split("\npetstore_spans_dropped_total ")
            .nth(1)
            .unwrap();
        count.trim().parse::<u64>().unwrap()
    };
    let span = Span {
        trace_id: spans.new_trace_id(),
        span_id: spans.new_span_id(),
        parent_id: None,
        started: 1,
        ended: 2,
        work: Work::Request {
            method: "GET",
            route: None,
            status: 404,
            client: None,
        },
        request_id: None,
    };
    for _ in 0..4096 {
        spans.record(span.clone());
    }
    assert_eq!(dropped(), 0);
    for _ in 0..3 {
        spans.record(span.clone());
    }
    assert_eq!(dropped(), 3);
}
