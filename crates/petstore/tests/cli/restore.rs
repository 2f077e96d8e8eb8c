//! `petstore restore`: the old database or the new one, never a mix of both.

use std::{fs, process::Stdio, thread};

use rusqlite::Connection;
use rustix::fs::FlockOperation;

use super::{
    backup::{animals, expect_sound, files, fill},
    program::{Service, client, command, create, directory, new_key, run},
};

#[test]
fn a_restored_database_is_as_it_was_when_it_was_backed_up() {
    let here = directory();
    let database = here.path().join("petstore.db");
    new_key(here.path());
    fill(&database, "then", 100);
    run(here.path(), &["backup", "backup.db"]).expect_success();
    let then = animals(&database);
    fill(&database, "since", 100);
    let line = run(here.path(), &["restore", "backup.db"]).expect_one_line();
    assert_eq!(
        line,
        "error: petstore.db already exists; --force replaces it\n"
    );
    assert_eq!(animals(&database).len(), 200);
    let said = run(here.path(), &["restore", "--force", "backup.db"])
        .expect_success()
        .stdout;
    let expected = format!(
        "sqlite:{} is a valid copy of backup.db: 100 animals\n",
        database.display()
    );
    assert_eq!(said, expected);
    assert_eq!(animals(&database), then);
    assert_eq!(files(here.path()), ["backup.db", "petstore.db"]);
    // Without an existing database, `--force` is not needed.
    fs::remove_file(&database).unwrap();
    run(here.path(), &["restore", "backup.db"]).expect_success();
    assert_eq!(animals(&database), then);
}

#[test]
fn a_restored_database_and_a_copy_have_another_epoch_and_a_backup_has_the_same() {
    let here = directory();
    new_key(here.path());
    let look = |file: &str| -> (Vec<u8>, Option<String>) {
        let database = Connection::open(here.path().join(file)).unwrap();
        let epoch = database.query_row("SELECT epoch FROM change_log", [], |row| row.get(0));
        let newest = "SELECT max(type) FROM acts WHERE type LIKE 'database.%'";
        (
            epoch.unwrap(),
            database.query_row(newest, [], |row| row.get(0)).unwrap(),
        )
    };
    let before = look("petstore.db");
    assert_eq!(before.1, None);
    run(here.path(), &["backup", "backup.db"]).expect_success();
    assert_eq!(look("backup.db"), before);
    run(here.path(), &["restore", "--force", "backup.db"]).expect_success();
    let restored = look("petstore.db");
    assert_eq!(restored.1.as_deref(), Some("database.restored"));
    run(
        here.path(),
        &[
            "copy",
            "--from",
            "sqlite:backup.db",
            "--to",
            "sqlite:copy.db",
        ],
    )
    .expect_success();
    let copied = look("copy.db");
    assert_eq!(copied.1.as_deref(), Some("database.copied"));
    let different = [before.0, restored.0, copied.0];
    assert!(
        (0..3).all(|one| different[one] != different[(one + 1) % 3]),
        "{different:?}"
    );
}

/// One that was ended after the backup would otherwise be there again.
#[test]
fn a_restore_ends_all_sessions_and_links_of_staff() {
    let here = directory();
    run(here.path(), &["staff", "add", "Ana", "--create"]).expect_success();
    let open = || Connection::open(here.path().join("petstore.db")).unwrap();
    let session = "INSERT INTO staff_sessions VALUES (randomblob(32), 1, 0, 0, 0, '', '', NULL)";
    open().execute_batch(session).unwrap();
    let count = "SELECT (SELECT count(*) FROM staff_sessions), count(link), count(*) FROM staff";
    let counted = || -> (i64, i64, i64) {
        let counts = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        open().query_row(count, [], counts).unwrap()
    };
    assert_eq!(counted(), (1, 1, 1));
    run(here.path(), &["backup", "backup.db"]).expect_success();
    run(here.path(), &["restore", "--force", "backup.db"]).expect_success();
    assert_eq!(counted(), (0, 0, 1));
}

