//! Webhooks: what an attempt may reach, and how messages are delivered from SQLite.
//! `tests/needs_tools/` runs the same tests of delivery on PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../api/backend.rs"]
mod backend;
#[path = "../shared/certificates.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod certificates;
mod connector;
mod reuse;
#[path = "suite.rs"]
mod sqlite;
#[path = "../api/sqlite_backend.rs"]
mod sqlite_backend;

/// The database of the suite.
type Database = sqlite_backend::Sqlite;
