//! Whether a database agrees with itself.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use petstore_domain::{
    pet::HIGHEST_EXPECTED,
    store_area::{FieldProblem, FieldSet, Owner, StorePet, UniqueKey},
};
use roaring::RoaringTreemap;

use super::{
    admin::{search_sets, word_blocks},
    columns::Columns,
};

/// How many problems of one kind are reported one by one.
const MAX_REPORTED: u64 = 20;

/// Problems, and the statements that find the rows that have them, in SQLite and PostgreSQL.
pub const DISAGREEMENTS: [(&str, &str); 10] = [
    (
        "order {} is reserved, but its animal is not pending in the catalogue",
        "SELECT id FROM orders WHERE status = 'reserved' AND NOT EXISTS
            (SELECT 1 FROM pets WHERE pets.id = pet_id AND pets.status = 'pending')",
    ),
    (
        "order {} is completed and holds its animal, but the animal is not sold",
        "SELECT id FROM orders WHERE status = 'completed' AND holds = TRUE
            AND NOT EXISTS (SELECT 1 FROM pets WHERE pets.id = pet_id AND pets.status = 'sold')
            AND NOT EXISTS (SELECT 1 FROM withdrawn_pets AS pets
                WHERE pets.id = pet_id AND pets.status = 'sold')",
    ),
    (
        "order {} is for an animal that is not there",
        "SELECT id FROM orders WHERE NOT EXISTS (SELECT 1 FROM pets WHERE pets.id = pet_id)
            AND NOT EXISTS (SELECT 1 FROM withdrawn_pets AS pets WHERE pets.id = pet_id)",
    ),
    (
        "order {} has a status that its times or its animal contradict",
        "SELECT id FROM orders WHERE (status = 'reserved') <> (closed_at IS NULL) OR CASE status
            WHEN 'reserved' THEN NOT holds OR expires_at IS NULL
            WHEN 'completed' THEN FALSE ELSE holds END",
    ),
    (
        "animal {} is withdrawn, and also in the catalogue",
        "SELECT id FROM withdrawn_pets JOIN pets USING (id)",
    ),
    (
        "order {} has a contact, but is not there",
        "SELECT order_id FROM order_contacts
            WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id)",
    ),
    (
        "animal {} has an invalid version",
        "SELECT id FROM pets WHERE version < 1",
    ),
    (
        "withdrawn animal {} has an invalid version",
        "SELECT id FROM withdrawn_pets WHERE version < 1",
    ),
    (
        "order {} has an invalid version",
        "SELECT id FROM orders WHERE version < 1",
    ),
    (
        "category {} has an invalid version",
        "SELECT id FROM categories WHERE version < 1",
    ),
];

/// The number as which a time is stored.
type Unit = fn(Timestamp) -> i64;
const MILLISECONDS: Unit = Timestamp::as_millisecond;

/// What the rows of a table are, the table, the column that names a row, its times, and the unit
/// of these. What [`super::check`] reads as a whole is not here.
const TIMES: [(&str, &str, &str, &[&str], Unit); 8] = [
    (
        "change {}",
        "changes",
        "seq",
        &["latest_at", "at"],
        MILLISECONDS,
    ),
    ("act {}", "acts", "id", &["at"], MILLISECONDS),
    (
        "staff account {}",
        "staff",
        "id",
        &["created_at", "disabled_at", "link_until"],
        MILLISECONDS,
    ),
    (
        "a session of staff account {}",
        "staff_sessions",
        "staff_id",
        &["begun_at", "seen_at", "confirmed_at"],
        MILLISECONDS,
    ),
    (
        "webhook {}",
        "webhooks",
        "id",
        &[
            "created_at",
            "updated_at",
            "previous_secret_until",
            "failing_since",
        ],
        MILLISECONDS,
    ),
    (
        "a waiting message of webhook {}",
        "webhook_waiting",
        "webhook_id",
        &["due_at"],
        MILLISECONDS,
    ),
    (
        "an attempt of webhook {}",
        "webhook_attempts",
        "webhook_id",
        &["at"],
        MILLISECONDS,
    ),
    (
        "a remembered request of API key {}",
        "requests",
        "caller",
        &["created_at"],
        Timestamp::as_second,
    ),
];

