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
    program::{Done, directory, finish, new_key, run, settle},
};

/// Writes a file with this many animals.
fn write_animals(path: &Path, count: usize) {
    let animals = include_str!("../../../../tests/data/shelter-animals.csv");
    let (header, animals) = animals.split_once('\n').unwrap();
    fs::write(
        path,
        format!("{header}\n{}", animals.repeat(count / 10_000)),
    )
    .unwrap();
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// A command that any signal can end. Without this, a program that a shell starts in the background
/// may ignore SIGINT.
fn interruptible(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_petstore")])
        .args(arguments);
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
        let mut import = interruptible(here.path(), &["import", "many.csv"])
            .spawn()
            .unwrap();
        // The import opens the database after it has validated the file.
        while !opened.exists() {
            assert!(is_running(&mut import), "it has ended too early");
            thread::yield_now();
        }
        signal(import.id(), name);
        assert_eq!(
            import.wait().unwrap().code(),
            None,
            "it was not interrupted"
        );
        let report = run(here.path(), &["check"]).expect_success().stdout;
        assert!(
            report.ends_with("/petstore.db is valid: 0 animals, 1 key\n"),
            "{report}"
        );
        // Closes the database properly, so its files are final.
        run(here.path(), &["keys", "list"]).expect_success();
        assert!(!opened.exists());
    }
}

#[tokio::test]
async fn an_import_into_postgresql_that_is_interrupted_leaves_nothing() {
    let here = directory();
    let database = fresh_url().await;
    run(
        here.path(),
        &[
            "keys",
            "create",
            "--create",
            "--name",
            "me",
            "--database",
            &database,
        ],
    )
    .expect_success();
    write_animals(&here.path().join("many.csv"), 200_000);
    let import = ["import", "many.csv", "--database", &database];
    let mut import = interruptible(here.path(), &import).spawn().unwrap();
    let other = connect(&database).await;
    let drawn = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids";
    while other.query_one(drawn, &[]).await.unwrap().get::<_, i64>(0) < 10_000 {
        assert!(is_running(&mut import), "it has ended too early");
    }
    signal(import.id(), "INT");
    assert_eq!(
        import.wait().unwrap().code(),
        None,
        "it was not interrupted"
    );
    let export = run(here.path(), &["export", "--database", &database]).expect_success();
    assert_eq!(export.stdout, "id,name,categoryId,status\n");
}

/// Runs a script on a small disk of its own, which `petstore` (`$0`) fills: 200,000
/// animals do not fit.
fn on_a_small_disk(here: &Path, script: &str) -> Done {
    write_animals(&here.join("many.csv"), 200_000);
    fs::create_dir(here.join("disk")).unwrap();
    let mut command = with_private_mounts();
    let script = format!("mount -t tmpfs -o size=6m none \"$PWD/disk\" && cd disk && {script}");
    command.args(["sh", "-c", &script, env!("CARGO_BIN_EXE_petstore")]);
    settle(&mut command, here);
    let done = finish(command.stderr(Stdio::piped()));
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    assert!(done.stderr.contains("database or disk is full"), "{done:?}");
    assert!(done.stderr.contains("nothing was"), "{done:?}");
    done
}

#[test]
fn a_first_import_that_fills_the_disk_leaves_no_file_behind() {
    let here = directory();
    let done = on_a_small_disk(
        here.path(),
        "{ $0 import --create ../many.csv; echo status $?; ls -A; }",
    );
    assert_eq!(done.stdout, "status 1\n", "{done:?}");
}

#[test]
fn a_copy_that_fills_the_disk_leaves_no_file_behind() {
    let here = directory();
    let script = "{ $0 import --create ../many.csv --database sqlite:../all.db 2>/dev/null;
        $0 copy --from sqlite:../all.db --to sqlite:petstore.db; echo status $?; ls -A; }";
    let done = on_a_small_disk(here.path(), script);
    assert_eq!(done.stdout, "status 1\n", "{done:?}");
}

#[test]
fn an_import_that_fills_the_disk_leaves_the_database_that_was_there() {
    let here = directory();
    let script = "{ head -n 1 ../many.csv | $0 import - --create --format csv 2>/dev/null;
        $0 import --create ../many.csv; echo status $?; $0 check; $0 export; }";
    let done = on_a_small_disk(here.path(), script);
    let expected = "/disk/petstore.db is valid: 0 animals, 0 keys\nid,name,categoryId,status\n";
    assert!(done.stdout.starts_with("status 1\nsqlite:/"), "{done:?}");
    assert!(done.stdout.ends_with(expected), "{done:?}");
}

#[test]
fn rejected_rows_that_cannot_be_written_leave_nothing() {
    let here = directory();
    fs::write(here.path().join("some.csv"), "name,categoryId\na,x\nb,1\n").unwrap();
    let import = [
        "import",
        "some.csv",
        "--create",
        "--skip-invalid",
        "--rejects",
        "absent/bad.csv",
    ];
    let line = run(here.path(), &import).expect_one_line();
    assert!(line.contains("cannot create absent/bad.csv"), "{line}");
    assert!(!here.path().join("petstore.db").exists());
    // Without a database, no file of rejected rows is created either.
    let import = [
        "--create",
        "--rejects",
        "bad.csv",
        "--database",
        "sqlite:absent/petstore.db",
    ];
    let done = run(
        here.path(),
        &[&["import", "some.csv", "--skip-invalid"], &import[..]].concat(),
    );
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(!here.path().join("bad.csv").exists());
}
