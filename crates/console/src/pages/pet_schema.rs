//! The categories and fields with which a store describes its animals. Nearly every form of an animal needs them.

use petstore_domain::store_area::{Category, FieldSet};

/// The categories and the fields with which a store describes its animals.
#[derive(Clone, Copy)]
pub(super) struct PetSchema<'s> {
    /// The categories that the page needs, because a store can have any number of them.
    pub(super) categories: &'s [Category],
    /// All fields of the store.
    pub(super) fields: &'s FieldSet,
}