/// The service is upgraded, and then a backup from before the upgrade is restored.
#[test]
fn a_restored_backup_of_an_older_release_has_no_cursor_session_or_link_either() {
    let here = directory();
    run(here.path(), &["staff", "add", "Ana", "--create"]).expect_success();
    let open = |file: &str| Connection::open(here.path().join(file)).unwrap();
    let session = "INSERT INTO staff_sessions VALUES (randomblob(32), 1, 0, 0, 0, '', '', NULL)";
    open("petstore.db").execute_batch(session).unwrap();
    run(here.path(), &["backup", "backup.db"]).expect_success();
    open("backup.db")
        .pragma_update(None, "user_version", 40)
        .unwrap();

    let epoch = |file: &str| -> Vec<u8> {
        let epoch = "SELECT epoch FROM change_log";
        open(file).query_row(epoch, [], |row| row.get(0)).unwrap()
    };
    run(here.path(), &["restore", "--force", "backup.db"]).expect_success();
    assert_ne!(epoch("petstore.db"), epoch("backup.db"));
    let count = "SELECT (SELECT count(*) FROM staff_sessions) + (SELECT count(link) FROM staff)";
    let count: i64 = open("petstore.db")
        .query_row(count, [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 0);
}

#[tokio::test]
async fn while_the_service_runs_its_database_is_not_replaced() {
    let here = directory();
    let key = new_key(here.path());
    run(here.path(), &["backup", "backup.db"]).expect_success();
    let service = Service::start(here.path(), &[]);
    let line = run(here.path(), &["restore", "--force", "backup.db"]).expect_one_line();
    assert_eq!(
        line,
        "error: petstore.db is in use; stop the service first\n"
    );
    let reply = create(&client(), &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 201);
    service.kill();
    assert_eq!(animals(&here.path().join("petstore.db")).len(), 1);
}

/// SQLite cannot lock a file that it cannot open.
#[test]
fn a_damaged_database_that_another_process_has_open_is_not_replaced() {
    let here = directory();
    let database = here.path().join("petstore.db");
    new_key(here.path());
    run(here.path(), &["backup", "backup.db"]).expect_success();
    fs::write(&database, "no database").unwrap();
    let open = fs::File::open(&database).unwrap();
    rustix::fs::fcntl_lock(&open, FlockOperation::NonBlockingLockShared).unwrap();
    let line = run(here.path(), &["restore", "--force", "backup.db"]).expect_one_line();
    assert_eq!(
        line,
        "error: petstore.db is in use; stop the service first\n"
    );
    assert_eq!(fs::read(&database).unwrap(), b"no database");
    drop(open);
    run(here.path(), &["restore", "--force", "backup.db"]).expect_success();
}

/// A killed service leaves a WAL of the old file, which must not be applied to the new one.
#[tokio::test]
async fn the_wal_of_the_old_database_is_not_applied_to_the_new_one() {
    let here = directory();
    let key = new_key(here.path());
    run(here.path(), &["backup", "backup.db"]).expect_success();
    let service = Service::start(here.path(), &[]);
    let reply = create(&client(), &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 201);
    service.kill();
    assert!(here.path().join("petstore.db-wal").exists());
    // Also if the file is damaged so much that nothing can be read.
    for damaged in [false, true] {
        let wal = fs::read(here.path().join("petstore.db-wal"));
        if damaged {
            fs::write(here.path().join("petstore.db"), "no database").unwrap();
        }
        run(here.path(), &["restore", "--force", "backup.db"]).expect_success();
        let left = files(here.path());
        let (aside, left): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|name| name.contains(".replaced-"));
        assert_eq!(left, ["backup.db", "petstore.db", "photos"]);
        assert_eq!(
            aside.iter().any(|name| name.ends_with("-wal")),
            damaged,
            "{aside:?}"
        );
        assert!(animals(&here.path().join("petstore.db")).is_empty());
        expect_sound(here.path(), "petstore.db");
        fs::write(here.path().join("petstore.db-wal"), wal.unwrap()).unwrap();
    }
}

