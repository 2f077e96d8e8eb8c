//! A page between the database and the visitor.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::slice;

use petstore_domain::{PetId, PetRef, PetStatus};
use tokio::task;

use super::{PetVisitor, StoreError, cause};

/// After this many bytes of names, other tasks get a turn: a tenth of a millisecond of rendering.
pub const TURN: usize = 64 << 10;

/// The animals of a page, copied from their rows. So each is visited once, even if the store has to
/// read the page again, and no connection waits for the visitor.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub pets: Vec<Entry>,
    /// All names, one after the other.
    pub names: String,
    pub more_follow: bool,
}

/// An animal whose name is elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: PetId,
    /// The length of its name in bytes.
    pub name: usize,
    pub category_id: i64,
    pub status: PetStatus,
}

impl Page {
    pub fn push(&mut self, pet: PetRef<'_>) {
        let PetRef {
            id,
            name,
            category_id,
            status,
        } = pet;
        self.names.push_str(name);
        self.pets.push(Entry {
            id,
            name: name.len(),
            category_id,
            status,
        });
    }

    /// Calls `visit` with each animal, and returns the last one if more follow.
    pub async fn visit(&self, visit: PetVisitor<'_>) -> Result<Option<PetId>, StoreError> {
        let (mut pets, mut names) = (self.pets.iter(), self.names.as_str());
        while visit_some(&mut pets, &mut names, visit)? {
            task::yield_now().await;
        }
        Ok(self
            .pets
            .last()
            .map(|pet| pet.id)
            .filter(|_| self.more_follow))
    }
}

/// Visits animals for one turn. Returns whether it ended before all were visited.
fn visit_some(
    pets: &mut slice::Iter<'_, Entry>,
    names: &mut &str,
    visit: PetVisitor<'_>,
) -> Result<bool, StoreError> {
    let mut rest = *names;
    for &Entry {
        id,
        name,
        category_id,
        status,
    } in pets
    {
        let split = rest.split_at_checked(name);
        let (name, after) =
            split.ok_or_else(|| StoreError::Internal(cause("a name is not valid UTF-8")))?;
        visit(PetRef {
            id,
            name,
            category_id,
            status,
        });
        rest = after;
        if names.len() - rest.len() >= TURN {
            *names = rest;
            return Ok(true);
        }
    }
    Ok(false)
}
