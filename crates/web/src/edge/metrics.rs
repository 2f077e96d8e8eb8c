//! Request metrics, in the exposition format of Prometheus.

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

/// The lowest status code.
const FIRST_STATUS: u16 = 100;

/// The number of status codes, which range from 100 to 599.
const STATUS_CODES: usize = 500;

/// The metrics of requests: numbers and durations by route.
#[derive(Default)]
pub(crate) struct Metrics {
    pub connections: Arc<Connections>,
    pub active: Gauge,
    /// The metrics of each route, indexed by the table and the index of its label.
    by_route: [Vec<RouteMetrics>; Table::COUNT],
    /// Metrics of requests that were rejected before their route was known, for example because of an
    /// invalid head, a missing key or an unknown path.
    unrouted: OperationMetrics,
    rejected_keys: [Counter; KEY_PROBLEMS.len()],
}

/// A route, and the metrics of its requests.
struct RouteMetrics {
    label: Label,
    metrics: OperationMetrics,
}

/// The metrics of an operation, with the values of its labels.
struct LabelledMetrics<'m> {
    metrics: &'m OperationMetrics,
    operation: &'static str,
    route: &'static str,
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
    /// Registers the routes of a table. They must be complete and in order, because their position is the
    /// index of their label.
    pub(crate) fn add_routes(&mut self, labels: impl Iterator<Item = Label>) {
        for label in labels {
            self.by_route[label.table as usize].push(RouteMetrics {
                label,
                metrics: OperationMetrics::default(),
            });
        }
    }

    /// Records a request: its route if it has one, its status, and its duration.
    pub(crate) fn count(&self, label: Option<Label>, status: StatusCode, duration: Duration) {
        let route = label.and_then(|label| self.by_route[label.table as usize].get(label.index));
        let metrics = route.map_or(&self.unrouted, |route| &route.metrics);
        let status_index = usize::from(status.as_u16() - FIRST_STATUS);
        if let Some(counter) = metrics.by_status.get(status_index) {
            counter.count();
        }
        metrics.durations.observe(duration);
    }

    /// Counts a rejected request, if the reason is its API key.
    pub(crate) fn count_rejection(&self, problem: Problem) {
        let index = KEY_PROBLEMS
            .iter()
            .position(|&key_problem| key_problem == problem);
        if let Some(index) = index {
            self.rejected_keys[index].count();
        }
    }

    /// Returns the metrics of each operation. The labels of unrouted requests are `none`.
    fn operations(&self) -> impl Iterator<Item = LabelledMetrics<'_>> {
        let routed = self.by_route.iter().flatten().map(|route| LabelledMetrics {
            metrics: &route.metrics,
            operation: route.label.id,
            route: route.label.path,
        });
        let unrouted = LabelledMetrics {
            metrics: &self.unrouted,
            operation: "none",
            route: "none",
        };
        routed.chain([unrouted])
    }

    /// Writes all metrics.
    pub(crate) fn expose(&self, exposition: &mut Exposition) {
        self.expose_requests(exposition);
        self.expose_durations(exposition);
        exposition.gauge(
            "http_server_active_requests",
            "Requests in flight.",
            &self.active,
        );
        self.expose_connections(exposition);
        self.expose_rejected_keys(exposition);
    }

    /// Writes the numbers of requests by operation and status.
    fn expose_requests(&self, exposition: &mut Exposition) {
        let name = "http_server_requests_total";
        exposition.begin(Kind::Counter, name, "Requests that got a response.");
        for labelled in self.operations() {
            for (counter, status) in labelled.metrics.by_status.iter().zip(FIRST_STATUS..) {
                // Most status codes never occur, so they need no line.
                if counter.get() > 0 {
                    let labels: [(&str, &dyn Display); 3] = [
                        ("operation", &labelled.operation),
                        ("http_route", &labelled.route),
                        ("http_response_status_code", &status),
                    ];
                    exposition.sample(name, &labels, counter.get());
                }
            }
        }
    }

    /// Writes the durations of requests by operation.
    fn expose_durations(&self, exposition: &mut Exposition) {
        let name = "http_server_request_duration_seconds";
        exposition.begin(
            Kind::Histogram,
            name,
            "Time from the head of a request to its response.",
        );
        for labelled in self.operations() {
            let labels: [(&str, &dyn Display); 2] = [
                ("operation", &labelled.operation),
                ("http_route", &labelled.route),
            ];
            exposition.histogram_samples(name, &labels, &labelled.metrics.durations);
        }
    }

    /// Writes the metrics of connections.
    fn expose_connections(&self, exposition: &mut Exposition) {
        // Destructured without `..`, so that a new metric cannot be forgotten here.
        let Connections {
            open,
            accepted,
            turned_away,
        } = &*self.connections;
        exposition.gauge("petstore_connections", "Open connections.", open);
        exposition.counter(
            "petstore_connections_accepted_total",
            "Accepted connections.",
            accepted,
        );
        exposition.counter(
            "petstore_connections_turned_away_total",
            "Connections closed because of the connection limits.",
            turned_away,
        );
    }

    /// Writes the numbers of rejected keys by problem.
    fn expose_rejected_keys(&self, exposition: &mut Exposition) {
        let name = "petstore_rejected_keys_total";
        let help = "Requests rejected because of their API key, by error code.";
        exposition.begin(Kind::Counter, name, help);
        for (problem, counter) in KEY_PROBLEMS.into_iter().zip(&self.rejected_keys) {
            let code = problem.code();
            exposition.sample(name, &[("code", &code)], counter.get());
        }
    }
}
