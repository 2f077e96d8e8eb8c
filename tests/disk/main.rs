//! The embedded store on a disk that fails: at every operation in turn, in every way, once and
//! persistently; and with power cuts.
//!
//! The tests run on the VFS of `tests/faulty-vfs`, the default VFS of this process. The store
//! itself is the released code.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod changes;
#[path = "../shared/double.rs"]
mod double;
mod every_operation;
#[expect(dead_code, reason = "the other faults are of the histories' tests")]
#[path = "../shared/faulty_store.rs"]
mod faulty_store;
#[expect(dead_code, reason = "the kills count changes")]
#[path = "../shared/ledger.rs"]
mod ledger;
mod proofs;
mod script;
#[path = "../shared/with_pets.rs"]
mod with_pets;
