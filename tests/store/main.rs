//! What every store promises, and what only SQLite does.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod retries;
mod sqlite;
mod suite;
