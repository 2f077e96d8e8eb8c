//! A page between the database and the visitor.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::slice;

use petstore_domain::{PetId, PetRef, PetStatus};
use tokio::task;

use super::{PetVisitor, StoreError, cause};

/// After this many bytes of names, other tasks get a turn: a tenth of a millisecond of rendering.
pub const TURN: usize = 64 << 10;

/// The animals of a page, copied from their rows. So each animal is visited once, even if the store has to
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
    /// Copies an animal to the end of the page.
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

    /// Calls `visitor` with each animal, and returns the last one if more follow.
    pub async fn visit(&self, visitor: PetVisitor<'_>) -> Result<Option<PetId>, StoreError> {
        let mut unvisited_rows = Unvisited {
            pets: self.pets.iter(),
            names: &self.names,
        };
        while unvisited_rows.visit_for_one_turn(visitor)? {
            task::yield_now().await;
        }
        if !self.more_follow {
            return Ok(None);
        }
        Ok(self.pets.last().map(|pet| pet.id))
    }
}

/// The animals of a page that were not visited yet, and their names.
struct Unvisited<'p> {
    pets: slice::Iter<'p, Entry>,
    names: &'p str,
}

impl Unvisited<'_> {
    /// Visits animals for one turn. Returns whether the turn ended before all were visited.
    fn visit_for_one_turn(&mut self, visitor: PetVisitor<'_>) -> Result<bool, StoreError> {
        let length_before = self.names.len();
        for &Entry {
            id,
            name: name_length,
            category_id,
            status,
        } in &mut self.pets
        {
            let Some((name, names_after)) = self.names.split_at_checked(name_length) else {
                return Err(StoreError::Internal(cause("a name is not valid UTF-8")));
            };
            visitor(PetRef {
                id,
                name,
                category_id,
                status,
            });
            self.names = names_after;
            if length_before - self.names.len() >= TURN {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
