//! Pages of the catalogue, which clients read in ascending order of identifier.

use super::{PetId, PetStatus};

/// The maximum number of animals on a page: 1 to 100, by default 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limit(u8);

impl Limit {
    /// The smallest page.
    pub const MIN: u8 = 1;
    /// The largest page.
    pub const MAX: u8 = 100;

    /// Returns the limit; `None` outside 1 to 100. A limit is never clamped: a client that asked for more would take a
    /// short page for the last one.
    pub fn new(limit: i64) -> Option<Self> {
        let limit = u8::try_from(limit).ok()?;
        let is_valid = (Self::MIN..=Self::MAX).contains(&limit);
        is_valid.then_some(Self(limit))
    }

    /// Returns the limit as a number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Returns the items of a page, and the position of the last item if more items follow.
    ///
    /// A caller reads one item more than the limit to find out whether more follow. With the limit 2, the items 1, 2 and 3
    /// become the page 1 and 2 with the position of 2.
    pub fn page<T, P>(
        self,
        mut items: Vec<T>,
        position: impl FnOnce(&T) -> P,
    ) -> (Vec<T>, Option<P>) {
        let has_more = items.len() > usize::from(self.0);
        items.truncate(self.0.into());
        let last_position = match items.last() {
            Some(last) if has_more => Some(position(last)),
            _ => None,
        };
        (items, last_position)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

/// A request for a page of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// The maximum number of animals.
    pub limit: Limit,
    /// The status of the animals; `None` for animals of any status.
    pub status: Option<PetStatus>,
    /// The identifier before the page: the animals have higher ones. `None` for the first page.
    pub after: Option<PetId>,
}
