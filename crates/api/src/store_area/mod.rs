//! The store area (`/v1/store`): the operations with which programs of the store manage its animals, orders,
//! categories, notes, fields, webhooks and profile, and follow the changes of the first four.
//!
//! Each kind of resource has one file or folder, such as `orders.rs` or `webhooks`. The other files are the
//! helpers that they share: for example, `write.rs` has the steps of every change, `page.rs` and `cursor.rs`
//! divide lists into pages, and `wire.rs` and `refusals.rs` render responses.

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
