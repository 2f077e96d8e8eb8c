//! The embedded store: one SQLite file, with one connection that writes and a few that read.
//!
//! Reads run on the calling thread: reading a usual page takes microseconds, less than handing the work
//! to another thread. Writes are queued for the writer, whose dedicated thread waits for the disk.

mod check;
mod checkpoints;
mod committer;
mod connection;
mod copy;
mod copy_error;
mod distrust;
mod errors;
mod file;
mod file_identity;
mod files_at_start;
mod journal;
mod load;
mod migrations;
mod newest;
mod opening;
mod page;
mod page_cache;
mod pets;
mod plans;
mod quick_check;
mod readers;
mod requests;
mod rows;
mod savepoints;
mod slow_reads;
mod sql;
mod store;
mod store_area;
mod transaction;
mod wal;
mod wal_frames;
mod wal_index;
mod whole;
mod writer;
mod writer_metrics;

pub use self::{
    check::check,
    copy::{CopiedContent, CopiedDatabase, copy, copy_into},
    copy_error::CopyError,
    file_identity::{is_companion, remove_database},
    load::SqliteLoad,
    store::SqliteStore,
    whole::{fields_of_new_database, snapshot},
};
