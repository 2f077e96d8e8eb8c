//! Request metrics, in the exposition format of Prometheus.

use std::{fmt::Display, sync::Arc, time::Duration};

use hyper::StatusCode;
use petstore_domain::Problem;
use petstore_observe::metrics::{Connections, Counter, Exposition, Gauge, Histogram, Kind};

use super::route::{Label, Table};

/// The problems for which a key is rejected.
const KEY_PROBLEMS: [Problem; 4] = [
    Problem::MissingApiKey,
    Problem::InvalidApiKey,
    Problem::InsufficientScope,
    Problem::RateLimited,
];

/// The lowest status code.
const FIRST_STATUS: u16 = 100;

/// The number of status codes that are counted, which are 100 to 599.
const STATUS_CODES: usize = 500;

/// The metrics of requests: numbers and durations by route.
#[derive(Default)]
pub(crate) struct Metrics {
    /// The metrics of the connections from clients.
    pub connections: Arc<Connections>,
    /// The requests of clients in flight.
    pub active: Gauge,
    /// The metrics of the routes of each table, by [`Table::index`] and then by [`Label::index`].
    by_route: [Vec<RouteMetrics>; Table::COUNT],
    /// Metrics of requests that were rejected before their route was known, for example because of
    /// an invalid head, a missing key or an unknown path.
    unrouted: OperationMetrics,
    /// The numbers of rejected keys, in the order of [`KEY_PROBLEMS`].
    rejected_keys: [Counter; KEY_PROBLEMS.len()],
}

/// A route, and the metrics of its requests.
struct RouteMetrics {
    label: Label,
    metrics: OperationMetrics,
}

/// The metrics of an operation, with the values of the labels `operation` and `http_route`.
struct LabelledMetrics<'m> {
    metrics: &'m OperationMetrics,
    id: &'static str,
    path: &'static str,
}

/// The metrics of the requests for one operation.
struct OperationMetrics {
    /// The numbers of requests, by status code from [`FIRST_STATUS`] on.
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
    /// Registers all routes of a table, in the order of their indexes.
    pub(crate) fn add_routes(&mut self, labels: impl Iterator<Item = Label>) {
        for label in labels {
            let routes = &mut self.by_route[label.table.index()];
            debug_assert_eq!(routes.len(), label.index, "{} is out of order", label.id);
            routes.push(RouteMetrics {
                label,
                metrics: OperationMetrics::default(),
            });
        }
    }

    /// Records the status and the duration of a request, under its route if it has one.
    pub(crate) fn record_request(
        &self,
        label: Option<Label>,
        status: StatusCode,
        duration: Duration,
    ) {
        let route = label.and_then(|label| self.by_route[label.table.index()].get(label.index));
        let metrics = route.map_or(&self.unrouted, |route| &route.metrics);
        // A `StatusCode` is at least 100. The service responds with none above 599.
        let status_index = usize::from(status.as_u16() - FIRST_STATUS);
        if let Some(counter) = metrics.by_status.get(status_index) {
            counter.count();
        }
        metrics.durations.observe(duration);
    }

    /// Counts a rejected request, if `problem` is about its API key.
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
            id: route.label.id,
            path: route.label.path,
        });
        let unrouted = LabelledMetrics {
            metrics: &self.unrouted,
            id: "none",
            path: "none",
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
        for operation in self.operations() {
            for (counter, status) in operation.metrics.by_status.iter().zip(FIRST_STATUS..) {
                // Most status codes never occur, so they need no line.
                if counter.get() > 0 {
                    let labels: [(&str, &dyn Display); 3] = [
                        ("operation", &operation.id),
                        ("http_route", &operation.path),
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
        for operation in self.operations() {
            let labels: [(&str, &dyn Display); 2] = [
                ("operation", &operation.id),
                ("http_route", &operation.path),
            ];
            exposition.histogram_samples(name, &labels, &operation.metrics.durations);
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
