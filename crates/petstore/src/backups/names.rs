//! The names of backups, which say their times, and which backups are kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

use super::copies::Copies;

/// Only files whose names have exactly these forms are the service's own.
const TIME: &str = "petstore-%Y%m%dT%H%M%SZ";
const BACKUP: &str = ".db.gz";
const LIST: &str = ".photos";

/// However old they are, so many are kept.
const LEAST: usize = 2;

const DAY: i64 = 24 * 60 * 60;

/// The files of a place that are the service's own, by their times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Each with its length in bytes.
    pub backups: BTreeMap<Timestamp, u64>,
    /// Each says how many animals a backup has, and which photos.
    pub lists: BTreeSet<Timestamp>,
}

impl Own {
    /// Notes a file with this name and length, if it is one.
    pub fn note(&mut self, name: &str, length: u64) {
        if let Some(at) = time_of(name) {
            self.backups.insert(at, length);
        } else if let Some(at) = name.strip_suffix(LIST).and_then(parse) {
            self.lists.insert(at);
        }
    }

    /// Returns the newest backup that a clock which shows `now` can have made, or else the newest.
    pub fn newest(&self, now: Timestamp) -> Option<Timestamp> {
        let made = self.backups.range(..=now).next_back();
        made.or(self.backups.last_key_value()).map(|(at, _)| *at)
    }

    /// Returns the first second from `now` on that no file has in its name.
    pub fn free(&self, now: Timestamp) -> Option<Timestamp> {
        let is_free = |at: &Timestamp| !self.backups.contains_key(at) && !self.lists.contains(at);
        (now.as_second()..)
            .map_while(|at| Timestamp::from_second(at).ok())
            .find(is_free)
    }
}

/// Returns the name of the backup of this second.
pub fn name(at: Timestamp) -> String {
    at.strftime(TIME).to_string() + BACKUP
}

/// Returns the name of the list of its photos.
pub(super) fn list_name(at: Timestamp) -> String {
    at.strftime(TIME).to_string() + LIST
}

/// Returns the time of the backup with this name; `None` if no backup has such a name.
pub fn time_of(name: &str) -> Option<Timestamp> {
    parse(name.strip_suffix(BACKUP)?)
}

fn parse(text: &str) -> Option<Timestamp> {
    let at = TimeZone::UTC
        .to_timestamp(DateTime::strptime(TIME, text).ok()?)
        .ok()?;
    (at.strftime(TIME).to_string() == text).then_some(at)
}

/// Which backups are kept: all within a day of `now`, the newest of each day in UTC until they are
/// older than `keep`, and the last two. On a day on which another copy of the database began, each of the two
/// copies has a newest backup. The clock may have been ahead when some were made: those do not
/// count as the last ones of what was made until `now`.
pub fn kept(
    backups: impl Iterator<Item = Timestamp>,
    now: Timestamp,
    keep: Duration,
    copies: &Copies,
) -> BTreeSet<Timestamp> {
    let all: BTreeSet<Timestamp> = backups.collect();
    let day = |at: &Timestamp| (at.as_second().div_euclid(DAY), copies.number_at(*at));
    let days: BTreeMap<(i64, usize), Timestamp> = all.iter().map(|at| (day(at), *at)).collect();
    let keep = i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
    let age = |at: &Timestamp| now.as_second() - at.as_second();
    let recent = all.iter().copied().filter(|at| age(at).abs() <= DAY);
    let daily = days.into_values().filter(|at| age(at) <= keep);
    let last = all
        .iter()
        .rev()
        .take(LEAST)
        .chain(all.range(..=now).rev().take(LEAST))
        .copied();
    recent.chain(daily).chain(last).collect()
}
