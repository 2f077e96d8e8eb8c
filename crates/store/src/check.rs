//! The consistency rules of a database, and the report of a check (`petstore check`).

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::collections::{HashMap, hash_map::Entry};

use jiff::Timestamp;
use petstore_domain::{
    pet::HIGHEST_EXPECTED,
    store_area::{Category, Choices, FieldSet, UniqueValueOwner},
    text::comparison_key,
};

use super::bulk::CHANGES;

/// The maximum number of distinct category labels that a check compares. It limits the memory of
/// the check.
const MAX_COMPARED_LABELS: usize = 10_000;

/// The maximum number of problems of one kind that are reported individually.
const MAX_REPORTED: u64 = 20;

/// A check for faulty rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCheck<T> {
    /// The problem to report for each faulty row. The first column of the row replaces the `{}`.
    pub problem: T,
    /// The statement that selects the faulty rows, in SQLite and PostgreSQL.
    pub statement: T,
}

/// The checks for contradictions between tables.
pub const DISAGREEMENTS: [RowCheck<&str>; 11] = [
    RowCheck {
        problem: "order {} is reserved, but its animal is not pending in the catalogue",
        statement: "SELECT id FROM orders WHERE status = 'reserved' AND NOT EXISTS
            (SELECT 1 FROM pets WHERE pets.id = pet_id AND pets.status = 'pending')",
    },
    RowCheck {
        problem: "order {} is completed and holds its animal, but the animal is not sold",
        statement: "SELECT id FROM orders WHERE status = 'completed' AND holds = TRUE
            AND NOT EXISTS (SELECT 1 FROM pets WHERE pets.id = pet_id AND pets.status = 'sold')
            AND NOT EXISTS (SELECT 1 FROM withdrawn_pets AS pets
                WHERE pets.id = pet_id AND pets.status = 'sold')",
    },
    RowCheck {
        problem: "order {} is for an animal that is not there",
        statement: "SELECT id FROM orders
            WHERE NOT EXISTS (SELECT 1 FROM pets WHERE pets.id = pet_id)
            AND NOT EXISTS (SELECT 1 FROM withdrawn_pets AS pets WHERE pets.id = pet_id)",
    },
    RowCheck {
        problem: "order {} has a status that its times or its animal contradict",
        statement: "SELECT id FROM orders
            WHERE (status = 'reserved') <> (closed_at IS NULL) OR CASE status
            WHEN 'reserved' THEN NOT holds OR expires_at IS NULL
            WHEN 'completed' THEN FALSE ELSE holds END",
    },
    RowCheck {
        problem: "animal {} is withdrawn, and also in the catalogue",
        statement: "SELECT id FROM withdrawn_pets JOIN pets USING (id)",
    },
    RowCheck {
        problem: "order {} has a contact, but is not there",
        statement: "SELECT order_id FROM order_contacts
            WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id)",
    },
    RowCheck {
        problem: "note {} is on an animal that is not there",
        statement: "SELECT id FROM notes
            WHERE NOT EXISTS (SELECT 1 FROM pets WHERE pets.id = pet_id)
            AND NOT EXISTS (SELECT 1 FROM withdrawn_pets AS pets WHERE pets.id = pet_id)",
    },
    RowCheck {
        problem: "animal {} has an invalid version",
        statement: "SELECT id FROM pets WHERE version < 1",
    },
    RowCheck {
        problem: "withdrawn animal {} has an invalid version",
        statement: "SELECT id FROM withdrawn_pets WHERE version < 1",
    },
    RowCheck {
        problem: "order {} has an invalid version",
        statement: "SELECT id FROM orders WHERE version < 1",
    },
    RowCheck {
        problem: "category {} has an invalid version",
        statement: "SELECT id FROM categories WHERE version < 1",
    },
];

/// The columns of a table that store times.
struct TimeColumns {
    /// The description of a row in the problem. The identifier replaces the `{}`.
    row: &'static str,
    table: &'static str,
    /// The column that identifies a row.
    id: &'static str,
    columns: &'static [&'static str],
    /// Converts a time to the number that the columns store: milliseconds or seconds.
    stored_number: fn(Timestamp) -> i64,
}

