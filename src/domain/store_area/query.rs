//! The queries of the lists of the store area.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{FieldValues, NamePrefix, OrderId, OrderStatus, Reference, ValueFilter};
use crate::domain::{Limit, PetId, PetStatus};

/// A page of animals. All filters apply together. With a name, or with a category and no values, animals
/// are in ascending order of (name key, identifier); otherwise in ascending order of identifier.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetQuery {
    pub status: Option<PetStatus>,
    pub category_id: Option<i64>,
    pub name: Option<NamePrefix>,
    /// At most [`Self::MOST_VALUES`], of different fields.
    pub values: Vec<ValueFilter>,
    /// Only animals that are available or pending, the newest first. Only with values and without a name.
    pub on_offer: bool,
    /// These with the oldest first instead.
    pub oldest_first: bool,
    /// Only withdrawn animals, or only those that are not.
    pub withdrawn: bool,
    pub limit: Limit,
    /// Only animals behind this position; from the first if `None`.
    pub after: Option<PetPosition>,
}

impl PetQuery {
    /// By how many fields a search can be.
    pub const MOST_VALUES: usize = 3;

    /// The beginning of the names, if the animals are in the order of their names.
    pub fn prefix(&self) -> Option<NamePrefix> {
        let by_category = self.category_id.filter(|_| self.values.is_empty());
        self.name.clone().or_else(|| by_category.map(|_| NamePrefix::default()))
    }

    /// Whether an animal has the status, the category and the values that are wanted.
    pub fn has(&self, status: PetStatus, category_id: i64, fields: &FieldValues) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && !(self.on_offer && status == PetStatus::Sold)
            && self.category_id.is_none_or(|wanted| wanted == category_id)
            && self.values.iter().all(|value| value.is_in(fields))
    }
}

/// A position in a list of animals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PetPosition {
    /// The name key of the last animal before it, if the animals are in the order of their names.
    pub key: Option<String>,
    pub id: PetId,
}

/// A page of orders, in order of identifier. All filters apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderQuery {
    pub status: Option<OrderStatus>,
    pub pet_id: Option<PetId>,
    pub reference: Option<Reference>,
    pub limit: Limit,
    pub newest_first: bool,
    /// Only orders behind this one; from the first if `None`.
    pub after: Option<OrderId>,
}

/// How many animals there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inventory {
    pub available: u64,
    pub pending: u64,
    pub sold: u64,
    /// Withdrawn, whatever their status was.
    pub withdrawn: u64,
    pub counted_at: Timestamp,
}

/// The open reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reservations {
    pub open: u64,
    /// The earliest end of one.
    pub first_end: Option<Timestamp>,
}