#[test]
fn a_copy_that_is_not_there_is_named() {
    let here = directory();
    new_key(here.path());
    for force in [&[][..], &["--force"]] {
        let done = run(here.path(), &[&["restore", "backup.db"], force].concat());
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        let expected = "error: the file backup.db does not exist; name a copy that `petstore backup` made, or the place of \
             the backups that `petstore serve` made\n";
        assert_eq!(done.expect_one_line(), expected);
    }
}

#[test]
fn a_damaged_copy_is_not_restored() {
    let here = directory();
    let database = here.path().join("petstore.db");
    new_key(here.path());
    fill(&database, "Frank", 5_000);
    run(here.path(), &["backup", "backup.db"]).expect_success();
    let backup = fs::read(here.path().join("backup.db")).unwrap();
    let before = animals(&database);
    for page in [1, backup.len() / 4096 / 2, backup.len() / 4096 - 1] {
        let mut damaged = backup.clone();
        damaged[page * 4096..][..4096].fill(0xAB);
        fs::write(here.path().join("backup.db"), damaged).unwrap();
        let line = run(here.path(), &["restore", "--force", "backup.db"]).expect_one_line();
        assert!(line.starts_with("error: backup.db is damaged ("), "{line}");
    }
    fs::write(here.path().join("backup.db"), "no database").unwrap();
    let line = run(here.path(), &["restore", "--force", "backup.db"]).expect_one_line();
    assert_eq!(
        line,
        "error: backup.db is not a SQLite database: it is another file, or its beginning is damaged\n"
    );
    assert_eq!(animals(&database), before);
    assert_eq!(files(here.path()), ["backup.db", "petstore.db"]);
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_database_or_the_new_one() {
    let here = directory();
    let database = here.path().join("petstore.db");
    new_key(here.path());
    fill(&database, "new", 2_000);
    run(here.path(), &["backup", "backup.db"]).expect_success();
    fs::remove_file(&database).unwrap();
    new_key(here.path());
    fill(&database, "old", 3_000);
    fs::rename(&database, here.path().join("old.db")).unwrap();
    let (old, new) = (
        animals(&here.path().join("old.db")),
        animals(&here.path().join("backup.db")),
    );
    let (mut was_old, mut was_new) = (0, 0);
    // Later and later, until the restore completes before the kill.
    for patience in (0..).map(|round: u64| round * round) {
        fs::copy(here.path().join("old.db"), &database).unwrap();
        let mut restore = command(here.path(), &["restore", "--force", "backup.db"])
            .spawn()
            .unwrap();
        for _ in 0..patience * 100 {
            thread::yield_now();
        }
        restore.kill().unwrap();
        let ended = restore.wait().unwrap();
        let found = animals(&database);
        assert!(found == old || found == new, "{} animals", found.len());
        expect_sound(here.path(), "petstore.db");
        was_old += u32::from(found == old);
        was_new += u32::from(found == new);
        if ended.success() {
            break;
        }
    }
    assert!(was_old > 0 && was_new > 0);
}

/// The service would write to a deleted file.
#[test]
fn a_service_that_waited_for_a_restore_does_not_serve_the_old_file() {
    let here = directory();
    let database = here.path().join("petstore.db");
    new_key(here.path());
    run(here.path(), &["backup", "backup.db"]).expect_success();
    let restoring = Connection::open(&database).unwrap();
    restoring
        .execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        .unwrap();
    let mut serve = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
    let service = serve
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open_files = format!("/proc/{}/fd", service.id());
    let has_it_open = || {
        let files = fs::read_dir(&open_files).unwrap();
        files
            .filter_map(|file| fs::read_link(file.unwrap().path()).ok())
            .any(|file| file == database)
    };
    while !has_it_open() {
        thread::yield_now();
    }
    fs::rename(here.path().join("backup.db"), &database).unwrap();
    drop(restoring);
    let ended = service.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success());
    assert!(
        said.starts_with("error: cannot open the database petstore.db: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}
