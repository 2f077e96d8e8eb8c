//! The queries of the lists of the store area.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{
    DateRange, FieldValues, NamePrefix, OrderId, OrderStatus, Phrase, Reference, ValueFilter,
};
use crate::{Limit, PetId, PetName, PetStatus};

/// A page of animals, in the order of their identifiers. All filters apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetQuery {
    pub status: Option<PetStatus>,
    pub category_id: Option<i64>,
    pub name: Option<NamePrefix>,
    pub phrase: Option<Phrase>,
    /// Of different fields.
    pub values: Vec<ValueFilter>,
    /// Of another field.
    pub dates: Option<DateRange>,
    /// Only animals that are available or pending. Without a status, and not withdrawn.
    pub is_on_offer: bool,
    /// Only withdrawn animals, or only those that are not.
    pub is_withdrawn: bool,
    pub newest_first: bool,
    pub limit: Limit,
    /// Only animals behind this one; from the first if `None`.
    pub after: Option<PetId>,
}

impl PetQuery {
    /// By how many fields a program can search, together with that of a range.
    pub const MAX_VALUE_FILTERS: usize = 3;

    /// Returns the beginning of a word of the names, unless every name has it.
    pub fn prefix(&self) -> Option<&NamePrefix> {
        self.name.as_ref().filter(|prefix| !prefix.is_empty())
    }

    /// Whether the animals have more in common than a status.
    pub fn is_search(&self) -> bool {
        self.category_id.is_some()
            || self.prefix().is_some()
            || self.phrase.is_some()
            || self.has_value_filters()
    }

    /// Whether the animals must have a value.
    pub fn has_value_filters(&self) -> bool {
        !self.values.is_empty() || self.dates.is_some()
    }

    /// Whether an animal has the status, the category, the name and the values that are wanted. Its
    /// phrase depends on the fields: see [`Phrase::among`].
    pub fn matches(
        &self,
        status: PetStatus,
        category_id: i64,
        name: &PetName,
        fields: &FieldValues,
    ) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && !(self.is_on_offer && status == PetStatus::Sold)
            && self.category_id.is_none_or(|wanted| wanted == category_id)
            && self
                .prefix()
                .is_none_or(|prefix| prefix.finds(name.as_str()))
            && self.values.iter().all(|value| value.matches(fields))
            && self
                .dates
                .as_ref()
                .is_none_or(|dates| dates.contains(fields))
    }
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
