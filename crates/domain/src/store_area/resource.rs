//! The resources of the store area: what commands are about, and what changes record.

use super::{Category, Order, PetNote, StorePet};
use crate::PetId;

/// An animal, an order, a category or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// An animal.
    Pet(StorePet),
    /// An order.
    Order(Order),
    /// A category with a label.
    Category(Category),
    /// A note on an animal.
    Note(PetNote),
}

impl From<StorePet> for Resource {
    fn from(pet: StorePet) -> Self {
        Self::Pet(pet)
    }
}

impl From<Order> for Resource {
    fn from(order: Order) -> Self {
        Self::Order(order)
    }
}

impl From<Category> for Resource {
    fn from(category: Category) -> Self {
        Self::Category(category)
    }
}

impl From<PetNote> for Resource {
    fn from(note: PetNote) -> Self {
        Self::Note(note)
    }
}

impl Resource {
    /// Removes the contact, if this is an order. Other resources have none.
    pub fn drop_contact(&mut self) {
        if let Self::Order(order) = self {
            order.contact = None;
        }
    }

    /// Returns the animal, if this is one.
    pub fn pet(&self) -> Option<&StorePet> {
        if let Self::Pet(pet) = self {
            Some(pet)
        } else {
            None
        }
    }

    /// Returns the order, if this is one.
    pub fn order(&self) -> Option<&Order> {
        if let Self::Order(order) = self {
            Some(order)
        } else {
            None
        }
    }

    /// Returns the category, if this is one.
    pub fn category(&self) -> Option<&Category> {
        if let Self::Category(category) = self {
            Some(category)
        } else {
            None
        }
    }

    /// Returns the note, if this is one.
    pub fn note(&self) -> Option<&PetNote> {
        if let Self::Note(note) = self {
            Some(note)
        } else {
            None
        }
    }

    /// Returns the identifier of the resource.
    pub fn id(&self) -> i64 {
        match self {
            Self::Pet(pet) => pet.id.get(),
            Self::Order(order) => order.id.get(),
            Self::Category(category) => category.id,
            Self::Note(note) => note.id.get(),
        }
    }

    /// Returns the identifier of the animal that the resource is or belongs to; `None` for a
    /// category.
    pub fn pet_id(&self) -> Option<PetId> {
        match self {
            Self::Pet(pet) => Some(pet.id),
            Self::Order(order) => Some(order.pet_id),
            Self::Category(_) => None,
            Self::Note(note) => Some(note.pet_id),
        }
    }

    /// Returns the version of the resource.
    pub fn version(&self) -> i64 {
        match self {
            Self::Pet(pet) => pet.version,
            Self::Order(order) => order.version,
            Self::Category(category) => category.version,
            Self::Note(note) => note.version,
        }
    }
}