/// The time columns of the tables that [`super::check_rows::check_values`] does not read.
const TIMES: [TimeColumns; 8] = [
    TimeColumns {
        row: "change {}",
        table: CHANGES,
        id: "seq",
        columns: &["latest_at", "at"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "act {}",
        table: "acts",
        id: "id",
        columns: &["at"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "staff account {}",
        table: "staff",
        id: "id",
        columns: &["created_at", "disabled_at", "link_until"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "a session of staff account {}",
        table: "staff_sessions",
        id: "staff_id",
        columns: &["begun_at", "seen_at", "confirmed_at"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "webhook {}",
        table: "webhooks",
        id: "id",
        columns: &[
            "created_at",
            "updated_at",
            "previous_secret_until",
            "failing_since",
        ],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "a waiting message of webhook {}",
        table: "webhook_waiting",
        id: "webhook_id",
        columns: &["due_at"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "an attempt of webhook {}",
        table: "webhook_attempts",
        id: "webhook_id",
        columns: &["at"],
        stored_number: Timestamp::as_millisecond,
    },
    TimeColumns {
        row: "a remembered request of API key {}",
        table: "requests",
        id: "caller",
        columns: &["created_at"],
        stored_number: Timestamp::as_second,
    },
];

/// A table whose rows have a version.
struct VersionedTable {
    name: &'static str,
    /// The noun for a row in the problem.
    row: &'static str,
}

const VERSIONED_TABLES: [VersionedTable; 6] = [
    VersionedTable {
        name: "pets",
        row: "animal",
    },
    VersionedTable {
        name: "withdrawn_pets",
        row: "withdrawn animal",
    },
    VersionedTable {
        name: "orders",
        row: "order",
    },
    VersionedTable {
        name: "categories",
        row: "category",
    },
    VersionedTable {
        name: "webhooks",
        row: "webhook",
    },
    VersionedTable {
        name: "staff",
        row: "staff account",
    },
];

/// Returns the checks for values that no release writes: times outside the range of [`Timestamp`],
/// and versions near the end of their range.
///
/// Such values do not prevent a complete copy of the database, so only `petstore check` reports
/// them. `key_of_changes` is the column that identifies a change, which differs between the stores.
pub fn impossible_values(key_of_changes: &str) -> Vec<RowCheck<String>> {
    let mut checks = Vec::with_capacity(TIMES.len() + VERSIONED_TABLES.len());
    for times in &TIMES {
        checks.push(check_of_times(times, key_of_changes));
    }
    for VersionedTable { name, row } in &VERSIONED_TABLES {
        checks.push(RowCheck {
            problem: format!("{row} {{}} has a version above {HIGHEST_EXPECTED}"),
            statement: format!("SELECT id FROM {name} WHERE version > {HIGHEST_EXPECTED}"),
        });
    }
    checks
}

/// Returns the check for the times of a table that are outside the range of [`Timestamp`].
fn check_of_times(times: &TimeColumns, key_of_changes: &str) -> RowCheck<String> {
    let TimeColumns {
        row,
        table,
        id,
        columns,
        stored_number,
    } = times;
    let id = if *table == CHANGES {
        key_of_changes
    } else {
        id
    };
    let first = stored_number(Timestamp::MIN);
    let last = stored_number(Timestamp::MAX);
    let conditions: Vec<_> = columns
        .iter()
        .map(|column| format!("{column} NOT BETWEEN {first} AND {last}"))
        .collect();
    RowCheck {
        problem: format!("{row} has an invalid time"),
        statement: format!("SELECT {id} FROM {table} WHERE {}", conditions.join(" OR ")),
    }
}

/// Returns the problem to report for a sequence of identifiers that is nearly exhausted. The name
/// of the sequence replaces the `{}`.
pub fn exhausted_ids_problem() -> String {
    format!("the last id of {{}} is above {HIGHEST_EXPECTED}")
}

/// The report of a check.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    pub animals: u64,
    pub keys: u64,
    /// Facts that an operator should know, although they are not problems, one per line.
    pub notes: Vec<String>,
    /// All problems, one per line.
    pub problems: Vec<String>,
}

/// Selects the unique values of the animals in the catalogue.
pub(super) const UNIQUE_VALUES: &str = "SELECT field, key, pet_id FROM unique_values";

/// Returns a note for each value of a unique field that several animals share. A migration kept
/// such duplicates. Owners of the same value must be adjacent in `owners`.
pub(super) fn notes_on_shared_values(owners: &[UniqueValueOwner]) -> Vec<String> {
    let mut notes = Vec::new();
    for owners_of_value in owners.chunk_by(|owner, next_owner| owner.key == next_owner.key) {
        let Some(first_owner) = owners_of_value.first() else {
            continue;
        };
        let ids: Vec<_> = owners_of_value
            .iter()
            .map(|owner| owner.pet.to_string())
            .collect();
        notes.push(format!(
            "animals {} have the same {}, which is unique; change the value of all but one",
            ids.join(" and "),
            first_owner.key.field
        ));
    }
    notes
}

/// Returns a note for each pair of equal choices of a field. Choices are compared by their values
/// and labels, regardless of upper and lower case. An earlier release accepted equal choices.
pub(super) fn notes_on_choices(fields: &FieldSet) -> Vec<String> {
    let mut notes = Vec::new();
    for field in fields.all() {
        for [text, duplicate] in field.choices.iter().flat_map(Choices::duplicates) {
            notes.push(format!(
                "the field {} has the choices {text:?} and {duplicate:?}, which are equal \
                 regardless of upper and lower case; rename or remove one",
                field.name.as_str()
            ));
        }
    }
    notes
}

/// Returns a note for each field whose label equals the label of an earlier field, regardless of
/// upper and lower case. An earlier release accepted such labels.
pub(super) fn notes_on_field_labels(fields: &FieldSet) -> Vec<String> {
    let mut names_by_label = HashMap::new();
    let mut notes = Vec::new();
    for field in fields.all() {
        let name = field.name.as_str();
        match names_by_label.entry(comparison_key(field.label.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert(name);
            }
            Entry::Occupied(entry) => notes.push(format!(
                "the fields {} and {name} have the same label {:?}, regardless of upper and lower \
                 case; rename one",
                entry.get(),
                field.label.as_str()
            )),
        }
    }
    notes
}

/// The labels of categories, to find labels that are equal regardless of upper and lower case.
#[derive(Default)]
pub(super) struct CategoryLabels {
    /// The first category with each label: at most [`MAX_COMPARED_LABELS`].
    ids: HashMap<String, i64>,
}

impl CategoryLabels {
    /// Adds a category. Returns a note if an earlier one has the same label. Ignores the category
    /// once there are [`MAX_COMPARED_LABELS`].
    pub(super) fn add(&mut self, category: &Category) -> Option<String> {
        if self.ids.len() >= MAX_COMPARED_LABELS {
            return None;
        }
        match self.ids.entry(comparison_key(category.label.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert(category.id);
                None
            }
            Entry::Occupied(entry) => Some(format!(
                "categories {} and {} have the same label {:?}, regardless of upper and lower \
                 case; rename one",
                entry.get(),
                category.id,
                category.label.as_str()
            )),
        }
    }
}

/// Selects the animals that are not merged into the search sets. Each row is a range of
/// identifiers: above the first column, and up to the second one. If another release has merged
/// animals, no animal counts as merged, because that release may have written other words.
pub(super) const UNMERGED: &str = "SELECT CASE own_merges WHEN merges THEN merged ELSE 0 END,
        CASE own_merges WHEN merges THEN last ELSE 9223372036854775807 END FROM search_state
    UNION ALL SELECT pet_id - 1, pet_id FROM value_changes";
/// Selects the sets of the search: the animals with each value, category and status.
pub(super) const SETS: &str = "SELECT block, value, pets FROM value_blocks";
/// Selects the words of the search: the animals with each word of a name or value.
pub(super) const WORDS: &str = "SELECT block, words FROM word_blocks";

/// Selects the photos of all animals.
pub(super) const PHOTOS: &str = "SELECT id, pet_id FROM photos";

/// A collector for the problems of one kind. It keeps the first [`MAX_REPORTED`] problems. When
/// dropped, it adds a line with the number of the others.
pub(super) struct ProblemGroup<'p> {
    problems: &'p mut Vec<String>,
    count: u64,
}

impl<'p> ProblemGroup<'p> {
    pub(super) fn new(problems: &'p mut Vec<String>) -> Self {
        Self { problems, count: 0 }
    }

    /// Adds a problem, or only counts it if there are enough.
    pub(super) fn add(&mut self, problem: String) {
        self.count += 1;
        if self.count <= MAX_REPORTED {
            self.problems.push(problem);
        }
    }
}

impl Drop for ProblemGroup<'_> {
    fn drop(&mut self) {
        if self.count > MAX_REPORTED {
            self.problems
                .push(format!("more of this kind: {}", self.count - MAX_REPORTED));
        }
    }
}
