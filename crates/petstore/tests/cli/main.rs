//! The program: its commands, settings and messages. `crates/petstore/tests/thorough/` has the other files of this
//! folder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audit;
mod backups;
mod backups_drill;
mod backups_in_bucket;
mod backups_killed;
mod backups_misused;
mod backups_with_damaged_lists;
mod demo_folder;
mod import_cells;
mod import_headings;
mod import_tables;
mod keys;
mod limited_lines;
mod openapi;
mod owners;
mod photos;
mod photos_of_backups;
mod photos_without_cards;
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
mod values;
mod variables;
mod which_database;
mod window;

use petstore_testing::certificates;
