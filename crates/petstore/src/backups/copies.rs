//! The copies of a database that have made backups in a storage, one after the other. A restored
//! database is another copy. If two copies are in use at the same time, they must not delete each other's
//! backups.

use std::fmt::Write;

use jiff::Timestamp;

/// The name of the file that lists the copies.
pub(super) const COPIES_FILE: &str = "petstore-backups.copies";

/// The maximum number of copies in the file. The oldest ones are dropped.
const MAX_COPIES: usize = 64;

/// A copy of the database, and the time of its first backup in the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Copy {
    since: Timestamp,
    id: String,
}

/// The copies that have made backups in a storage, in the order of their first backups. The last one is
/// the current copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copies(Vec<Copy>);

impl Copies {
    /// Parses the content of the file, which has a line such as `2026-11-26T04:00:00Z 0f1e` for each
    /// copy. Ignores invalid lines.
    pub(super) fn parse(text: &str) -> Self {
        let copies = text.lines().filter_map(|line| {
            let (since, id) = line.split_once(' ')?;
            Some(Copy {
                since: since.parse().ok()?,
                id: id.to_owned(),
            })
        });
        Self(copies.collect())
    }

    /// Returns the content of the file.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for copy in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {}", copy.since, copy.id);
        }
        text
    }

    /// Whether no copy has made backups in the storage.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the copy with this id has made backups in the storage.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|copy| copy.id == id)
    }

    /// Whether the copy with this id is the current one.
    pub(super) fn is_current(&self, id: &str) -> bool {
        self.0.last().is_some_and(|copy| copy.id == id)
    }

    /// Adds a copy, which becomes the current one. Its backups begin in the second of `now`, because the
    /// names of backups have whole seconds.
    pub fn add(&mut self, id: &str, now: Timestamp) {
        let since = Timestamp::from_second(now.as_second()).unwrap_or(now);
        self.0.push(Copy {
            since,
            id: id.to_owned(),
        });
        let surplus = self.0.len().saturating_sub(MAX_COPIES);
        self.0.drain(..surplus);
    }

    /// Returns the time at which the backups of the current copy begin.
    pub(super) fn current_since(&self) -> Option<Timestamp> {
        self.0.last().map(|copy| copy.since)
    }

    /// Returns the number, from 1, of the copy that made the backup with this time; 0 if the backup is
    /// older than all copies.
    pub(super) fn copy_number_at(&self, backup: Timestamp) -> usize {
        self.0.iter().filter(|copy| copy.since <= backup).count()
    }
}
