//! Webhooks: what an attempt may reach, and how messages are delivered.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod acts;
mod connector;
mod dispatcher;
mod endings;
mod example;
mod key_files;
mod names;
mod receiver;
mod reuse;
mod shares;
mod shop;
