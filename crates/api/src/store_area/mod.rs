//! The store area: its operations, one file for each kind of resource, and the helpers that they share.

pub(super) mod audit;
pub(super) mod batch;
mod bodies;
pub(super) mod categories;
mod contacts;
mod cursor;
mod everyday;
pub(super) mod feed;
pub(super) mod fields;
mod fingerprint;
mod members;
mod note_texts;
pub(super) mod notes;
pub(super) mod order_acts;
pub(super) mod orders;
mod page;
pub(super) mod pets;
pub(super) mod photos;
mod preconditions;
pub(super) mod profile;
mod refusals;
pub(super) mod reverts;
mod shared;
mod subjects;
mod turns;
pub(super) mod webhooks;
mod wire;
mod write;

pub use self::bodies::declared_bodies;
pub(super) use self::shared::StoreArea;
