//! What the public types and functions of this crate promise, each by itself.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod change_metrics;
mod exposition;
mod headers;
mod log;
mod sampler;
mod spans;
mod tasks;
