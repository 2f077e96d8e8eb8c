//! Compares the values of animals with the field definitions, and with the tables that are derived
//! from the values.

use std::hash::{DefaultHasher, Hash, Hasher};

use petstore_domain::store_area::{FieldProblem, FieldSet, StorePet, UniqueKey};
use roaring::RoaringTreemap;

use super::{
    admin::{
        pet_sets::{sets_of_pet, words_of_pet},
        search_sets::read_pets,
        word_blocks::pet_in_block,
        word_rows::read_words,
    },
    columns::Columns,
};

/// A checksum that compares the expected rows of a table with its present rows, in constant memory.
/// It adds the hash of each expected row, and subtracts the hash of each present row. So it is 0 if
/// both sets of rows are equal, in any order.
#[derive(Debug, Clone, Copy, Default)]
struct RowBalance(u64);

impl RowBalance {
    /// Adds a row that the table should have.
    fn add_expected(&mut self, row: &impl Hash) {
        self.0 = self.0.wrapping_add(hash_row(row));
    }

    /// Adds a row that the table actually has.
    fn add_present(&mut self, row: &impl Hash) {
        self.0 = self.0.wrapping_sub(hash_row(row));
    }

    /// Whether the table has exactly the rows that it should have. A wrong `true` is possible, but
    /// as unlikely as a collision of 64-bit hashes.
    fn is_balanced(self) -> bool {
        self.0 == 0
    }
}

/// Returns the hash of a row. It may differ between releases, so it is never stored.
fn hash_row(row: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

/// The comparison of all animals with the field definitions and with the tables of unique values,
/// photos and the search.
pub(super) struct ValueCheck {
    fields: FieldSet,
    unique_values: RowBalance,
    photos: RowBalance,
    /// The sets of the search, as far as they concern merged animals.
    sets: RowBalance,
    /// The words of the search, as far as they concern merged animals.
    words: RowBalance,
    unmerged: UnmergedPets,
}

/// The animals that are not merged into the search yet, in their present state. The sets and the
/// words of the search need not agree with them.
#[derive(Default)]
struct UnmergedPets {
    /// The exclusive lower bound of the identifiers of new animals.
    new_after: i64,
    /// The inclusive upper bound of the identifiers of new animals.
    last_new: i64,
    /// The identifiers of changed animals.
    changed: RoaringTreemap,
}

impl UnmergedPets {
    fn contains(&self, id: i64) -> bool {
        let is_new = id > self.new_after && id <= self.last_new;
        is_new || self.changed.contains(id.unsigned_abs())
    }
}

impl ValueCheck {
    /// Begins the comparison with these field definitions.
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

    /// Adds a row of the statement for unmerged animals: a range of identifiers above `after` and
    /// up to `last`. All of its rows must be added before the first animal.
    ///
    /// A range of one animal counts as a changed animal, even if the animal is new: both are
    /// unmerged. Any other range is the range of new animals.
    pub(super) fn add_unmerged(&mut self, after: i64, last: i64) {
        if last - after == 1 {
            self.unmerged.changed.insert(last.unsigned_abs());
        } else {
            self.unmerged.new_after = after;
            self.unmerged.last_new = last;
        }
    }

    /// Adds an animal: records the rows that the other tables should have for it. Returns a problem
    /// if one of its values is invalid.
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
        if !self.unmerged.contains(id) {
            for set in sets_of_pet(&self.fields, pet) {
                self.sets.add_expected(&(set, id));
            }
            for word in words_of_pet(&self.fields, pet) {
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

    /// Adds a row with a block of a set of the search: its block, set and animals.
    pub(super) fn add_set<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let block: i64 = row.value(0)?;
        let set: i64 = row.value(1)?;
        for offset in read_pets(row, 2)? {
            let id = pet_in_block(block, offset);
            if !self.unmerged.contains(id) {
                self.sets.add_present(&(set, id));
            }
        }
        Ok(())
    }

    /// Adds a row with words of the search: its block, and the packed words. If the words cannot be
    /// unpacked, adds none of them.
    pub(super) fn add_words<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let block: i64 = row.value(0)?;
        let mut words = self.words;
        read_words(row, 1, |word, offsets| {
            for &offset in offsets {
                let id = pet_in_block(block, offset.into());
                if !self.unmerged.contains(id) {
                    words.add_present(&(id, word));
                }
            }
        })?;
        self.words = words;
        Ok(())
    }

    /// Adds a row of the table of photos.
    pub(super) fn add_photo(&mut self, photo: String, pet: i64) {
        self.photos.add_present(&(photo, pet));
    }

    /// Returns a problem for each table that disagrees with the animals.
    pub(super) fn report_disagreements(&self) -> Vec<String> {
        let tables = [
            ("unique_values", self.unique_values),
            ("photos", self.photos),
            ("value_blocks", self.sets),
            ("word_blocks", self.words),
        ];
        let mut problems = Vec::new();
        for (table, balance) in tables {
            if !balance.is_balanced() {
                problems.push(format!("{table} does not agree with the animals"));
            }
        }
        problems
    }
}
