//! What the public types and functions of this crate promise, each by itself. Nothing here starts a process: until it
//! executes its program, a process that starts holds the locks of its parent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kept_backups;
