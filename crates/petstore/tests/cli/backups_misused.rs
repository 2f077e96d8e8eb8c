//! Wrong places, names, files and settings of backups: each error says what is wrong, and nothing is lost.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use petstore::backups::BackupStorage;
use petstore_testing::photo_storage::FakeBucket;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    backups::{backups, serve, until},
    program::{command, directory, finish, new_key, run},
};

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn a_wrong_place_or_name_is_an_error_that_says_what_is_wrong() {
    let here = directory();
    let path = here.path();
    new_key(path);
    let service = serve(path, "1h");
    until(|| service.said().contains("made a backup")).await;
    service.signal("TERM");
    service.wait();
    let name = &backups(&path.join("place"))[0];
    fs::copy(path.join("place").join(name), path.join("renamed.gz")).unwrap();
    let mut cut = fs::read(path.join("renamed.gz")).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(path.join("cut.gz"), cut).unwrap();
    fs::create_dir_all(path.join("other/petstore-20200101T000000Z.db.gz")).unwrap();
    fs::create_dir(path.join("folder.db")).unwrap();
    fs::write(path.join("empty.db"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", path.join("link")).unwrap();
    mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let one = format!("place/{name}");
    let before = fs::read(path.join("petstore.db")).unwrap();
    for (arguments, says) in [
        (
            "backups nowhere",
            "nowhere is neither a folder nor a bucket; name the place",
        ),
        (
            "backups petstore.db",
            "petstore.db is neither a folder nor a bucket; name the place",
        ),
        (
            &format!("backups {one}"),
            "is neither a folder nor a bucket; name the place",
        ),
        (
            "backups link",
            "link is neither a folder nor a bucket; name the place",
        ),
        (
            "backups pipe",
            "pipe is neither a folder nor a bucket; name the place",
        ),
        ("backups off", "name a folder or a bucket"),
        (
            "backups ftp://host/place",
            "ftp:// is not known; write s3://BUCKET/PREFIX",
        ),
        (
            "backups s3://",
            "the URL names no bucket; write s3://BUCKET/PREFIX",
        ),
        (
            "backups s3://shop/x?y",
            "only a bucket and a prefix are allowed",
        ),
        (
            "restore nowhere --force",
            "the file nowhere does not exist; name a copy",
        ),
        (
            "restore link --force",
            "the file link does not exist; name a copy",
        ),
        (
            "restore other --force",
            "other has no backup that `petstore serve` made",
        ),
        (
            "restore place/petstore-20200101T000000.db.gz --force",
            "does not exist; name a copy",
        ),
        (
            "restore other/petstore-20200101T000000Z.db.gz --force",
            "other has no backup petstore-20200101T000000Z.db.gz; petstore backups other lists",
        ),
        (
            "restore renamed.gz",
            "petstore.db already exists; --force replaces it",
        ),
        ("restore cut.gz --force", "cut.gz is damaged"),
        ("restore empty.db --force", "the database empty.db is empty"),
        (
            "restore place/petstore-backups.mark --force",
            "is not a SQLite database",
        ),
        (
            &format!("restore {one}"),
            "petstore.db already exists; --force replaces it",
        ),
        (
            &format!("restore {one} --database sqlite:none/new.db"),
            "the folder none does not exist; create it",
        ),
        (
            &format!("restore {one} --database sqlite:folder.db --force"),
            "is not a regular file",
        ),
        (
            &format!("restore {one} --database postgres://db/pets"),
            "for PostgreSQL, use pg_restore",
        ),
        (
            "serve --backup petstore.db/x --backup-every 0s",
            "from 1s to 365d",
        ),
    ] {
        let done = run(path, &arguments.split(' ').collect::<Vec<_>>());
        assert!(!done.status.success(), "{arguments}: {done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{arguments}: {done:?}");
        assert!(done.stderr.contains(says), "{arguments}: {done:?}");
        assert_eq!(
            fs::read(path.join("petstore.db")).unwrap(),
            before,
            "{arguments}"
        );
    }
    run(path, &["restore", &format!("{one}/"), "--force"]).expect_success();
    let said = run(path, &["restore", "renamed.gz", "--force"])
        .expect_success()
        .stdout;
    assert!(said.starts_with("Restoring renamed.gz ("), "{said}");
}

#[test]
fn a_copy_whose_path_is_no_text_can_be_restored() {
    let here = directory();
    new_key(here.path());
    let copy = OsStr::from_bytes(b"copy-\xFF.db");
    fs::copy(here.path().join("petstore.db"), here.path().join(copy)).unwrap();
    let mut restore = command(here.path(), &["restore", "--force"]);
    finish(restore.arg(copy)).expect_success();
}

#[test]
fn a_place_that_can_never_work_ends_the_start_with_what_to_do() {
    let here = directory();
    new_key(here.path());
    fs::write(here.path().join("file"), "in the way").unwrap();
    for (place, advice) in [
        ("file", "cannot use file: "),
        ("file/below", "it is a file, or below a file: name a folder"),
        (
            "/proc/place",
            "no folder can be made there: name another one",
        ),
    ] {
        let done = run(
            here.path(),
            &["serve", "--listen", "127.0.0.1:0", "--backup", place],
        );
        assert_eq!(done.status.code(), Some(2), "{place}: {done:?}");
        assert!(
            done.stderr.contains("--backup: cannot use "),
            "{place}: {done:?}"
        );
        assert!(done.stderr.contains(advice), "{place}: {done:?}");
    }
}

#[test]
fn a_restore_never_writes_where_a_variable_names_the_photos_of_another_database() {
    let here = directory();
    new_key(here.path());
    run(here.path(), &["backup", "copy.db"]).expect_success();
    let restore = |options: &[&str]| {
        let mut restore = command(here.path(), &["restore", "copy.db", "--force"]);
        finish(restore.args(options).env("PETSTORE_PHOTOS", "production"))
    };
    let drill = ["--database", "sqlite:drill.db"];
    let line = restore(&drill).expect_one_line();
    assert!(
        line.contains("PETSTORE_PHOTOS names production, which is perhaps"),
        "{line}"
    );
    assert!(!here.path().join("drill.db").exists());
    restore(&[&drill[..], &["--photos", "drill-photos"]].concat()).expect_success();
    restore(&[]).expect_success();
    let mut check = command(here.path(), &["check", "--database", "sqlite:drill.db"]);
    let said = finish(check.env("PETSTORE_PHOTOS", "production"))
        .expect_success()
        .stderr;
    assert!(
        said.contains("production, which PETSTORE_PHOTOS names"),
        "{said}"
    );
}

#[test]
fn empty_variables_of_a_bucket_do_not_count_and_an_endpoint_that_is_no_url_is_an_error() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bucket = runtime.block_on(FakeBucket::start());
    let open = |name: &str, value: &str| {
        let mut variables = bucket.variables();
        variables.push((name.to_owned(), value.to_owned()));
        BackupStorage::from_bucket(
            &"s3://shop/x".parse().unwrap(),
            &variables,
            Path::new("petstore.db"),
        )
    };
    for name in [
        "AWS_ENDPOINT",
        "AWS_ENDPOINT_URL_S3",
        "AWS_REGION",
        "AWS_SESSION_TOKEN",
    ] {
        assert!(
            open(name, "")
                .unwrap()
                .list_files()
                .unwrap()
                .backups
                .is_empty(),
            "{name}"
        );
    }
    for value in ["localhost:9000", "127.0.0.1", "ftp://host", "http://"] {
        let why = open("AWS_ENDPOINT_URL", value).err().unwrap();
        let must = "AWS_ENDPOINT_URL must be a URL such as http://127.0.0.1:9000, but was ";
        assert_eq!(why, format!("{must}{value}"));
    }
}
