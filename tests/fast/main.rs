//! The fast tests, which `cargo test` runs: they need no other program, no root and no service.
//!
//! The suites of the interface, the store and webhooks run on SQLite, or on PostgreSQL if
//! `TEST_DATABASE=postgres` says so; see `tests/shared/database.rs`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../api/mod.rs"]
mod api;
#[path = "../shared/certificates.rs"]
mod certificates;
#[path = "../cli/mod.rs"]
mod cli;
#[path = "../shared/clock.rs"]
mod clock;
#[path = "../console/mod.rs"]
mod console;
#[path = "../shared/database.rs"]
mod database;
#[path = "../shared/double.rs"]
mod double;
#[path = "../shared/english.rs"]
mod english;
#[path = "../fuzz/mod.rs"]
mod fuzz;
#[path = "../shared/interface.rs"]
mod interface;
#[path = "../shared/photo_places.rs"]
mod photo_places;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
#[path = "../shared/profile.rs"]
mod profile;
#[path = "../store/mod.rs"]
mod store;
#[path = "../tidy/mod.rs"]
mod tidy;
#[path = "../units/mod.rs"]
mod units;
#[path = "../webhooks/mod.rs"]
mod webhooks;
#[path = "../window/mod.rs"]
mod window;
#[path = "../shared/with_pets.rs"]
mod with_pets;
