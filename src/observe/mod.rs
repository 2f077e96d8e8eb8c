//! What an operator can see of a running service: logs, metrics and traces.

pub mod log;
pub mod metrics;
pub mod traces;
