//! The interface, tested through a real server and a real client on SQLite, and compared with the
//! contract. One file for each operation, and one for each topic. `tests/needs_tools/` runs the
//! same tests on PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod backend;
#[path = "../shared/certificates.rs"]
mod certificates;
mod contract;
mod harness;
#[path = "suite.rs"]
mod sqlite;
mod sqlite_backend;
// Independent of the store.
mod tls;
#[path = "../shared/with_pets.rs"]
mod with_pets;

/// The database of the suite.
type Database = sqlite_backend::Sqlite;