/// Problems of values that no release writes, and the statements that find their rows: times that
/// cannot be read, and versions that are close to the end of their range. A copy of such a database is
/// complete, so only [`super::check`] reports them. `key_of_changes` is the
/// column that names a change.
pub fn impossible_values(key_of_changes: &str) -> impl Iterator<Item = (String, String)> + use<'_> {
    let times = TIMES
        .into_iter()
        .map(move |(what, table, id, columns, unit)| {
            let id = if table == "changes" {
                key_of_changes
            } else {
                id
            };
            let range = format!(
                "BETWEEN {} AND {}",
                unit(Timestamp::MIN),
                unit(Timestamp::MAX)
            );
            let conditions: Vec<_> = columns
                .iter()
                .map(|column| format!("{column} NOT {range}"))
                .collect();
            let find = format!("SELECT {id} FROM {table} WHERE {}", conditions.join(" OR "));
            (format!("{what} has an invalid time"), find)
        });
    let versions = [
        ("animal", "pets"),
        ("withdrawn animal", "withdrawn_pets"),
        ("order", "orders"),
        ("category", "categories"),
        ("webhook", "webhooks"),
        ("staff account", "staff"),
    ];
    let versions = versions.into_iter().map(|(what, table)| {
        (
            format!("{what} {{}} has a version above {HIGHEST_EXPECTED}"),
            format!("SELECT id FROM {table} WHERE version > {HIGHEST_EXPECTED}"),
        )
    });
    times.chain(versions)
}

/// The problem of a sequence of identifiers.
pub fn exhausted_ids_problem() -> String {
    format!("the last id of {{}} is above {HIGHEST_EXPECTED}")
}

/// The result of [`super::check`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    pub animals: u64,
    pub keys: u64,
    /// Facts that are worth knowing but no problems, one per line.
    pub notes: Vec<String>,
    /// All problems, one per line.
    pub problems: Vec<String>,
}

/// Compares the values of animals with the fields, and the unique ones with their table: by the sums of
/// hashes, so that this takes constant memory.
pub(super) struct ValueCheck {
    fields: FieldSet,
    expected: u64,
    present: u64,
    /// The sum of the hashes of the photos of animals, without those of their table.
    photos: u64,
    /// The same of the sets and words in the search, of animals that are merged.
    sets: u64,
    words: u64,
    /// Animals that are not merged: above the first identifier, up to the last one; and others.
    unmerged: (i64, i64),
    changed: RoaringTreemap,
}

impl ValueCheck {
    pub(super) fn with(fields: FieldSet) -> Self {
        Self {
            fields,
            expected: 0,
            present: 0,
            photos: 0,
            sets: 0,
            words: 0,
            unmerged: (0, 0),
            changed: RoaringTreemap::new(),
        }
    }

    /// The problem with the values of an animal, if there is one.
    pub(super) fn add_pet(&mut self, pet: &StorePet) -> Option<String> {
        for photo in pet.photos.all() {
            self.photos = self
                .photos
                .wrapping_add(hash_of(&(photo.id.to_string(), pet.id.get())));
        }
        if pet.withdrawn.is_none() {
            for key in self.fields.unique_keys(&pet.fields) {
                self.expected = self.expected.wrapping_add(hash(&key, pet.id.get()));
            }
        }
        if self.is_merged(pet.id.get()) {
            let (sets, words) = search_sets::entries(&self.fields, pet);
            for set in sets {
                self.sets = self.sets.wrapping_add(hash_of(&(set, pet.id.get())));
            }
            for word in words {
                self.words = self.words.wrapping_add(hash_of(&(pet.id.get(), &word[..])));
            }
        }
        let (FieldProblem::Unknown(problem) | FieldProblem::Invalid(problem)) =
            self.fields.problem_of(&pet.fields)?;
        Some(format!("animal {} has an invalid value: {problem}", pet.id))
    }

    /// A row of the table of unique values.
    pub(super) fn add_owner(&mut self, key: &UniqueKey, id: i64) {
        self.present = self.present.wrapping_add(hash(key, id));
    }

