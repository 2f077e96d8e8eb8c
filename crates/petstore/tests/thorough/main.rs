//! The thorough tests, which `scripts/test` runs: they need PostgreSQL, openssl, strace, faketime,
//! Python, or a mount (so root or user namespaces, and `/dev/fuse`), or take long. A test whose tool is missing
//! fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../disk/copies.rs"]
mod copies;
#[path = "../histories/mod.rs"]
mod histories;
#[path = "../hostile/mod.rs"]
mod hostile;
#[path = "../disk/recording.rs"]
mod recording;

#[path = "../cli"]
mod cli {
    use petstore_testing::{certificates, postgres_cluster, proxy};

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
