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

use rustix::fs::statvfs;
use tempfile::TempDir;

pub mod area;
pub mod cells;
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
pub mod photo_storage;
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
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
}

/// The free memory below which a folder of a test is on a disk, in bytes.
const PLENTY: u64 = 1 << 30;

/// Makes a folder that is removed at the end of a test. It is in memory if there is plenty: a test with a small database
/// would otherwise spend a third of its time in the file system of a disk.
pub fn temporary_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let free = statvfs(memory).map_or(0, |statistics| statistics.f_bavail * statistics.f_frsize);
    if free < PLENTY {
        return TempDir::new().unwrap();
    }
    TempDir::new_in(memory).or_else(|_| TempDir::new()).unwrap()
}
