//! The embedded store on a disk that fails: at every operation in turn, in every way, once and
//! persistently; and with power cuts.
//!
//! The tests run on the VFS of `tests/faulty-vfs`, the default VFS of this process. The store
//! itself is the released code.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod changes;
mod every_operation;
mod proofs;
mod script;
