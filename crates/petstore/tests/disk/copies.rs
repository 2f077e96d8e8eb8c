//! `petstore backup` and `petstore restore` with disk faults and power cuts: the target is always a
//! complete database, the old one or the new one.
//!
//! Both access files without SQLite. So strace records what the program does, as the kernel sees
//! it, and also injects the faults.

use std::{fs, path::Path};

use petstore_store::OpenMode;
use petstore_store_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::recording::{Change, Files, Recording, files, traced};

const DATABASE: &str = "petstore.db";
const RESTORE: [&str; 3] = ["restore", "--force", "backup.db"];

/// The names of all animals and the references of all orders, if there is an undamaged database.
fn content(path: &Path) -> Option<Vec<String>> {
    let database = Connection::open(path).unwrap();
    let verdict = database.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    if verdict.ok()? != "ok" {
        return Some(vec!["damaged".to_owned()]);
    }
    let mut statement = database
        .prepare(
            "SELECT name FROM pets UNION ALL SELECT status || reference FROM orders ORDER BY 1",
        )
        .ok()?;
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    Some(names.map(Result::unwrap).collect())
}

fn folder() -> TempDir {
    TempDir::new_in("/dev/shm")
        .or_else(|_| TempDir::new())
        .unwrap()
}

fn write(folder: &Path, files: &Files) {
    for (name, content) in files {
        fs::write(folder.join(name), content).unwrap();
    }
}

/// A directory with these files.
fn folder_of(files: &Files) -> TempDir {
    let folder = folder();
    write(folder.path(), files);
    folder
}

/// The files of a killed service, with the last changes in its WAL, and a backup with other
/// animals.
fn killed_service() -> Files {
    let here = folder();
    let fill = |name: &str, animals: &str| {
        let path = here.path().join(name);
        drop(SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap());
        let database = Connection::open(path).unwrap();
        let insert = format!(
            "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 30)
             INSERT INTO pets (name, category_id, status)
             SELECT '{animals} ' || n || hex(zeroblob(300)), 1, 'sold' FROM n;
             INSERT INTO orders (pet_id, status, holds, reference, created_at, closed_at, version)
             SELECT id, 'completed', 1, '{animals} ' || id || hex(zeroblob(100)), 0, 0, 1 FROM pets"
        );
        database.execute_batch(&insert).unwrap();
        database
    };
    let backup = fill("backup.db", "new");
    backup
        .execute_batch("PRAGMA journal_mode = DELETE")
        .unwrap();
    drop(backup);
    let database = fill(DATABASE, "old");
    database
        .execute_batch(
            "PRAGMA wal_checkpoint(TRUNCATE); BEGIN; UPDATE pets SET name = 'in the log' WHERE id = 7;
             UPDATE orders SET status = 'returned', holds = 0 WHERE pet_id = 7; COMMIT",
        )
        .unwrap();
    let mut left = files(here.path());
    left.remove("petstore.db-shm");
    assert!(!left["petstore.db-wal"].is_empty());
    left
}

/// The same with a damaged first page, which SQLite needs to find all others, and which is not in
/// the WAL.
fn damaged() -> Files {
    let mut left = killed_service();
    left.get_mut(DATABASE).unwrap()[..4096].fill(0xAB);
    left
}

/// What a restore may leave in a directory that had these files.
struct Expected {
    before: Files,
    old: Option<Vec<String>>,
    new: Option<Vec<String>>,
}

impl Expected {
    fn of(before: Files, is_damaged: bool) -> Self {
        let here = folder_of(&before);
        let [old, new] = [DATABASE, "backup.db"].map(|name| content(&here.path().join(name)));
        assert!(new.is_some() && old != new && old.is_none() == is_damaged);
        Self { before, old, new }
    }

