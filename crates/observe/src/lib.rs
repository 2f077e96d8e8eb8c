//! Observability of a running service: logs, metrics and traces, and the runner of background tasks, which
//! reports their outcomes.

pub mod log;
pub mod metrics;
pub mod tasks;
pub mod traces;
