//! Which backups are kept, how they are called, and those that take too long.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use jiff::{Timestamp, ToSpan};
use petstore::backups::{
    BackupOutcome, BackupStorage, Backups, Copies, StoredFiles, backup_name, backup_time,
    select_kept_backups,
};
use petstore_domain::Clock;
use petstore_observe::metrics::BackupMetrics;
use petstore_photos::Photos;
use petstore_store::OpenMode;
use petstore_store_sqlite::SqliteStore;
use petstore_testing::clock::ManualClock;
use proptest::{collection::btree_set, prelude::*};
use rand::{SeedableRng, rngs::StdRng};
use tempfile::TempDir;

const DAY: i64 = 86_400;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn second(number: i64) -> Timestamp {
    Timestamp::from_second(number).unwrap()
}

#[test]
fn only_a_name_of_exactly_the_form_is_one_and_it_says_the_time_in_utc() {
    let time = at("2026-11-26T04:00:00Z");
    assert_eq!(backup_name(time), "petstore-20261126T040000Z.db.gz");
    assert_eq!(backup_time("petstore-20261126T040000Z.db.gz"), Some(time));
    for other in [
        "petstore-20261126T040000Z.db",
        "petstore-20261126T040000Z.db.gz.part",
        "petstore-20261126T040000.db.gz",
        "petstore-20261126t040000z.db.gz",
        "petstore-2026112T040000Z.db.gz",
        "petstore-20261126T240000Z.db.gz",
        "petstore-20261126T040060Z.db.gz",
        "petstore-20260229T040000Z.db.gz",
        "petstore-+0261126T040000Z.db.gz",
        "petstore- 0261126T040000Z.db.gz",
        "petstore-120261126T040000Z.db.gz",
        " petstore-20261126T040000Z.db.gz",
        "petstore-20261126T040000Z.photos",
        ".petstore-20261126T040000Z.db.gz",
        "petstore-.db.gz",
        "",
    ] {
        assert_eq!(backup_time(other), None, "{other}");
    }
}

#[test]
fn all_of_the_last_day_are_kept_then_the_newest_of_each_day() {
    let now = at("2026-11-26T12:00:00Z");
    // One each six hours for 20 days.
    let all: Vec<Timestamp> = (0..80).map(|count| now - (6 * count).hours()).collect();
    let kept = select_kept_backups(
        all.iter().copied(),
        now,
        Duration::from_hours(14 * 24),
        &Copies::default(),
    );
    let mut expected: BTreeSet<Timestamp> = all[..=4].iter().copied().collect();
    expected.extend((12..=25).map(|day| at(&format!("2026-11-{day:02}T18:00:00Z"))));
    assert_eq!(kept, expected);
}

#[test]
fn a_clock_that_was_ahead_does_not_hide_what_was_made_since() {
    let now = at("2026-11-26T12:00:00Z");
    let ahead = [at("2030-01-01T00:00:00Z"), at("2031-01-01T00:00:00Z")];
    let before = [at("2026-06-01T00:00:00Z"), at("2026-06-02T00:00:00Z")];
    let mut files = StoredFiles::default();
    for at in ahead.into_iter().chain(before) {
        files.add(&backup_name(at), 1);
    }
    assert_eq!(files.newest_backup(now), Some(before[1]));
    assert_eq!(
        files.newest_backup(at("2020-01-01T00:00:00Z")),
        Some(ahead[1])
    );
    let kept = select_kept_backups(
        files.backups.into_keys(),
        now,
        Duration::from_hours(24),
        &Copies::default(),
    );
    assert_eq!(kept.len(), 4, "the last two of each: {kept:?}");
}

#[tokio::test]
async fn a_backup_that_hangs_is_given_up_and_counted_and_no_other_begins_until_it_ends() {
    let here = tempfile::tempdir().unwrap();
    let database = here.path().join("petstore.db");
    drop(SqliteStore::open(&database, OpenMode::CreateAndMigrate).unwrap());
    let (ends, end) = mpsc::channel::<()>();
    let (end, place, at) = (Mutex::new(end), here.path().join("place"), database.clone());
    let (metrics, clock) = (
        Arc::new(BackupMetrics::default()),
        ManualClock::at("2026-11-26T04:00:00Z"),
    );
    let backups = Arc::new(Backups {
        open_storage: Box::new(move || {
            let _ = end.lock().unwrap().recv();
            BackupStorage::from_folder(place.clone(), &at)
        }),
        database,
        photos: Arc::new(Photos::new(
            None,
            0,
            Arc::clone(&clock) as _,
            StdRng::seed_from_u64(1),
        )),
        retention: Duration::from_hours(24),
        time_limit: Duration::from_secs(1),
        clock,
        database_mark: "mark".to_owned(),
        copy_id: "copy".to_owned(),
        metrics: Arc::clone(&metrics),
        state: Mutex::default(),
    });
    let error = backups.make(None, Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "it took longer than 1s");
    assert_eq!(metrics.failures.get(), 1);
    let error = backups.make(None, Duration::ZERO).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the backup before this one has not ended yet"
    );
    assert_eq!(metrics.failures.get(), 2);
    drop(ends);
    while backups.make(None, Duration::ZERO).await.is_err() {}
    assert!(
        here.path()
            .join("place/petstore-20261126T040000Z.db.gz")
            .exists()
    );
}

