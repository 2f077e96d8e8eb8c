//! The names of the files in a storage of backups. Each name contains the time of its backup.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// The beginning of every name, with the time in UTC. A file with any other name does not belong to
/// the service.
const TIME_FORMAT: &str = "petstore-%Y%m%dT%H%M%SZ";
/// The suffix of the name of a backup.
const BACKUP_SUFFIX: &str = ".db.gz";
/// The suffix of the name of a list of photos.
const PHOTO_LIST_SUFFIX: &str = ".photos";

/// The files in a storage that belong to the service, by the times in their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredFiles {
    /// The backups, each with its length in bytes.
    pub backups: BTreeMap<Timestamp, u64>,
    /// The lists of photos, each with the time of its backup.
    pub photo_lists: BTreeSet<Timestamp>,
}

impl StoredFiles {
    /// Adds the file with this name and length. Ignores a file that does not belong to the service.
    pub fn add(&mut self, name: &str, length: u64) {
        if let Some(time) = backup_time(name) {
            self.backups.insert(time, length);
        } else if let Some(time) = photo_list_time(name) {
            self.photo_lists.insert(time);
        }
    }

    /// Returns the newest backup that is not after `now`, or else the newest of all backups. A
    /// backup after `now` was made while the clock was ahead.
    pub fn newest_backup(&self, now: Timestamp) -> Option<Timestamp> {
        let newest_until_now = self.backups.range(..=now).next_back();
        let (&time, _) = newest_until_now.or(self.backups.last_key_value())?;
        Some(time)
    }

    /// Finds a time for the name of a new backup: the first second from `now` on that no file in
    /// the storage has in its name. Returns `None` if all seconds until the last [`Timestamp`] are
    /// taken.
    pub fn find_free_time(&self, now: Timestamp) -> Option<Timestamp> {
        let mut second = now.as_second();
        loop {
            let time = Timestamp::from_second(second).ok()?;
            if !self.backups.contains_key(&time) && !self.photo_lists.contains(&time) {
                return Some(time);
            }
            second += 1;
        }
    }
}

/// Returns the name of the backup with this time, such as `petstore-20261126T040000Z.db.gz`.
pub fn backup_name(time: Timestamp) -> String {
    time.strftime(TIME_FORMAT).to_string() + BACKUP_SUFFIX
}

/// Returns the name of the photo list that belongs to the backup with this time, such as
/// `petstore-20261126T040000Z.photos`.
pub(super) fn photo_list_name(time: Timestamp) -> String {
    time.strftime(TIME_FORMAT).to_string() + PHOTO_LIST_SUFFIX
}

/// Returns the time of the backup with this name. Returns `None` if it is not the name of a backup.
pub fn backup_time(name: &str) -> Option<Timestamp> {
    parse_time(name.strip_suffix(BACKUP_SUFFIX)?)
}

/// Returns the time of the photo list with this name. Returns `None` if it is not the name of a
/// photo list.
fn photo_list_time(name: &str) -> Option<Timestamp> {
    parse_time(name.strip_suffix(PHOTO_LIST_SUFFIX)?)
}

/// Parses the beginning of a name, such as `petstore-20261126T040000Z`. Accepts only the exact text
/// that [`TIME_FORMAT`] writes, because `strptime` also accepts other spellings of the same time.
fn parse_time(beginning: &str) -> Option<Timestamp> {
    let date_time = DateTime::strptime(TIME_FORMAT, beginning).ok()?;
    let time = TimeZone::UTC.to_timestamp(date_time).ok()?;
    if time.strftime(TIME_FORMAT).to_string() != beginning {
        return None;
    }
    Some(time)
}
