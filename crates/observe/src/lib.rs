//! A running service as its operator sees it: logs, metrics and traces.

pub mod log;
pub mod metrics;
pub mod tasks;
pub mod traces;
