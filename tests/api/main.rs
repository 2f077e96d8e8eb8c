//! The interface, held to its contract through a real server and a real
//! client. One file an operation, and one for what they share.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod authentication;
mod clock;
mod contract;
mod create;
mod documents;
mod errors;
mod get;
mod harness;
mod idempotency;
mod limits;
mod list;
mod rate_limit;
mod shutdown;
mod walks;