    fn is_merged(&self, id: i64) -> bool {
        let (from, until) = self.unmerged;
        (id <= from || id > until) && !self.changed.contains(id.unsigned_abs())
    }

    /// A row of [`UNMERGED`]. All of them come before the animals.
    pub(super) fn add_unmerged(&mut self, from: i64, until: i64) {
        if until - from == 1 {
            self.changed.insert(until.unsigned_abs());
        } else {
            self.unmerged = (from, until);
        }
    }

    /// A row of [`SETS`].
    pub(super) fn add_set<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let (block, set): (i64, i64) = (row.value(0)?, row.value(1)?);
        for low in search_sets::pets(row, 2)? {
            let id = (block << word_blocks::BLOCK_BITS) | i64::from(low);
            if self.is_merged(id) {
                self.sets = self.sets.wrapping_sub(hash_of(&(set, id)));
            }
        }
        Ok(())
    }

    /// A row of [`WORDS`].
    pub(super) fn add_words<R: Columns>(&mut self, row: &R) -> Result<(), R::Error> {
        let block: i64 = row.value(0)?;
        let mut words = self.words;
        word_blocks::each(row, 1, |word, lows| {
            for &low in lows {
                let id = (block << word_blocks::BLOCK_BITS) | i64::from(low);
                if self.is_merged(id) {
                    words = words.wrapping_sub(hash_of(&(id, word)));
                }
            }
        })?;
        self.words = words;
        Ok(())
    }

    /// A row of the table of photos.
    pub(super) fn add_photo(&mut self, photo: String, pet: i64) {
        self.photos = self.photos.wrapping_sub(hash_of(&(photo, pet)));
    }

    pub(super) fn disagreements(&self) -> impl Iterator<Item = String> {
        let tables = [
            ("unique_values", self.expected != self.present),
            ("photos", self.photos != 0),
            ("value_blocks", self.sets != 0),
            ("word_blocks", self.words != 0),
        ];
        let wrong = tables.into_iter().filter(|(_, is_wrong)| *is_wrong);
        wrong.map(|(table, _)| format!("{table} does not agree with the animals"))
    }
}

fn hash(key: &UniqueKey, id: i64) -> u64 {
    hash_of(&(key, id))
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hash = DefaultHasher::new();
    value.hash(&mut hash);
    hash.finish()
}

/// The values that no other animal in the catalogue has.
pub(super) const UNIQUE_VALUES: &str = "SELECT field, key, pet_id FROM unique_values";

/// Animals that have the value of a unique field together, which the migration kept.
pub(super) fn notes_of(owners: &[Owner]) -> impl Iterator<Item = String> {
    owners.chunk_by(|one, other| one.0 == other.0).map(|of| {
        let ids: Vec<_> = of.iter().map(|(_, id)| id.to_string()).collect();
        let field = of.first().map_or("", |((field, _), _)| field);
        format!(
            "animals {} have the same {field}, which is unique; change the value of all but one",
            ids.join(" and ")
        )
    })
}

/// The animals that are not merged into the search: above an identifier, and up to another one.
pub(super) const UNMERGED: &str = "SELECT merged, last FROM search_state
    UNION ALL SELECT pet_id - 1, pet_id FROM value_changes";
/// The sets of the search, and its words.
pub(super) const SETS: &str = "SELECT block, value, pets FROM value_blocks";
pub(super) const WORDS: &str = "SELECT block, words FROM word_blocks";

/// The photos of all animals.
pub(super) const PHOTOS: &str = "SELECT id, pet_id FROM photos";

/// Collects the problems of one kind: the first ones, and the number of the others.
pub(super) struct OneKind<'p> {
    problems: &'p mut Vec<String>,
    count: u64,
}

impl<'p> OneKind<'p> {
    pub(super) fn of(problems: &'p mut Vec<String>) -> Self {
        Self { problems, count: 0 }
    }

    pub(super) fn add(&mut self, problem: String) {
        self.count += 1;
        if self.count <= MAX_REPORTED {
            self.problems.push(problem);
        }
    }
}

impl Drop for OneKind<'_> {
    fn drop(&mut self) {
        if self.count > MAX_REPORTED {
            self.problems
                .push(format!("more of this kind: {}", self.count - MAX_REPORTED));
        }
    }
}
