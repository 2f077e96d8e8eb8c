//! Hostile clients against the real program: slow and silent ones, malformed HTTP, floods of HTTP/2
//! frames, and a SIGTERM under load.
//!
//! Small counts here, and full ones in `scripts/torture`, by the variables that each file names.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clients;
mod files;
mod frames;
mod h2;
mod malformed;
#[expect(dead_code, reason = "the tests of the command line need more of it")]
#[path = "../cli/program.rs"]
mod program;
mod shutdown;
mod target;
