//! The queries of the lists of the store area.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{
    DateRange, FieldValues, NamePrefix, OrderId, OrderStatus, Phrase, Reference, ValueFilter,
};
use crate::{Limit, PetId, PetName, PetStatus};

/// A query for a page of animals, in the order of their identifiers. All filters apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetQuery {
    pub status: Option<PetStatus>,
    pub category_id: Option<i64>,
    pub name: Option<NamePrefix>,
    pub phrase: Option<Phrase>,
    /// The values of different fields.
    pub values: Vec<ValueFilter>,
    /// The days of a field that `values` has not.
    pub dates: Option<DateRange>,
    /// Only animals that the window may show, or only the others.
    pub is_listed: Option<bool>,
    /// Only animals that are available or pending. A query with this has no status, and is not for withdrawn animals.
    pub is_on_offer: bool,
    /// Whether the page has only withdrawn animals, or only animals in the catalogue.
    pub is_withdrawn: bool,
    pub newest_first: bool,
    pub limit: Limit,
    /// The animal before the page; `None` for the first page.
    pub after: Option<PetId>,
}

impl PetQuery {
    /// The maximum number of fields by which a program can search, with the field of a range of dates.
    pub const MAX_VALUE_FILTERS: usize = 3;

    /// Returns the beginning of a word of the names, unless every name has it.
    pub fn prefix(&self) -> Option<&NamePrefix> {
        self.name.as_ref().filter(|prefix| !prefix.is_empty())
    }

    /// Whether the query has another filter than a status.
    pub fn is_search(&self) -> bool {
        self.category_id.is_some()
            || self.prefix().is_some()
            || self.phrase.is_some()
            || self.has_value_filters()
            || self.is_listed.is_some()
    }

    /// Whether the query has a filter for the value of a field.
    pub fn has_value_filters(&self) -> bool {
        !self.values.is_empty() || self.dates.is_some()
    }

    /// Whether an animal has the status, the category, the name and the values of the query. The phrase is
    /// not compared, because its meaning depends on the fields: see [`Phrase::meaning`]. See [`Self::matches_listing`],
    /// too.
    pub fn matches(
        &self,
        status: PetStatus,
        category_id: i64,
        name: &PetName,
        fields: &FieldValues,
    ) -> bool {
        self.matches_status(status)
            && self
                .category_id
                .is_none_or(|category| category == category_id)
            && self
                .prefix()
                .is_none_or(|prefix| prefix.finds(name.as_str()))
            && self.values.iter().all(|value| value.matches(fields))
            && self
                .dates
                .as_ref()
                .is_none_or(|dates| dates.contains(fields))
    }

    /// Whether the query finds animals that the window may show, or animals that it may not.
    pub fn matches_listing(&self, is_listed: bool) -> bool {
        self.is_listed.is_none_or(|wanted| wanted == is_listed)
    }

    fn matches_status(&self, pet_status: PetStatus) -> bool {
        if self.is_on_offer && pet_status == PetStatus::Sold {
            return false;
        }
        self.status.is_none_or(|status| status == pet_status)
    }
}

/// A query for a page of orders, in the order of their identifiers. All filters apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderQuery {
    pub status: Option<OrderStatus>,
    pub pet_id: Option<PetId>,
    pub reference: Option<Reference>,
    pub limit: Limit,
    pub newest_first: bool,
    /// The order before the page; `None` for the first page.
    pub after: Option<OrderId>,
}

/// The numbers of animals in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inventory {
    pub available: u64,
    pub pending: u64,
    pub sold: u64,
    /// The number of withdrawn animals, whatever their status was.
    pub withdrawn: u64,
    pub counted_at: Timestamp,
}

/// The open reservations of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reservations {
    pub open: u64,
    /// The end of the reservation that ends first.
    pub first_end: Option<Timestamp>,
}
