//! `petstore backup`: a complete file or none, during concurrent writes.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rusqlite::Connection;
use serde_json::Value;

use super::{
    exhausted_resources::with_private_mounts,
    program::{Service, client, command, create, directory, finish, new_key, run, settle},
};

const WRITERS: usize = 64;

/// The animals in a file, by id.
pub(crate) fn animals(file: &Path) -> BTreeMap<i64, String> {
    let database = Connection::open(file).unwrap();
    let mut statement = database.prepare("SELECT id, name FROM pets").unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Adds this many animals with this name without the service, and checkpoints.
pub(crate) fn fill(file: &Path, name: &str, count: u32) {
    let database = Connection::open(file).unwrap();
    let animals = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO pets (name, category_id, status) SELECT ?2, i, 'sold' FROM n";
    database.execute(animals, (count, name)).unwrap();
    database
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
}

pub(crate) fn expect_sound(directory: &Path, file: &str) {
    run(
        directory,
        &["check", "--database", &format!("sqlite:{file}")],
    )
    .expect_success();
}

/// The names of all files in a folder.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let names = fs::read_dir(directory).unwrap().map(name);
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_64_writers_contains_everything_acknowledged_before_it_began() {
    let here = directory();
    let key = new_key(here.path());
    fill(&here.path().join("petstore.db"), "before", 20_000);
    let service = Service::start(here.path(), &[]);
    let acknowledged = Arc::new(Mutex::new(BTreeMap::new()));
    let done = Arc::new(AtomicBool::new(false));
    let client = client();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (acknowledged, done) = (Arc::clone(&acknowledged), Arc::clone(&done));
            let (client, url, key) = (client.clone(), service.url.clone(), key.clone());
            tokio::spawn(async move {
                for number in 0.. {
                    let name = format!("writer {writer}, animal {number}");
                    let reply = create(&client, &url, &key, &name).send().await.unwrap();
                    assert_eq!(reply.status(), 201);
                    let id = reply.json::<Value>().await.unwrap()["id"].as_i64().unwrap();
                    acknowledged.lock().unwrap().insert(id, name);
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                }
            })
        })
        .collect();
    let count = || acknowledged.lock().unwrap().len();
    for round in 0..5 {
        let wanted = count() + 200;
        while count() < wanted {
            tokio::task::yield_now().await;
        }
        let before = acknowledged.lock().unwrap().clone();
        let (folder, name) = (here.path().to_owned(), format!("backup-{round}.db"));
        let backup = name.clone();
        let said = tokio::task::spawn_blocking(move || run(&folder, &["backup", &backup]));
        let said = said.await.unwrap().expect_success().stdout;
        assert!(count() > before.len(), "no concurrent writes");
        let file = here.path().join(&name);
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        expect_sound(here.path(), &name);
        let found = animals(&file);
        let database = here.path().join("petstore.db");
        let (database, count) = (database.display(), found.len());
        let expected = format!("{name} is a valid copy of sqlite:{database}: {count} animals\n");
        assert_eq!(said, expected);
        for (id, animal) in before {
            assert_eq!(found.get(&id), Some(&animal), "{id}");
        }
    }
    done.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let backups = files(here.path())
        .into_iter()
        .filter(|name| name.contains("backup"));
    assert_eq!(backups.count(), 5, "only the backups are left");
}

