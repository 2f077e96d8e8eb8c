//! Webhooks: what an attempt may reach, and how messages are delivered.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../shared/certificates.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod certificates;
mod connector;
mod dispatcher;
mod endings;
mod receiver;
mod shop;
