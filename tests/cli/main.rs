//! The program: its commands, settings and messages. Needs no other programs than `curl` and
//! `script`. `tests/needs_tools/` includes the other files of this directory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
#[path = "../shared/certificates.rs"]
mod certificates;
mod check;
mod keys;
mod openapi;
#[expect(dead_code, reason = "other tests need more of it")]
mod program;
mod quoting;
mod serve;
mod staff;
mod start;
mod systemd;
mod tls;
mod unreadable_imports;
mod unwritable;
mod variables;
mod which_database;
