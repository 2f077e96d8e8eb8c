//! What the public types and functions of this crate promise, each by itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod address;
mod this_machine;
