//! An import or copy that is interrupted leaves nothing behind.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use super::{
    exhausted_resources::with_private_mounts,
    postgres_cluster::{connect, fresh_url},
    program::{directory, finish, new_key, run, settle},
};

/// Writes a file with this many animals.
fn write_animals(path: &Path, count: usize) {
    let animals = include_str!("../data/shelter-animals.csv");
    let (header, animals) = animals.split_once('\n').unwrap();
    fs::write(path, format!("{header}\n{}", animals.repeat(count / 10_000))).unwrap();
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// A command that any signal can end. Without this, a program that a shell starts in the background
/// may ignore SIGINT.
fn interruptible(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_petstore")]).args(arguments);
    settle(&mut command, directory);
    command
}

fn is_running(process: &mut Child) -> bool {
    process.try_wait().unwrap().is_none()
}

#[test]
fn an_import_that_is_interrupted_while_it_writes_leaves_nothing() {
    let here = directory();
    new_key(here.path());
    write_animals(&here.path().join("many.csv"), 300_000);
    let opened = here.path().join("petstore.db-shm");
    for name in ["INT", "TERM", "KILL"] {
        let mut import = interruptible(here.path(), &["import", "many.csv"]).spawn().unwrap();
        // The import opens the database after it has validated the file.
        while !opened.exists() {
            assert!(is_running(&mut import), "it has ended too early");
            thread::yield_now();
        }
        signal(import.id(), name);
        assert_eq!(import.wait().unwrap().code(), None, "it was not interrupted");
        let sound = run(here.path(), &["check"]).expect_success().stdout;
        assert_eq!(sound, "sqlite:petstore.db is sound: 0 animals, 1 keys\n");
        // Closes the database properly, so its files are final.
        run(here.path(), &["keys", "list"]).expect_success();
        assert!(!opened.exists());
    }
}

#[tokio::test]
async fn an_import_into_postgresql_that_is_interrupted_leaves_nothing() {
    let here = directory();
    let database = fresh_url().await;
    run(here.path(), &["keys", "create", "--name", "me", "--database", &database]).expect_success();
    write_animals(&here.path().join("many.csv"), 200_000);
    let import = ["import", "many.csv", "--database", &database];
    let mut import = interruptible(here.path(), &import).spawn().unwrap();
    let beside = connect(&database).await;
    let drawn = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids";
    while beside.query_one(drawn, &[]).await.unwrap().get::<_, i64>(0) < 10_000 {
        assert!(is_running(&mut import), "it has ended too early");
    }
    signal(import.id(), "INT");
    assert_eq!(import.wait().unwrap().code(), None, "it was not interrupted");
    let export = run(here.path(), &["export", "--database", &database]).expect_success();
    assert_eq!(export.stdout, "id,name,categoryId,status\n");
}

#[test]
fn an_import_or_a_copy_that_fills_the_disk_leaves_nothing_and_says_so() {
    let here = directory();
    write_animals(&here.path().join("many.csv"), 200_000);
    let source = "sqlite:source.db";
    run(here.path(), &["import", "many.csv", "--database", source]).expect_success();
    for work in ["import ../many.csv", "copy --from sqlite:../source.db --to sqlite:petstore.db"] {
        let disk = here.path().join("disk");
        fs::create_dir_all(&disk).unwrap();
        let mut command = with_private_mounts();
        let script = format!(
            "mount -t tmpfs -o size=6m none \"$PWD/disk\" && cd disk && \
             {{ {0} {work}; echo \"status $?\"; {0} check; {0} export; }}",
            env!("CARGO_BIN_EXE_petstore")
        );
        command.args(["sh", "-c", &script]);
        settle(&mut command, here.path());
        let done = finish(command.stderr(Stdio::piped()));
        assert_eq!(
            done.stdout,
            "status 1\nsqlite:petstore.db is sound: 0 animals, 0 keys\nid,name,categoryId,status\n",
            "{done:?}"
        );
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert!(done.stderr.contains("database or disk is full"), "{done:?}");
        assert!(done.stderr.contains("nothing was"), "{done:?}");
    }
}

#[test]
fn rejected_rows_that_cannot_be_written_leave_nothing() {
    let here = directory();
    fs::write(here.path().join("some.csv"), "name,categoryId\na,x\nb,1\n").unwrap();
    let import = ["import", "some.csv", "--skip-invalid", "--rejects", "absent/bad.csv"];
    let line = run(here.path(), &import).expect_one_line();
    assert!(line.contains("cannot create absent/bad.csv"), "{line}");
    assert!(!here.path().join("petstore.db").exists());
    // Without a database, no file of rejected rows is created either.
    let import = ["--rejects", "bad.csv", "--database", "sqlite:absent/petstore.db"];
    let done = run(here.path(), &[&["import", "some.csv", "--skip-invalid"], &import[..]].concat());
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(!here.path().join("bad.csv").exists());
}
