//! What the tests of several crates share: a service in this process, databases, clocks, certificates, and doubles of the
//! store.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "a test fails by panicking"
)]

use std::path::Path;

pub mod area;
pub mod certificates;
pub mod clock;
pub mod contract;
pub mod database;
pub mod double;
pub mod english;
pub mod faulty_store;
pub mod harness;
pub mod hostile_texts;
pub mod interface;
pub mod ledger;
pub mod photo_places;
pub mod pictures;
pub mod postgres_cluster;
pub mod profile;
pub mod proxy;
pub mod reply;
pub mod stores;
pub mod unchanged;
pub mod with_pets;

/// Returns the folder of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}
