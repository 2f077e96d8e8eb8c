//! The interface of a store: the traits that every backend implements, and the code that the SQLite
//! and PostgreSQL backends share. The tests in `tests/store` run against every backend.

pub mod admin;
pub mod bulk;
pub mod check;
mod check_notes;
pub mod check_rows;
pub mod columns;
pub mod confirmed_clock;
pub mod drivers;
mod errors;
mod health;
pub mod journal_rows;
pub mod open_mode;
pub mod page;
mod pets;
mod reader;
pub mod request_rows;
pub mod state;
mod store_area;
pub mod tables;
mod value_check;
pub mod whole;

pub use self::{
    admin::{
        Fields, Journal, KEPT_ATTEMPTS, Keys, Lists, Notes, Offers, PhotoAudience, PhotoFiles,
        Requests, ReturnToOffer, Staff, StaffKey, StaffWriteOutcome, StoreProfile, StoredLogo,
        Webhooks, WriteOutcome,
    },
    check::Checkup,
    errors::{Cause, OpenError, StoreError, cause},
    health::Health,
    open_mode::OpenMode,
    pets::{CreationOutcome, CreationRenderer, PetVisitor, Pets, Version},
    reader::StoreReader,
    store_area::{ExecutionOutcome, ExecutionRenderer, StoreArea},
};

/// Persists everything that the service needs, with one trait for each aggregate.
///
/// Every method may fail with any [`StoreError`]. A missing row is `Ok(None)`, not an error. When a
/// method returns success, its changes are durable and visible to every later call. Every future is
/// cancel-safe: if it is dropped, its work is done completely or not at all.
///
/// A method that carries out an action of an actor takes a [`petstore_domain::WriteContext`], so
/// that the audit trail can name the actor. Housekeeping methods take none, because no actor is
/// responsible for them.
pub trait Store:
    Pets
    + StoreArea
    + Lists
    + Notes
    + Offers
    + Fields
    + StoreProfile
    + PhotoFiles
    + Journal
    + Webhooks
    + Keys
    + Staff
    + Requests
    + Health
{
}

impl<S> Store for S where
    S: Pets
        + StoreArea
        + Lists
        + Notes
        + Offers
        + Fields
        + StoreProfile
        + PhotoFiles
        + Journal
        + Webhooks
        + Keys
        + Staff
        + Requests
        + Health
{
}
