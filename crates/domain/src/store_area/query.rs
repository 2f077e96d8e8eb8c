//! The queries for lists in the store area.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::Timestamp;

use super::{
    DateRange, FieldValues, NamePrefix, OrderId, OrderStatus, Phrase, Reference, ValueFilter,
};
use crate::{Limit, PetId, PetName, PetStatus};

/// A query for a page of animals, sorted by identifier. An animal must match all filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetQuery {
    pub status: Option<PetStatus>,
    pub category_id: Option<i64>,
    pub name: Option<NamePrefix>,
    pub phrase: Option<Phrase>,
    /// Filters for the values of fields, at most one for each field.
    pub values: Vec<ValueFilter>,
    /// A range of dates for a field that is not among `values`.
    pub dates: Option<DateRange>,
    /// Only animals that the window may show (`true`), or only the others (`false`); `None` for
    /// both.
    pub is_listed: Option<bool>,
    /// Only animals that are available or pending. Not to be combined with `status` or
    /// `is_withdrawn`.
    pub is_on_offer: bool,
    /// Only withdrawn animals, instead of only animals in the catalogue.
    pub is_withdrawn: bool,
    pub newest_first: bool,
    pub limit: Limit,
    /// The last animal of the previous page; `None` for the first page.
    pub after: Option<PetId>,
}

impl PetQuery {
    /// The maximum number of fields by which a query can filter, including the field of a date
    /// range.
    pub const MAX_VALUE_FILTERS: usize = 3;

    /// Returns the name filter, unless it is empty and matches every name.
    pub fn prefix(&self) -> Option<&NamePrefix> {
        self.name.as_ref().filter(|prefix| !prefix.is_empty())
    }

    /// Whether the query has any filter besides the status.
    pub fn is_search(&self) -> bool {
        self.category_id.is_some()
            || self.prefix().is_some()
            || self.phrase.is_some()
            || self.has_value_filters()
            || self.is_listed.is_some()
    }

    /// Whether the query filters by the value of a field.
    pub fn has_value_filters(&self) -> bool {
        !self.values.is_empty() || self.dates.is_some()
    }

    /// Whether an animal with these values matches the filters for them.
    ///
    /// The caller must also check [`Self::matches_listing`], and the phrase. The meaning of the
    /// phrase depends on the fields: see [`Phrase::interpret`].
    pub fn matches_values(
        &self,
        status: PetStatus,
        category_id: i64,
        name: &PetName,
        fields: &FieldValues,
    ) -> bool {
        self.matches_status(status)
            && self.category_id.is_none_or(|wanted| wanted == category_id)
            && self
                .prefix()
                .is_none_or(|prefix| prefix.finds(name.as_str()))
            && self.values.iter().all(|filter| filter.matches(fields))
            && self
                .dates
                .as_ref()
                .is_none_or(|dates| dates.matches(fields))
    }

    /// Whether an animal matches the `is_listed` filter of the query.
    pub fn matches_listing(&self, is_listed: bool) -> bool {
        self.is_listed.is_none_or(|wanted| wanted == is_listed)
    }

    /// Whether an animal with this status matches the query.
    fn matches_status(&self, pet_status: PetStatus) -> bool {
        if self.is_on_offer && pet_status == PetStatus::Sold {
            return false;
        }
        self.status.is_none_or(|status| status == pet_status)
    }
}

/// A query for a page of orders, sorted by identifier. An order must match all filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderQuery {
    pub status: Option<OrderStatus>,
    pub pet_id: Option<PetId>,
    pub reference: Option<Reference>,
    pub limit: Limit,
    pub newest_first: bool,
    /// The last order of the previous page; `None` for the first page.
    pub after: Option<OrderId>,
}

/// The number of animals in a store by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inventory {
    pub available: u64,
    pub pending: u64,
    pub sold: u64,
    /// The number of withdrawn animals. They are not included in the other counts.
    pub withdrawn: u64,
    pub counted_at: Timestamp,
}

/// The open reservations of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reservations {
    pub open: u64,
    /// When the first of them ends.
    pub first_end: Option<Timestamp>,
}
