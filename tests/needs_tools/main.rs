//! The tests that need PostgreSQL, openssl, strace, faketime, Python, or a mount (so root or user
//! namespaces), and the long tests of the program. `scripts/test` installs these tools. A test
//! whose tool is missing fails.
//!
//! Most files are in the directories of the other tests.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../api/suite.rs"]
mod api;
#[path = "../store/area.rs"]
mod area;
#[path = "../store/area_check.rs"]
mod area_check;
#[path = "../store/area_commands.rs"]
mod area_commands;
#[path = "../store/area_lists.rs"]
mod area_lists;
#[path = "../store/area_requests.rs"]
mod area_requests;
#[path = "../store/audit.rs"]
mod audit;
#[path = "../api/backend.rs"]
mod backend;
#[path = "../store/bulk.rs"]
mod bulk;
#[expect(dead_code, reason = "here only the program uses certificates")]
#[path = "../shared/certificates.rs"]
mod certificates;
#[path = "../api/contract.rs"]
mod contract;
#[path = "../disk/copies.rs"]
mod copies;
#[path = "../api/harness.rs"]
mod harness;
#[path = "../store/log.rs"]
mod log;
#[path = "../store/postgres.rs"]
mod postgres;
#[path = "../store/postgres_area.rs"]
mod postgres_area;
#[path = "backend.rs"]
mod postgres_backend;
#[path = "../store/postgres_check.rs"]
mod postgres_check;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
#[path = "../store/postgres_connections.rs"]
mod postgres_connections;
#[path = "../store/postgres_creates.rs"]
mod postgres_creates;
#[path = "../store/postgres_faults.rs"]
mod postgres_faults;
#[path = "../store/postgres_log.rs"]
mod postgres_log;
#[path = "../store/postgres_migrations.rs"]
mod postgres_migrations;
#[path = "../store/postgres_tls.rs"]
mod postgres_tls;
#[path = "../store/proxy.rs"]
mod proxy;
#[path = "../disk/recording.rs"]
mod recording;
#[path = "../store/retries.rs"]
mod retries;
#[path = "../store/staff.rs"]
mod staff;
#[path = "../store/suite.rs"]
mod suite;
#[path = "../store/times.rs"]
mod times;
#[path = "../webhooks/suite.rs"]
mod webhook_delivery;
#[path = "../store/webhooks.rs"]
mod webhooks;
#[path = "../shared/with_pets.rs"]
mod with_pets;

/// The database of the tests in `api`.
type Database = postgres_backend::Postgres;

#[path = "../cli"]
mod cli {
    use crate::{certificates, postgres_cluster, proxy};

    mod backup;
    mod copy;
    mod exhausted_resources;
    mod export_all;
    mod files;
    mod import;
    mod interrupted;
    mod management;
    mod metrics;
    mod postgres;
    mod program;
    mod release_before;
    mod restore;
    mod retries;
    mod system_clock;
    mod tasks;
    mod traces;
    mod upgrade;
    mod webhooks;
}
