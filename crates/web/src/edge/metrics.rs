//! The metrics of requests.

use std::{fmt::Display, sync::Arc, time::Duration};

use hyper::StatusCode;
use petstore_domain::Problem;
use petstore_observe::metrics::{Connections, Counter, Exposition, Gauge, Histogram, Kind};

use super::route::{Label, Table};

const KEY_PROBLEMS: [Problem; 4] = [
    Problem::MissingApiKey,
    Problem::InvalidApiKey,
    Problem::InsufficientScope,
    Problem::RateLimited,
];

/// Status codes range from 100 to 599.
const STATUS_CODES: usize = 500;

/// Counts requests by operation, or by page of the console.
#[derive(Default)]
pub(crate) struct Metrics {
    pub connections: Arc<Connections>,
    pub active: Gauge,
    /// By the table and the index of their labels.
    by_route: [Vec<(Label, OperationMetrics)>; Table::COUNT],
    /// Requests that got a response before an operation was found.
    unrouted: OperationMetrics,
    rejected_keys: [Counter; KEY_PROBLEMS.len()],
}

struct OperationMetrics {
    by_status: Box<[Counter]>,
    durations: Histogram,
}

impl Default for OperationMetrics {
    fn default() -> Self {
        Self {
            by_status: (0..STATUS_CODES).map(|_| Counter::default()).collect(),
            durations: Histogram::default(),
        }
    }
}

impl Metrics {
    /// Counts the requests for these routes, which are a whole table in its order.
    pub(crate) fn add_routes(&mut self, labels: impl Iterator<Item = Label>) {
        for label in labels {
            self.by_route[label.table as usize].push((label, OperationMetrics::default()));
        }
    }

    /// Counts a request that got a response.
    pub(crate) fn count(&self, label: Option<Label>, status: StatusCode, took: Duration) {
        let found = label.and_then(|label| self.by_route[label.table as usize].get(label.index));
        let counted = found.map_or(&self.unrouted, |(_, metrics)| metrics);
        if let Some(counter) = counted.by_status.get(usize::from(status.as_u16()) - 100) {
            counter.count();
        }
        counted.durations.observe(took);
    }

    /// Counts a rejected request, if it was rejected because of its key.
    pub(crate) fn count_rejection(&self, problem: Problem) {
        if let Some(at) = KEY_PROBLEMS.iter().position(|&counted| counted == problem) {
            self.rejected_keys[at].count();
        }
    }

    /// The metrics of each operation, with its name and its route.
    fn each(&self) -> impl Iterator<Item = (&OperationMetrics, &'static str, &'static str)> {
        let found = self
            .by_route
            .iter()
            .flatten()
            .map(|(label, metrics)| (metrics, label.id, label.path));
        found.chain([(&self.unrouted, "none", "none")])
    }

    pub(crate) fn expose(&self, page: &mut Exposition) {
        let name = "http_server_requests_total";
        page.begin(Kind::Counter, name, "Requests that got a response.");
        for (counted, operation, route) in self.each() {
            for (counter, status) in counted.by_status.iter().zip(100_u16..) {
                // Most status codes never occur.
                if counter.get() > 0 {
                    let labels: [(&str, &dyn Display); 3] = [
                        ("operation", &operation),
                        ("http_route", &route),
                        ("http_response_status_code", &status),
                    ];
                    page.sample(name, &labels, counter.get());
                }
            }
        }
        let name = "http_server_request_duration_seconds";
        page.begin(
            Kind::Histogram,
            name,
            "Time from the head of a request to its response.",
        );
        for (counted, operation, route) in self.each() {
            let labels: [(&str, &dyn Display); 2] =
                [("operation", &operation), ("http_route", &route)];
            page.histogram_samples(name, &labels, &counted.durations);
        }
        page.gauge(
            "http_server_active_requests",
            "Requests in flight.",
            &self.active,
        );
        let Connections {
            open,
            accepted,
            turned_away,
        } = &*self.connections;
        page.gauge("petstore_connections", "Open connections.", open);
        let help = "Accepted connections.";
        page.counter("petstore_connections_accepted_total", help, accepted);
        let help = "Connections closed because of the connection limits.";
        page.counter("petstore_connections_turned_away_total", help, turned_away);
        let name = "petstore_rejected_keys_total";
        let help = "Requests rejected because of their API key, by error code.";
        page.begin(Kind::Counter, name, help);
        for (problem, counter) in KEY_PROBLEMS.into_iter().zip(&self.rejected_keys) {
            let code = problem.code();
            page.sample(name, &[("code", &code)], counter.get());
        }
    }
}
