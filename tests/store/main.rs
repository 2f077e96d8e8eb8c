//! The contract of every store, and the properties of each backend.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bulk;
mod large_pages;
mod postgres;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
mod postgres_connections;
mod postgres_faults;
mod postgres_tls;
mod proxy;
mod retries;
mod sqlite;
mod suite;
