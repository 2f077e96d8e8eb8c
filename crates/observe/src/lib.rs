//! Observability of a running service: logs, metrics and traces. The runner of background tasks is
//! here, because it reports their outcomes.

pub mod log;
pub mod metrics;
pub mod tasks;
pub mod traces;
