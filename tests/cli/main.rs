//! The program: its commands, signals, and kills.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod backup;
#[path = "../shared/certificates.rs"]
mod certificates;
mod check;
mod copy;
mod exhausted_resources;
mod files;
mod import;
mod interrupted;
mod keys;
mod kill;
mod management;
mod metrics;
mod openapi;
mod postgres;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
mod program;
#[expect(dead_code, reason = "here the database is only there or away")]
#[path = "../store/proxy.rs"]
mod proxy;
mod quoting;
mod release_before;
mod restore;
mod retries;
mod serve;
mod start;
mod system_clock;
mod systemd;
mod tls;
mod traces;
mod upgrade;
mod variables;
mod which_database;
