//! The retention of backups: selects the backups to keep, and deletes the others with the photos
//! that only they needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    time::Duration,
};

use jiff::Timestamp;
use petstore_observe::log::error_chain;
use tracing::warn;

use super::{
    copies::Copies,
    names::{backup_name, photo_list_name},
    photo_list::read_photos_or_warn,
    storage::BackupStorage,
};

/// The number of newest backups that are kept, whatever their age. There are two, so that one is
/// left if the newest one is damaged.
const LEAST_BACKUPS: usize = 2;

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The backups of one day in UTC that one copy of the database made. The newest one is kept.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DayOfCopy {
    /// The number of the day since 1970.
    day: i64,
    /// The number of the copy, from [`Copies::copy_number_at`].
    copy_number: usize,
}

/// Selects the backups to keep:
///
/// - every backup within a day of `now`;
/// - the newest backup of each day in UTC, until it is older than `retention`. On a day on which
///   another copy of the database took over, the newest backup of each of the two copies is kept;
/// - the last two backups, and the last two that are not after `now`. If the clock was ahead for a
///   while, some backups have times in the future. They must not displace backups with true times.
pub fn select_kept_backups(
    backups: impl Iterator<Item = Timestamp>,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> BTreeSet<Timestamp> {
    let backups: BTreeSet<Timestamp> = backups.collect();
    let retention_seconds = i64::try_from(retention.as_secs()).unwrap_or(i64::MAX);

    let mut newest_of_days: BTreeMap<DayOfCopy, Timestamp> = BTreeMap::new();
    let mut kept_backups = BTreeSet::new();
    for &backup in &backups {
        let day_of_copy = DayOfCopy {
            day: backup.as_second().div_euclid(SECONDS_PER_DAY),
            copy_number: copies.copy_number_at(backup),
        };
        // The backups are in the order of their times, so a later one replaces an earlier one.
        newest_of_days.insert(day_of_copy, backup);
        if age_in_seconds(backup, now).abs() <= SECONDS_PER_DAY {
            kept_backups.insert(backup);
        }
    }
    for backup in newest_of_days.into_values() {
        if age_in_seconds(backup, now) <= retention_seconds {
            kept_backups.insert(backup);
        }
    }
    kept_backups.extend(backups.iter().rev().take(LEAST_BACKUPS));
    kept_backups.extend(backups.range(..=now).rev().take(LEAST_BACKUPS));
    kept_backups
}

/// Returns the age of a backup in seconds. It is negative if the time of the backup is after `now`.
fn age_in_seconds(backup: Timestamp, now: Timestamp) -> i64 {
    now.as_second() - backup.as_second()
}

/// Deletes the backups that are no longer kept, then the photos that only they needed, and then
/// their lists.
///
/// If the service has no permission to delete, as in a bucket that keeps everything, only logs a
/// warning, because the new backup is complete all the same.
pub(super) fn delete_old(
    storage: &BackupStorage,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> io::Result<()> {
    match try_delete_old(storage, now, retention, copies) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let cause = error_chain(&error);
            warn!(place = %storage, error = cause, "old backups stay, because nothing may be deleted there");
            Ok(())
        }
        result => result,
    }
}

/// Does the work of [`delete_old`]. Stops at the first file that cannot be deleted.
fn try_delete_old(
    storage: &BackupStorage,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> io::Result<()> {
    let files = storage.list_files()?;
    let backups_to_keep =
        select_kept_backups(files.backups.keys().copied(), now, retention, copies);
    for &backup in files.backups.keys() {
        if !backups_to_keep.contains(&backup) {
            storage.delete(&backup_name(backup))?;
        }
    }

    let orphaned_lists: Vec<Timestamp> = files
        .photo_lists
        .difference(&backups_to_keep)
        .copied()
        .collect();
    // A kept backup without its list may need any photo, so no photo can be deleted.
    let has_all_lists = backups_to_keep.is_subset(&files.photo_lists);
    if orphaned_lists.is_empty() || !has_all_lists {
        return Ok(());
    }
    delete_photos_and_lists(storage, &orphaned_lists, &backups_to_keep)
}

/// Deletes the photos that only deleted backups needed, then the `orphaned_lists` of the deleted
/// backups. Each list is given by its time, which is the time of its backup. Deletes nothing while
/// the list of a kept backup is damaged, because that backup may need any photo.
fn delete_photos_and_lists(
    storage: &BackupStorage,
    orphaned_lists: &[Timestamp],
    kept_backups: &BTreeSet<Timestamp>,
) -> io::Result<()> {
    let mut needed_photos = BTreeSet::new();
    for &backup in kept_backups {
        let consequence = "no photo of a former backup is deleted until its backup is not kept any more; \
                           if you do not need this backup, delete it";
        let Some(photos) = read_photos_or_warn(storage, backup, consequence)? else {
            return Ok(());
        };
        needed_photos.extend(photos);
    }

    let mut unneeded_photos = BTreeSet::new();
    for &list in orphaned_lists {
        let consequence = "the photos that only this former backup needed stay in the place";
        let photos = read_photos_or_warn(storage, list, consequence)?.unwrap_or_default();
        unneeded_photos.extend(photos);
    }
    unneeded_photos.retain(|id| !needed_photos.contains(id));

    for id in unneeded_photos {
        storage.block_on(storage.photos.delete(id))?;
    }
    for &list in orphaned_lists {
        storage.delete(&photo_list_name(list))?;
    }
    Ok(())
}
