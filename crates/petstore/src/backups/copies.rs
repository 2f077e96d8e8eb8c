//! The copies of a database that have made backups in a storage, one after the other.
//!
//! A restored database is another copy than the database from which the backup was made. If two
//! copies are in use at the same time, they must not delete each other's backups.

use std::fmt::Write;

use jiff::Timestamp;

/// The name of the file that lists the copies.
pub(super) const COPIES_FILE: &str = "petstore-backups.copies";

/// The maximum number of copies in the file. The oldest copies are dropped, so that restores do not
/// make the file grow without end.
const MAX_COPIES: usize = 64;

/// A copy of the database, as a line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedCopy {
    /// The time of its first backup in the storage.
    since: Timestamp,
    id: String,
}

/// The copies that have made backups in a storage, in the order of their first backups. The last
/// one is the current copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copies {
    list: Vec<ListedCopy>,
}

impl Copies {
    /// Parses the content of the file, which has a line such as `2026-11-26T04:00:00Z 0f1e` for
    /// each copy. Ignores invalid lines.
    pub(super) fn parse(text: &str) -> Self {
        Self {
            list: text.lines().filter_map(ListedCopy::parse).collect(),
        }
    }

    /// Returns the content of the file.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for copy in &self.list {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {}", copy.since, copy.id);
        }
        text
    }

    /// Whether no copy has made backups in the storage.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the copy with this id has made backups in the storage.
    pub(super) fn has(&self, id: &str) -> bool {
        self.list.iter().any(|copy| copy.id == id)
    }

    /// Whether the copy with this id is the current one.
    pub(super) fn is_current(&self, id: &str) -> bool {
        self.list.last().is_some_and(|copy| copy.id == id)
    }

    /// Adds a copy, which becomes the current one. Drops the oldest copies beyond the maximum. The
    /// backups of the copy begin in the second of `now`, because the names of backups have whole
    /// seconds.
    pub fn add(&mut self, id: &str, now: Timestamp) {
        // The second of a valid time is always valid.
        let since = Timestamp::from_second(now.as_second()).unwrap_or(now);
        self.list.push(ListedCopy {
            since,
            id: id.to_owned(),
        });
        let surplus = self.list.len().saturating_sub(MAX_COPIES);
        self.list.drain(..surplus);
    }

    /// Returns the time at which the backups of the current copy begin. Returns `None` if the list
    /// is empty.
    pub(super) fn current_since(&self) -> Option<Timestamp> {
        self.list.last().map(|copy| copy.since)
    }

    /// Returns the number, from 1, of the copy that made the backup with this time. Returns 0 if
    /// the backup is older than all copies.
    pub(super) fn copy_number_at(&self, backup: Timestamp) -> usize {
        self.list.iter().filter(|copy| copy.since <= backup).count()
    }
}

impl ListedCopy {
    /// Parses a line such as `2026-11-26T04:00:00Z 0f1e`.
    fn parse(line: &str) -> Option<Self> {
        let (since, id) = line.split_once(' ')?;
        Some(Self {
            since: since.parse().ok()?,
            id: id.to_owned(),
        })
    }
}
