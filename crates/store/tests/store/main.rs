//! The contract of every store, and the properties of SQLite. `crates/petstore/tests/thorough/` has the tests of
//! PostgreSQL.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

pub(crate) mod area;
mod area_check;
mod area_commands;
mod area_field_search;
mod area_fields;
mod area_listed;
mod area_lists;
mod area_notes;
mod area_offers;
mod area_orders;
mod area_photos;
mod area_requests;
mod area_reverts;
mod area_words;
mod audit;
mod journal;
mod labels;
mod large_pages;
mod retries;
mod spellings;
mod sqlite;
mod sqlite_area;
mod sqlite_check;
mod sqlite_contacts;
mod sqlite_labels;
mod sqlite_newest;
mod sqlite_notes;
mod sqlite_unique;
mod sqlite_wal;
mod staff;
pub(crate) mod suite;
mod test_messages;
mod times;
mod twins;
mod webhooks;
