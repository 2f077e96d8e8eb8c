//! The report of a check (`petstore check`), and the statements that select faulty rows.

use jiff::Timestamp;
use petstore_domain::pet::HIGHEST_EXPECTED;

use super::bulk::CHANGES;

/// The maximum number of problems of one kind that are reported individually.
const MAX_REPORTED: u64 = 20;

/// The report of a check.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    /// The number of animals in the catalogue.
    pub animals: u64,
    /// The number of API keys, valid or not.
    pub keys: u64,
    /// Facts that an operator should know, although they are not problems, one per line.
    pub notes: Vec<String>,
    /// All problems, one per line.
    pub problems: Vec<String>,
}

/// A collector for the problems of one kind. It adds the first [`MAX_REPORTED`] problems to the
/// report. When dropped, it adds a line with the number of the others.
pub(super) struct ProblemGroup<'p> {
    problems: &'p mut Vec<String>,
    count: u64,
}

impl<'p> ProblemGroup<'p> {
    pub(super) fn new(problems: &'p mut Vec<String>) -> Self {
        Self { problems, count: 0 }
    }

    /// Adds a problem. Only counts it if there are already [`MAX_REPORTED`] problems.
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
/// them. `key_of_changes` is the column that identifies a change. It differs between the stores.
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
    let id_column = if *table == CHANGES {
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
        statement: format!(
            "SELECT {id_column} FROM {table} WHERE {}",
            conditions.join(" OR ")
        ),
    }
}

/// Returns the problem to report for a sequence of identifiers that is nearly exhausted. The name
/// of the sequence replaces the `{}`.
pub fn exhausted_ids_problem() -> String {
    format!("the last id of {{}} is above {HIGHEST_EXPECTED}")
}
