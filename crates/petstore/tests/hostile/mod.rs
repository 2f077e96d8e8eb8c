//! Hostile clients against the real program: slow and silent ones, malformed HTTP, floods of HTTP/2
//! frames, and a SIGTERM under load.
//!
//! Small counts here, and full ones in `scripts/torture`, by the variables that each file names.

mod clients;
mod files;
mod frames;
mod h2;
mod malformed;
mod shutdown;
mod target;

use crate::cli::program;
