//! What every store promises, and what only SQLite does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sqlite;
mod suite;