    /// Checks that there is a complete database: the new one or the old one, as required. A damaged
    /// database must still be there completely, under one of its names.
    fn check(&self, left: &Files, must_be_old: bool, must_be_new: bool) -> Result<(), &str> {
        let here = folder_of(left);
        let found = content(&here.path().join(DATABASE));
        let is_whole = |name: &str| {
            ["", "-wal"].iter().all(|end| {
                let now = left.get(&format!("{name}{end}"));
                now == self.before.get(&format!("{DATABASE}{end}"))
            })
        };
        let mut aside = left
            .keys()
            .filter(|name| name.starts_with("petstore.db.replaced-"));
        match () {
            () if !left.contains_key(DATABASE) => Err("there is none"),
            () if found != self.old && found != self.new => Err("it is neither"),
            () if must_be_new && found != self.new => Err("it is not the new one"),
            () if must_be_old && found != self.old => Err("it is not the old one"),
            () if self.old.is_some() => Ok(()),
            () if must_be_old && !is_whole(DATABASE) => Err("it is not as it was"),
            () if is_whole(DATABASE) || aside.any(|name| is_whole(name)) => Ok(()),
            () => Err("what was damaged is in pieces"),
        }
    }
}

/// Records a restore into a directory with these files.
fn restore_into(before: &Files) -> Recording {
    Recording::of(folder_of(before).path(), &[], &RESTORE)
}

/// How many of the power cuts during a restore do harm.
fn harm(recording: &Recording, expected: &Expected) -> usize {
    let mut harmed = 0;
    recording.each_power_cut(|left, has_ended| {
        harmed += usize::from(expected.check(left, false, has_ended).is_err());
    });
    harmed
}

#[test]
fn a_power_cut_during_a_restore_leaves_the_old_database_or_the_new_one() {
    for (before, is_damaged) in [(killed_service(), false), (damaged(), true)] {
        let recording = restore_into(&before);
        let expected = Expected::of(before, is_damaged);
        let cuts = recording.each_power_cut(|left, has_ended| {
            assert_eq!(
                expected.check(left, false, has_ended),
                Ok(()),
                "{:?}",
                left.keys()
            );
        });
        eprintln!(
            "{cuts} different ends of {} changes",
            recording.changes.len()
        );
        assert!(cuts > 50);
    }
}

/// The restore puts back the removed files, and only then removes their second names.
#[test]
fn a_power_cut_during_a_restore_that_finally_fails_leaves_the_old_database() {
    for (before, is_damaged) in [(killed_service(), false), (damaged(), true)] {
        let here = folder_of(&before);
        let fails = ["-e", "inject=?rename,?renameat,renameat2:error=EBUSY"];
        let recording = Recording::of(here.path(), &fails, &RESTORE);
        let expected = Expected::of(before, is_damaged);
        assert_eq!(expected.check(&files(here.path()), true, false), Ok(()));
        recording.each_power_cut(|left, _| {
            let now = expected.check(left, false, false);
            assert_eq!(now, Ok(()), "{:?}", left.keys());
            assert!(is_damaged || expected.check(left, true, false).is_ok());
        });
    }
}

#[test]
fn a_power_cut_during_a_backup_leaves_a_complete_backup_or_none() {
    let before = killed_service();
    let here = folder_of(&before);
    let recording = Recording::of(here.path(), &[], &["backup", "copy.db"]);
    let old = content(&folder_of(&before).path().join(DATABASE));
    let cuts = recording.each_power_cut(|left, has_ended| {
        let here = folder_of(left);
        assert_eq!(
            content(&here.path().join(DATABASE)),
            old,
            "the database itself"
        );
        let is_there = left.contains_key("copy.db");
        assert!(is_there || !has_ended, "it was said to be there");
        assert!(
            !is_there || content(&here.path().join("copy.db")) == old,
            "it is not whole"
        );
    });
    assert!(cuts > 20, "{cuts}");
}

