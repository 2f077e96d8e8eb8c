//! The contract of every store on PostgreSQL, and the properties of PostgreSQL, which the tests install and start.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod area;
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
mod bulk;
mod journal;
mod labels;
mod postgres;
mod postgres_area;
mod postgres_check;
mod postgres_connections;
mod postgres_creates;
mod postgres_faults;
mod postgres_groups;
mod postgres_journal;
mod postgres_migrations;
mod postgres_once;
mod postgres_tls;
mod postgres_webhooks;
mod retries;
mod spellings;
mod staff;
mod suite;
mod test_messages;
mod times;
mod twins;
mod webhooks;

use petstore_testing::postgres_cluster;