/// The backups of one copy of a database, in a place next to it.
fn backups_of_copy(database: &Path, copy: &str, clock: &Arc<ManualClock>) -> Arc<Backups> {
    let (at, place) = (database.to_owned(), database.with_file_name("place"));
    let photos = Photos::new(None, 0, Arc::clone(clock) as _, StdRng::seed_from_u64(1));
    Arc::new(Backups {
        open_storage: Box::new(move || BackupStorage::from_folder(place.clone(), &at)),
        database: database.to_owned(),
        photos: Arc::new(photos),
        retention: Duration::from_hours(14 * 24),
        time_limit: Duration::from_mins(1),
        clock: Arc::clone(clock) as _,
        database_mark: "mark".to_owned(),
        copy_id: copy.to_owned(),
        metrics: Arc::default(),
        state: Mutex::default(),
    })
}

/// A database, and a clock.
fn shop() -> (TempDir, PathBuf, Arc<ManualClock>) {
    let here = tempfile::tempdir().unwrap();
    let database = here.path().join("petstore.db");
    drop(SqliteStore::open(&database, OpenMode::CreateAndMigrate).unwrap());
    (here, database, ManualClock::at("2026-11-26T04:00:00Z"))
}

fn made(database: &Path) -> Vec<String> {
    let entries = fs::read_dir(database.with_file_name("place")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| backup_time(name).is_some()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_service_that_starts_again_and_again_makes_a_backup_only_when_the_newest_is_old_enough() {
    let (_here, database, clock) = shop();
    let day = Duration::from_hours(24);
    let start = async || {
        backups_of_copy(&database, "copy", &clock)
            .make(None, day)
            .await
            .unwrap()
    };
    assert_eq!(start().await, BackupOutcome::Made);
    for hour in 1..24 {
        clock.advance(Duration::from_hours(1));
        let wait = Duration::from_hours(24 - hour);
        assert_eq!(start().await, BackupOutcome::NotDue { wait });
    }
    assert_eq!(made(&database).len(), 1);
    clock.advance(Duration::from_hours(1));
    assert_eq!(start().await, BackupOutcome::Made);
    assert_eq!(made(&database).len(), 2);
}

#[tokio::test]
async fn a_service_that_finds_the_backups_of_another_one_is_refused_at_every_turn() {
    let (_here, database, clock) = shop();
    let backups = backups_of_copy(&database, "copy", &clock);
    backups.make(None, Duration::ZERO).await.unwrap();
    fs::write(
        database
            .with_file_name("place")
            .join(backup_name(at("2026-11-26T03:00:00Z"))),
        "",
    )
    .unwrap();
    for _ in 0..3 {
        clock.advance(Duration::from_hours(1));
        let error = backups
            .make(Some(clock.now()), Duration::ZERO)
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("petstore-20261126T030000Z.db.gz is not of this one")
        );
    }
}

#[tokio::test]
async fn a_restored_copy_takes_the_place_over_and_nothing_of_the_one_before_is_deleted_for_it() {
    let (_here, database, clock) = shop();
    let make = async |copy: &str| {
        let backups = backups_of_copy(&database, copy, &clock);
        backups.make(Some(clock.now()), Duration::ZERO).await
    };
    make("first").await.unwrap();
    let of_first = made(&database);
    clock.advance(Duration::from_hours(1));
    // It has no young backup of its own.
    let restored = backups_of_copy(&database, "restored", &clock);
    assert_eq!(
        restored.make(None, Duration::from_hours(24)).await.unwrap(),
        BackupOutcome::Made
    );
    drop(restored);
    // At every turn, after each start.
    for _ in 0..3 {
        let error = make("first").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        assert!(
            error
                .to_string()
                .contains("delete petstore-backups.copies there if"),
            "{error}"
        );
    }
    for _ in 0..5 {
        clock.advance(Duration::from_hours(24));
        make("restored").await.unwrap();
    }
    assert!(of_first.iter().all(|name| made(&database).contains(name)));
    clock.advance(Duration::from_hours(15 * 24));
    make("restored").await.unwrap();
    assert!(of_first.iter().all(|name| !made(&database).contains(name)));
}

proptest! {
    #[test]
    fn what_is_kept_is_what_the_rules_say_whatever_the_clock_says(
        times in btree_set(0..60 * DAY, 0..80),
        now in -10 * DAY..90 * DAY,
        days in 1..30_i64,
    ) {
        let all: BTreeSet<Timestamp> = times.iter().map(|&time| second(time)).collect();
        let keep = Duration::from_secs(u64::try_from(days * DAY).unwrap());
        let found = select_kept_backups(all.iter().copied(), second(now), keep, &Copies::default());
        prop_assert!(found.is_subset(&all));
        let last: Vec<i64> = times.iter().rev().take(2).copied().collect();
        let until_now: Vec<i64> = times.range(..=now).rev().take(2).copied().collect();
        for &time in &times {
            let is_last_of_day = times.range(time + 1..(time / DAY + 1) * DAY).next().is_none();
            let expected = (now - time).abs() <= DAY
                || is_last_of_day && now - time <= days * DAY
                || last.contains(&time)
                || until_now.contains(&time);
            prop_assert_eq!(found.contains(&second(time)), expected, "{}", time);
        }
        // Again, after a moment in which nothing was made, nothing more goes.
        let again = select_kept_backups(found.iter().copied(), second(now), keep, &Copies::default());
        prop_assert_eq!(again, found);
    }

    #[test]
    fn no_name_is_used_twice_whatever_the_clock_says(jumps in proptest::collection::vec(-5..5_i64, 1..40)) {
        let (mut files, mut now) = (StoredFiles::default(), 1_000_000);
        for jump in jumps {
            now += jump;
            let time = files.find_free_time(second(now)).unwrap();
            prop_assert!(time >= second(now));
            prop_assert!(!files.backups.contains_key(&time));
            files.add(&backup_name(time), 1);
            prop_assert_eq!(files.backups.get(&time), Some(&1));
        }
    }
}
