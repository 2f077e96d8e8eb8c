//! The thorough tests, which `scripts/test` runs: they need PostgreSQL, openssl, strace, faketime,
//! Python, or a mount (so root or user namespaces, and `/dev/fuse`), or take long. A test whose tool is missing
//! fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[expect(dead_code, reason = "the fast tests need more of it")]
#[path = "../shared/certificates.rs"]
mod certificates;
#[path = "../disk/copies.rs"]
mod copies;
#[path = "../shared/double.rs"]
mod double;
#[expect(dead_code, reason = "what is acknowledged early is of the disk's tests")]
#[path = "../shared/faulty_store.rs"]
mod faulty_store;
#[path = "../histories/mod.rs"]
mod histories;
#[path = "../hostile/mod.rs"]
mod hostile;
#[path = "../shared/interface.rs"]
mod interface;
#[path = "../shared/ledger.rs"]
mod ledger;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
#[expect(dead_code, reason = "logos are of the fast tests")]
#[path = "../shared/profile.rs"]
mod profile;
#[path = "../disk/recording.rs"]
mod recording;
#[path = "../shared/with_pets.rs"]
mod with_pets;

/// The contract of every store on PostgreSQL, and the properties of PostgreSQL.
#[path = "../store"]
mod store {
    use crate::postgres_cluster;

    mod area;
    mod area_check;
    mod area_commands;
    mod area_field_search;
    mod area_fields;
    mod area_lists;
    mod area_offers;
    mod area_orders;
    mod area_photos;
    mod area_requests;
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
    pub(crate) mod proxy;
    mod retries;
    mod staff;
    mod suite;
    mod test_messages;
    mod times;
    mod twins;
    mod webhooks;
}

#[path = "../cli"]
mod cli {
    use crate::{certificates, postgres_cluster, store::proxy};

    mod backup;
    mod backups_on_bad_disks;
    mod backups_watched;
    mod check;
    mod contacts;
    mod copy;
    mod demo;
    mod exhausted_resources;
    mod export_all;
    mod files;
    mod full_place;
    mod import;
    mod import_values;
    mod interrupted;
    mod management;
    mod metrics;
    mod photos_on_disk;
    mod postgres;
    mod profile;
    pub(crate) mod program;
    mod read_only_root;
    mod release_before;
    mod restore;
    mod retries;
    mod system_clock;
    mod tasks;
    mod terminal;
    mod traces;
    mod upgrade;
    mod webhooks;
}
