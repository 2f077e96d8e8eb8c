//! The embedded store on a disk that fails: at every operation in turn, in
//! every way, once and for good; and when the power goes.
//!
//! All of it runs on the VFS of `tests/faulty-vfs`, which is the default one of
//! this process: the store is the one that is shipped, to the last line.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod copies;
mod every_operation;
#[expect(dead_code, reason = "the other faults are of the histories' tests")]
#[path = "../shared/faulty_store.rs"]
mod faulty_store;
mod proofs;
mod recording;
mod script;