#[test]
fn a_killed_backup_leaves_no_partial_file() {
    let here = directory();
    new_key(here.path());
    fill(&here.path().join("petstore.db"), "Frank", 100_000);
    for _ in 0..5 {
        let mut backup = command(here.path(), &["backup", "backup.db"])
            .spawn()
            .unwrap();
        // The temporary file exists from the beginning.
        while !files(here.path())
            .iter()
            .any(|name| name.ends_with(".partial"))
        {
            thread::yield_now();
        }
        backup.kill().unwrap();
        assert!(!backup.wait().unwrap().success());
        assert!(!here.path().join("backup.db").exists());
        for name in files(here.path())
            .iter()
            .filter(|name| name.contains(".partial"))
        {
            fs::remove_file(here.path().join(name)).unwrap();
        }
    }
    run(here.path(), &["backup", "backup.db"]).expect_success();
    expect_sound(here.path(), "backup.db");
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let here = directory();
    new_key(here.path());
    fs::write(here.path().join("backup.db"), "mine").unwrap();
    let rejected = run(here.path(), &["backup", "backup.db"]);
    assert_eq!(rejected.status.code(), Some(2));
    let line = rejected.expect_one_line();
    assert_eq!(
        line,
        "error: backup.db already exists; --force replaces it\n"
    );
    assert_eq!(fs::read(here.path().join("backup.db")).unwrap(), b"mine");
    // SQLite would use this as the WAL of the backup.
    fs::write(here.path().join("other.db-wal"), "mine").unwrap();
    let line = run(here.path(), &["backup", "other.db"]).expect_one_line();
    assert_eq!(
        line,
        "error: other.db-wal already exists; --force replaces it\n"
    );
    // A file that is not a database is preserved as well.
    for (name, end) in [("backup.db", ""), ("other.db", "-wal")] {
        let said = run(here.path(), &["backup", "--force", name])
            .expect_success()
            .stderr;
        expect_sound(here.path(), name);
        let aside = format!("{name}.replaced-");
        let kept: Vec<_> = files(here.path())
            .into_iter()
            .filter(|name| name.starts_with(&aside))
            .collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(said.contains(kept[0].strip_suffix(end).unwrap()), "{said}");
        assert_eq!(fs::read(here.path().join(&kept[0])).unwrap(), b"mine");
        // A valid one is replaced completely.
        let said = run(here.path(), &["backup", "--force", name])
            .expect_success()
            .stderr;
        assert_eq!(said, "");
    }
    let mut copies = files(here.path());
    // The empty WAL of the source may remain for its next reader.
    copies.retain(|name| !name.starts_with("petstore.db") && !name.contains(".replaced-"));
    assert_eq!(copies, ["backup.db", "other.db"]);
}

