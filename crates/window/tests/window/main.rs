//! The window, through the handler that its listener serves: what the public sees, and what it never
//! sees. The tests run on the database that `TEST_DATABASE` names.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod animal;
mod caching;
mod files;
mod filters;
mod hostile;
mod languages;
mod leaks;
mod list;
mod listed;
mod photos;
mod profile;
mod search;
mod shelter;
mod sitemap;
pub(crate) mod store;
mod strangers;
mod street;
