//! Pagination of the catalogue, in ascending order of identifiers.

use super::{PetId, PetStatus};

/// The maximum number of items on a page: 1 to 100, by default 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limit(u8);

impl Limit {
    /// The smallest page.
    pub const MIN: u8 = 1;
    /// The largest page.
    pub const MAX: u8 = 100;

    /// Returns the limit; `None` outside 1 to 100. A higher limit is rejected instead of clamped,
    /// because the client would mistake the shorter page for the last one.
    pub fn new(limit: i64) -> Option<Self> {
        let limit = u8::try_from(limit).ok()?;
        let is_valid = (Self::MIN..=Self::MAX).contains(&limit);
        is_valid.then_some(Self(limit))
    }

    /// Returns the limit as a number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Truncates `items` to one page. Also returns the position of the last item on the page if
    /// more items follow, and `None` if this is the last page.
    ///
    /// The caller queries one item more than the limit, to learn whether there is a next page. With
    /// the limit 2, the items 1, 2 and 3 become the page 1 and 2, with the position of 2.
    pub fn page<T, P>(
        self,
        mut items: Vec<T>,
        position: impl FnOnce(&T) -> P,
    ) -> (Vec<T>, Option<P>) {
        let max_length = usize::from(self.0);
        let has_more = items.len() > max_length;
        items.truncate(max_length);
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
    /// Only animals with a higher identifier than this one; `None` for the first page.
    pub after: Option<PetId>,
}
