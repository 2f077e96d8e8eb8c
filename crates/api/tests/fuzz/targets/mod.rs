//! The fuzz targets. Each is a function of arbitrary bytes that fails if a response violates the
//! contract, or if a picture becomes files that cannot be read. `mod.rs` above replays the corpus; the
//! package in `fuzz/` runs a fuzzer.

mod body;
mod cursor;
mod head;
mod key;
mod memory;
mod picture;
mod query;
pub(crate) mod service;

/// The name of a target, which is also that of its corpus, and its function.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets.
pub(crate) const TARGETS: [Target; 6] = [
    ("body", body::run),
    ("query", query::run),
    ("cursor", cursor::run),
    ("key", key::run),
    ("head", head::run),
    ("picture", picture::run),
];
