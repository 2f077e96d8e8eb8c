//! Reading the catalogue page by page, in ascending order of identifier.

use super::{PetId, PetStatus};

/// The maximum number of animals on a page: 1 to 100, by default 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limit(u8);

impl Limit {
    /// The smallest page.
    pub const MIN: u8 = 1;
    /// The largest page.
    pub const MAX: u8 = 100;

    /// `None` outside 1 to 100. A limit is never clamped: a client that asked for more would take a
    /// short page for the last one.
    pub fn new(limit: i64) -> Option<Self> {
        let limit = u8::try_from(limit).ok()?;
        (Self::MIN..=Self::MAX)
            .contains(&limit)
            .then_some(Self(limit))
    }

    /// Returns the limit as a number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Returns the items of a page, of which one too many was read, and the position after them if
    /// more follow.
    pub fn page<T, P>(
        self,
        mut items: Vec<T>,
        position: impl FnOnce(&T) -> P,
    ) -> (Vec<T>, Option<P>) {
        let has_more = items.len() > usize::from(self.0);
        items.truncate(self.0.into());
        let next = items.last().filter(|_| has_more).map(position);
        (items, next)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// At most this many animals.
    pub limit: Limit,
    /// Only animals of this status; all of them if `None`.
    pub status: Option<PetStatus>,
    /// Only animals with a higher identifier than this; from the first if `None`.
    pub after: Option<PetId>,
}
