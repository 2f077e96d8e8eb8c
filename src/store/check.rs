//! Whether a database agrees with itself.

#![expect(missing_docs, reason = "a comment says what a name does not")]

/// How many problems of one kind are reported one by one.
const MAX_REPORTED: u64 = 20;

/// Problems, and the statements that find the rows that have them, in SQLite and PostgreSQL.
pub(super) const DISAGREEMENTS: [(&str, &str); 9] = [
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
    ("animal {} has an invalid version", "SELECT id FROM pets WHERE version < 1"),
    (
        "withdrawn animal {} has an invalid version",
        "SELECT id FROM withdrawn_pets WHERE version < 1",
    ),
    ("order {} has an invalid version", "SELECT id FROM orders WHERE version < 1"),
    ("category {} has an invalid version", "SELECT id FROM categories WHERE version < 1"),
];

/// The result of [`super::check`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Checkup {
    pub animals: u64,
    pub keys: u64,
    /// All problems, one per line.
    pub problems: Vec<String>,
}

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
            self.problems.push(format!("more of this kind: {}", self.count - MAX_REPORTED));
        }
    }
}
