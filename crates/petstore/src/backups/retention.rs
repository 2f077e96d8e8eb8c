//! The retention of backups: the choice of the backups to keep, and the deletion of the others and of their photos.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    time::Duration,
};

use jiff::Timestamp;
use petstore_observe::log::chain;
use tracing::warn;

use super::{
    copies::Copies,
    names::{backup_name, photo_list_name},
    photo_list::read_photos_or_warn,
    storage::BackupStorage,
};

/// The number of newest backups that are kept however old they are.
const LEAST_BACKUPS: usize = 2;

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Returns the backups that are kept:
///
/// - all that were made within a day of `now`;
/// - the newest of each day in UTC, until it is older than `retention`. On a day on which another copy of the
///   database began, each of the two copies has a newest backup;
/// - the last two, and the last two until `now`. The clock may have been ahead when some were made, and a backup
///   with a time in the future must not take the place of one with a true time.
pub fn kept_backups(
    backups: impl Iterator<Item = Timestamp>,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> BTreeSet<Timestamp> {
    let backups: BTreeSet<Timestamp> = backups.collect();
    let retention_seconds = i64::try_from(retention.as_secs()).unwrap_or(i64::MAX);

    // A later backup of the same day and copy replaces an earlier one in the map.
    let mut newest_of_days: BTreeMap<(i64, usize), Timestamp> = BTreeMap::new();
    let mut kept_backups = BTreeSet::new();
    for &backup in &backups {
        let day = backup.as_second().div_euclid(SECONDS_PER_DAY);
        newest_of_days.insert((day, copies.number_at(backup)), backup);
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

/// Returns the age of a backup, which is negative if its time is after `now`.
fn age_in_seconds(backup: Timestamp, now: Timestamp) -> i64 {
    now.as_second() - backup.as_second()
}

/// Deletes the backups that are not kept any more, then the photos that only these needed. Where nothing may be deleted,
/// such as in a bucket that keeps everything, the log says so: the new backup is complete all the same.
pub(super) fn delete_old(
    storage: &BackupStorage,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> io::Result<()> {
    match delete_unkept(storage, now, retention, copies) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let cause = chain(&error);
            warn!(place = %storage, error = cause, "old backups stay, because nothing may be deleted there");
            Ok(())
        }
        result => result,
    }
}

/// Deletes what is not kept, up to the first file that cannot be deleted.
fn delete_unkept(
    storage: &BackupStorage,
    now: Timestamp,
    retention: Duration,
    copies: &Copies,
) -> io::Result<()> {
    let files = storage.list_files()?;
    let backups_to_keep = kept_backups(files.backups.keys().copied(), now, retention, copies);
    for &backup in files.backups.keys() {
        if !backups_to_keep.contains(&backup) {
            storage.delete(&backup_name(backup))?;
        }
    }

    let former_lists: Vec<Timestamp> = files
        .photo_lists
        .difference(&backups_to_keep)
        .copied()
        .collect();
    // A backup without its list may need every photo.
    let has_all_lists = backups_to_keep.is_subset(&files.photo_lists);
    if former_lists.is_empty() || !has_all_lists {
        return Ok(());
    }
    delete_photos(storage, &former_lists, &backups_to_keep)
}

/// Deletes the photos that only former backups needed, then the lists of the former backups. Deletes nothing while
/// the list of a kept backup is damaged, because that backup may need every photo.
fn delete_photos(
    storage: &BackupStorage,
    former_lists: &[Timestamp],
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
    for &list in former_lists {
        let consequence = "the photos that only this former backup needed stay in the place";
        let photos = read_photos_or_warn(storage, list, consequence)?.unwrap_or_default();
        unneeded_photos.extend(photos);
    }
    unneeded_photos.retain(|id| !needed_photos.contains(id));

    for id in unneeded_photos {
        storage.block_on(storage.photos.delete(id))?;
    }
    for &list in former_lists {
        storage.delete(&photo_list_name(list))?;
    }
    Ok(())
}
