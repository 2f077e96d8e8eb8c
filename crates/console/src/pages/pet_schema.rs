//! What describes the animals of a store. Nearly every form for an animal needs it.

use petstore_domain::store_area::{Category, FieldSet};

/// The categories and fields that describe the animals of a store.
#[derive(Clone, Copy)]
pub(super) struct PetSchema<'s> {
    /// Only the categories that the page needs, because a store can have any number of them.
    pub(super) categories: &'s [Category],
    /// All fields of the store.
    pub(super) fields: &'s FieldSet,
}
