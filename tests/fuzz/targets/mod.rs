//! What a fuzzer drives: five targets, each a function of any bytes that fails
//! if the service answers otherwise than its contract says. `main.rs` replays
//! the corpus through them; the package in `fuzz/` lets a fuzzer look for more.

mod body;
mod cursor;
mod head;
mod key;
mod memory;
mod query;
pub(crate) mod service;

/// A target: its name, which is also that of its corpus, and what it does with an input.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All of them.
pub(crate) const TARGETS: [Target; 5] = [
    ("body", body::run),
    ("query", query::run),
    ("cursor", cursor::run),
    ("key", key::run),
    ("head", head::run),
];
