//! A buffer for one page of animals, between the database and the visitor that renders it.
//!
//! The visit is divided into turns. A turn is the work that a task does before it lets other tasks
//! run on the same thread.

use std::slice;

use petstore_domain::{PetId, PetRef, PetStatus};
use tokio::task;

use super::{PetVisitor, StoreError, cause};

/// The number of bytes of names in one turn. Rendering them takes about a tenth of a millisecond.
pub const BYTES_PER_TURN: usize = 64 << 10;

/// The animals of a page, copied from their rows.
///
/// Because of the copy, each animal is visited once, even if the store has to read the page again.
/// No connection is in use while the visitor runs. All names share one buffer, so a page needs few
/// allocations.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The animals, in the order of the page.
    pub pets: Vec<Entry>,
    /// The concatenated names of all animals, in the order of `pets`.
    pub names: String,
    /// Whether another page follows.
    pub more_follow: bool,
}

/// An animal whose name is in [`Page::names`].
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The identifier of the animal.
    pub id: PetId,
    /// The length of the name in bytes.
    pub name_length: usize,
    /// The category of the animal.
    pub category_id: i64,
    /// The status of the animal.
    pub status: PetStatus,
}

impl Page {
    /// Appends a copy of an animal.
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
            name_length: name.len(),
            category_id,
            status,
        });
    }

    /// Calls `visitor` with each animal. Yields to other tasks after each turn. Returns the last
    /// animal of the page if another page follows.
    pub async fn visit(&self, visitor: PetVisitor<'_>) -> Result<Option<PetId>, StoreError> {
        let mut unvisited_pets = UnvisitedPets {
            pets: self.pets.iter(),
            names: &self.names,
        };
        while unvisited_pets.visit_one_turn(visitor)? == TurnEnd::MoreMayBeLeft {
            task::yield_now().await;
        }
        if !self.more_follow {
            return Ok(None);
        }
        Ok(self.pets.last().map(|pet| pet.id))
    }
}

/// The reason why a turn ended.
#[derive(PartialEq, Eq)]
enum TurnEnd {
    /// The names of the turn reached [`BYTES_PER_TURN`].
    MoreMayBeLeft,
    /// No animal is left.
    NoneLeft,
}

/// The animals of a page that have not been visited yet, and their names.
struct UnvisitedPets<'p> {
    pets: slice::Iter<'p, Entry>,
    names: &'p str,
}

impl UnvisitedPets<'_> {
    /// Calls `visitor` with the animals of one turn, which ends when their names reach
    /// [`BYTES_PER_TURN`] or no animal is left.
    fn visit_one_turn(&mut self, visitor: PetVisitor<'_>) -> Result<TurnEnd, StoreError> {
        let length_before = self.names.len();
        for &Entry {
            id,
            name_length,
            category_id,
            status,
        } in &mut self.pets
        {
            let Some((name, following_names)) = self.names.split_at_checked(name_length) else {
                return Err(StoreError::Internal(cause("a name is not valid UTF-8")));
            };
            visitor(PetRef {
                id,
                name,
                category_id,
                status,
            });
            self.names = following_names;
            if length_before - self.names.len() >= BYTES_PER_TURN {
                return Ok(TurnEnd::MoreMayBeLeft);
            }
        }
        Ok(TurnEnd::NoneLeft)
    }
}