/// The tests must detect each of these changes to what the program does.
#[test]
fn a_restore_without_a_sync_or_in_another_order_is_detected() {
    let is_sync = |change: &Change| *change == Change::SyncFolder;
    let is_rename = |change: &Change| matches!(change, Change::Rename { .. });
    for (before, is_damaged) in [(killed_service(), false), (damaged(), true)] {
        let recording = restore_into(&before);
        let expected = Expected::of(before, is_damaged);
        assert_eq!(harm(&recording, &expected), 0);
        let rename = recording.find(is_rename);
        let Change::Rename { file: copy, .. } = recording.changes[rename] else {
            unreachable!()
        };
        let is_sync_of_copy = |change: &Change| *change == Change::SyncFile { file: copy };
        let without = |which: &dyn Fn(usize, &Change) -> bool| {
            let mut less = recording.clone();
            let numbered = recording.changes.iter().enumerate();
            less.changes = numbered
                .filter(|(at, c)| !which(*at, c))
                .map(|(_, c)| c.clone())
                .collect();
            assert!(less.changes.len() < recording.changes.len());
            harm(&less, &expected)
        };
        assert!(
            without(&|_, change| is_sync_of_copy(change)) > 0,
            "the file"
        );
        assert!(
            without(&|at, change| at > rename && is_sync(change)) > 0,
            "the folder, at the end"
        );
        assert!(
            without(&|at, change| at < rename && is_sync(change)) > 0,
            "the folder, before"
        );
        // Removes the WAL of the old file only after the rename.
        let mut late = recording.clone();
        let log = recording.find(
            |change| matches!(change, Change::Unlink { name, .. } if name == "petstore.db-wal"),
        );
        late.changes[log..=rename].rotate_left(1);
        assert!(harm(&late, &expected) > 0, "the order");
    }
}

/// An error of each system call in turn, of each kind that a disk has.
#[test]
fn a_restore_whose_system_calls_fail_reports_it_and_leaves_the_old_database_complete() {
    for (before, is_damaged) in [(killed_service(), false), (damaged(), true)] {
        let expected = Expected::of(before, is_damaged);
        let mut failed = 0;
        for fault in [
            "pread64:error=EIO",
            "pwrite64:error=EIO",
            "pwrite64:error=ENOSPC",
            "ftruncate:error=EIO",
            "fsync,fdatasync:error=EIO",
            "?rename,?renameat,renameat2:error=EBUSY",
            "?link,linkat:error=EPERM",
            "?unlink,unlinkat:error=EPERM",
            "fchown:error=EPERM",
        ] {
            for at in 1.. {
                let here = folder_of(&expected.before);
                let report = tempfile::NamedTempFile::new().unwrap();
                let inject = format!("inject={fault}:when={at}");
                let done = traced(here.path(), report.path(), &["-e", &inject], &RESTORE);
                if !fs::read_to_string(report.path())
                    .unwrap()
                    .contains("(INJECTED)")
                {
                    assert!(at > 1 || expected.old.is_some(), "{fault} came nowhere");
                    break;
                }
                let said = String::from_utf8(done.stderr).unwrap();
                if said.contains("error while loading shared libraries") {
                    continue;
                }
                let has_failed = !done.status.success();
                assert_eq!(said.starts_with("error: "), has_failed, "{inject}: {said}");
                let is_new = !has_failed || said.contains("is the copy now");
                let left = files(here.path());
                assert_eq!(
                    expected.check(&left, !is_new, is_new),
                    Ok(()),
                    "{inject}: {said}"
                );
                // A second name remains only for files that SQLite could not remove after its
                // checkpoint.
                let is_kept = left.keys().any(|name| name.contains(".replaced-"));
                assert!(
                    is_damaged || fault.contains("unlink") || !is_kept,
                    "{inject}: {said}"
                );
                // A failed attempt removes its second names.
                assert!(
                    is_new || fault.contains("unlink") || !is_kept,
                    "{inject}: {said}"
                );
                failed += u32::from(has_failed);
            }
        }
        eprintln!("{failed} failed");
        assert!(failed > 20);
    }
}
