//! Compares the values of animals with the fields, and with the tables that are made of the values.

use std::hash::{DefaultHasher, Hash, Hasher};

use petstore_domain::store_area::{FieldProblem, FieldSet, StorePet, UniqueKey};
use roaring::RoaringTreemap;

use super::{
    admin::{
        search_sets::{self, read_pets},
        word_blocks::pet_in_block,
        word_rows::read_words,
    },
    columns::Columns,
};

/// The sum of the hashes of the rows that a table must have, without the hashes of the rows that it has. It is 0 if both
/// agree, in any order of the rows. So a comparison takes constant memory.
#[derive(Debug, Clone, Copy, Default)]
struct RowBalance(u64);

impl RowBalance {
    /// Adds a row that the table must have.
    fn add_expected(&mut self, row: &impl Hash) {
        self.0 = self.0.wrapping_add(hash(row));
    }

    /// Adds a row that the table has.
    fn add_present(&mut self, row: &impl Hash) {
        self.0 = self.0.wrapping_sub(hash(row));
    }

    fn is_even(self) -> bool {
        self.0 == 0
    }
}

fn hash(row: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

/// Compares the values of animals with the fields, and with the tables of unique values, photos and the search.
pub(super) struct ValueCheck {
    fields: FieldSet,
    unique_values: RowBalance,
    photos: RowBalance,
    /// The sets of the search, for animals that are merged.
    sets: RowBalance,
    /// The words of the search, for animals that are merged.
    words: RowBalance,
    unmerged: UnmergedPets,
}

/// The animals that are not merged into the search.
#[derive(Default)]
struct UnmergedPets {
    /// The new animals are above this identifier.
    last_merged: i64,
    /// The new animals are not above this identifier.
    last: i64,
    changed: RoaringTreemap,
}

impl ValueCheck {
    pub(super) fn new(fields: FieldSet) -> Self {
        Self {
            fields,
            unique_values: RowBalance::default(),
            photos: RowBalance::default(),
            sets: RowBalance::default(),
            words: RowBalance::default(),
            unmerged: UnmergedPets::default(),
        }
    }

    /// Adds an animal. Returns the problem with its values, if there is one.
    pub(super) fn add_pet(&mut self, pet: &StorePet) -> Option<String> {
        let id = pet.id.get();
        for photo in pet.photos.all() {
            self.photos.add_expected(&(photo.id.to_string(), id));
        }
        if pet.withdrawal.is_none() {
            for key in self.fields.unique_keys(&pet.fields) {
                self.unique_values.add_expected(&(&key, id));
            }
        }
        if self.is_merged(id) {
            for set in search_sets::sets_of_pet(&self.fields, pet) {
                self.sets.add_expected(&(set, id));
            }
            for word in search_sets::words_of_pet(&self.fields, pet) {
                self.words.add_expected(&(id, &word[..]));
            }
        }

        let (FieldProblem::Unknown(problem) | FieldProblem::Invalid(problem)) =
            self.fields.find_problem(&pet.fields)?;
        Some(format!("animal {} has an invalid value: {problem}", pet.id))
    }

    /// Adds a row of the table of unique values.
    pub(super) fn add_unique_value(&mut self, key: &UniqueKey, id: i64) {
        self.unique_values.add_present(&(key, id));
    }

    fn is_merged(&self, id: i64) -> bool {
        let UnmergedPets {
            last_merged,
            last,
            changed,
        } = &self.unmerged;
        let is_new = id > *last_merged && id <= *last;
        !is_new && !changed.contains(id.unsigned_abs())
    }

    /// Adds a row of [`super::check::UNMERGED`]. All such rows come before the animals.
    pub(super) fn add_unmerged(&mut self, last_merged: i64, last: i64) {
        if last - last_merged == 1 {
            self.unmerged.changed.insert(last.unsigned_abs());
        } else {
            self.unmerged.last_merged = last_merged;
            self.unmerged.last = last;
        }
    }

    /// Adds a row of [`super::check::SETS`].
    pub(super) fn add_set<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let block: i64 = row.value(0)?;
        let set: i64 = row.value(1)?;
        for low in read_pets(row, 2)? {
            let id = pet_in_block(block, low);
            if self.is_merged(id) {
                self.sets.add_present(&(set, id));
            }
        }
        Ok(())
    }

    /// Adds a row of [`super::check::WORDS`].
    pub(super) fn add_words<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let block: i64 = row.value(0)?;
        let mut balance = self.words;
        read_words(row, 1, |word, lows| {
            for &low in lows {
                let id = pet_in_block(block, low.into());
                if self.is_merged(id) {
                    balance.add_present(&(id, word));
                }
            }
        })?;
        self.words = balance;
        Ok(())
    }

    /// Adds a row of the table of photos.
    pub(super) fn add_photo(&mut self, photo: String, pet: i64) {
        self.photos.add_present(&(photo, pet));
    }

    /// Returns a problem for each table that does not agree with the animals.
    pub(super) fn disagreements(&self) -> Vec<String> {
        let tables = [
            ("unique_values", self.unique_values),
            ("photos", self.photos),
            ("value_blocks", self.sets),
            ("word_blocks", self.words),
        ];
        let mut problems = Vec::new();
        for (table, balance) in tables {
            if !balance.is_even() {
                problems.push(format!("{table} does not agree with the animals"));
            }
        }
        problems
    }
}