#[test]
fn a_backup_over_the_database_itself_is_rejected() {
    let here = directory();
    new_key(here.path());
    let before = fs::read(here.path().join("petstore.db")).unwrap();
    let done = run(here.path(), &["backup", "--force", "./petstore.db"]);
    assert_eq!(done.status.code(), Some(2));
    let line = done.expect_one_line();
    assert_eq!(
        line,
        "error: ./petstore.db is the database itself; name another file\n"
    );
    assert!(fs::read(here.path().join("petstore.db")).unwrap() == before);
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[tokio::test(flavor = "multi_thread")]
async fn no_command_writes_a_file_that_sqlite_keeps_next_to_a_database() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &[]);
    let client = client();
    create(&client, &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    let at = |name: &str| here.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    std::os::unix::fs::symlink("petstore.db-wal", at("symlink")).unwrap();
    fs::hard_link(at("petstore.db-wal"), at("hardlink")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    std::os::unix::fs::symlink("pipe", at("link-to-pipe")).unwrap();
    fs::write(at("some.csv"), "name,categoryId\nZoe,x\n").unwrap();
    let (names, log) = (files(here.path()), fs::read(at("petstore.db-wal")).unwrap());
    for (arguments, told) in [
        (
            "backup --force petstore.db-wal",
            "petstore.db-wal is the name of a file that SQLite",
        ),
        (
            "backup --force petstore.db-shm",
            "is the name of a file that SQLite keeps",
        ),
        (
            "backup --force petstore.db-journal",
            "is the name of a file that SQLite keeps",
        ),
        (
            "backup --force sub/../petstore.db-wal",
            "is the name of a file that SQLite keeps",
        ),
        (
            "backup --force symlink",
            "symlink is the name of a file that SQLite keeps",
        ),
        (
            "backup --force hardlink",
            "hardlink is the database itself; name another file",
        ),
        (
            "backup other.db-wal",
            "is the name of a file that SQLite keeps",
        ),
        (
            "backup --force pipe",
            "pipe is not a regular file; name another file",
        ),
        (
            "backup --force link-to-pipe",
            "link-to-pipe is not a regular file; name another file",
        ),
        ("backup --force sub", "sub is a folder; name a file in it"),
        (
            "restore other.db --database sqlite:petstore.db-wal --force",
            "is the name of a file",
        ),
        (
            "import some.csv --skip-invalid --rejects petstore.db-journal",
            "SQLite keeps a file of this name next to a database; name another file",
        ),
        (
            "webhooks list --secret-key-file petstore.db-journal",
            "SQLite keeps a file of this name next to a database; name another file",
        ),
        (
            "copy --from sqlite:petstore.db --to sqlite:petstore.db-journal",
            "a file of this name belongs to another database; name another file",
        ),
        (
            "keys create --name me --create --database sqlite:other.db-wal",
            "a file of this name belongs to another database; name another file",
        ),
    ] {
        if arguments.starts_with("restore") {
            run(here.path(), &["backup", "other.db"]).expect_success();
        }
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let line = run(here.path(), &arguments).expect_one_line();
        assert!(line.contains(told), "{line}");
        let _ = fs::remove_file(at("other.db"));
        assert_eq!(files(here.path()), names, "{arguments:?}");
        // The service itself may have added to the log meanwhile.
        assert!(
            fs::read(at("petstore.db-wal")).unwrap().starts_with(&log),
            "{arguments:?}"
        );
    }
    // The service goes on.
    let created = create(&client, &service.url, &key, "Zoe")
        .send()
        .await
        .unwrap();
    assert_eq!(created.status(), 201);
    drop(service);
    assert_eq!(animals(&at("petstore.db")).len(), 2);
}

#[test]
fn a_backup_does_not_remove_a_database_that_has_the_name_of_a_companion_file() {
    let here = directory();
    new_key(here.path());
    fs::rename(
        here.path().join("petstore.db"),
        here.path().join("pets-wal"),
    )
    .unwrap();
    let backup = ["backup", "--force", "pets", "--database", "sqlite:pets-wal"];
    let line = run(here.path(), &backup).expect_one_line();
    assert_eq!(
        line,
        "error: pets is the database itself; name another file\n"
    );
    expect_sound(here.path(), "pets-wal");
}

#[test]
fn a_missing_database_or_backup_folder_is_one_line() {
    let here = directory();
    let line = run(here.path(), &["backup", "backup.db"]).expect_one_line();
    assert!(line.contains("/petstore.db; name the right one"), "{line}");
    let postgres = [
        "backup",
        "backup.db",
        "--database",
        "postgres://me:s3cret@db/pets",
    ];
    let line = run(here.path(), &postgres).expect_one_line();
    assert!(
        line.contains("pg_dump") && !line.contains("s3cret"),
        "{line}"
    );
    assert_eq!(files(here.path()), [""; 0]);
    new_key(here.path());
    let line = run(here.path(), &["backup", "absent/backup.db"]).expect_one_line();
    assert!(
        line.starts_with("error: the folder absent does not exist; "),
        "{line}"
    );
}

#[test]
fn a_full_disk_is_one_line_and_leaves_nothing() {
    let here = directory();
    new_key(here.path());
    fill(&here.path().join("petstore.db"), "Frank", 50_000);
    fs::create_dir(here.path().join("disk")).unwrap();
    let mut backup = with_private_mounts();
    let script = "mount -t tmpfs -o size=1m none disk || exit 99
        \"$0\" backup disk/backup.db; code=$?
        ls -A disk
        exit $code";
    backup.args(["sh", "-c", script, env!("CARGO_BIN_EXE_petstore")]);
    settle(&mut backup, here.path());
    let line = finish(&mut backup).expect_one_line();
    assert_eq!(
        line,
        "error: cannot write disk/backup.db: database or disk is full\n"
    );
}

#[test]
fn a_damaged_database_is_not_copied() {
    let here = directory();
    new_key(here.path());
    fill(&here.path().join("petstore.db"), "Frank", 5_000);
    let mut whole = fs::read(here.path().join("petstore.db")).unwrap();
    let middle = whole.len() / 2;
    whole[middle..middle + 4096].fill(0xAB);
    fs::write(here.path().join("petstore.db"), whole).unwrap();
    let line = run(here.path(), &["backup", "backup.db"]).expect_one_line();
    assert!(
        line.starts_with("error: petstore.db is damaged ("),
        "{line}"
    );
    assert!(line.ends_with(") and was not copied\n"), "{line}");
    assert!(
        !files(here.path())
            .iter()
            .any(|name| name.contains("backup"))
    );
}

#[test]
fn a_database_of_an_older_release_is_copied_without_migration() {
    let here = directory();
    let database = Connection::open(here.path().join("petstore.db")).unwrap();
    database
        .execute_batch(include_str!(
            "../../../store-sqlite/migrations/0001_catalogue.sql"
        ))
        .unwrap();
    database
        .pragma_update(None, "application_id", 0x7065_7473)
        .unwrap();
    database.pragma_update(None, "user_version", 1).unwrap();
    drop(database);
    run(here.path(), &["backup", "backup.db"]).expect_success();
    run(
        here.path(),
        &["restore", "backup.db", "--database", "sqlite:new.db"],
    )
    .expect_success();
    let copy = Connection::open(here.path().join("new.db")).unwrap();
    assert_eq!(
        copy.pragma_query_value(None, "user_version", |row| row.get(0)),
        Ok(1)
    );
}
