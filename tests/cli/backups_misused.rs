//! Wrong places, names, files and settings of backups: each error says what is wrong, and nothing is lost.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use petstore::backups::Place;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    backups::{backups, serve, until},
    program::{command, directory, finish, new_key, run},
};
use crate::photo_places::FakeBucket;

#[tokio::test]
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
    fs::create_dir_all(path.join("other/petstore-20200101T000000Z.db.gz")).unwrap();
    fs::create_dir(path.join("folder.db")).unwrap();
    fs::write(path.join("empty.db"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", path.join("link")).unwrap();
    mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let one = format!("place/{name}");
    let before = fs::read(path.join("petstore.db")).unwrap();
    for (arguments, says) in [
        ("backups nowhere", "nowhere is no folder and no bucket; name the place"),
        ("backups petstore.db", "petstore.db is no folder and no bucket; name the place"),
        (&format!("backups {one}"), "is no folder and no bucket; name the place"),
        ("backups link", "link is no folder and no bucket; name the place"),
        ("backups pipe", "pipe is no folder and no bucket; name the place"),
        ("backups off", "name a folder or a bucket"),
        ("backups ftp://host/place", "ftp:// is not known; write s3://BUCKET/PREFIX"),
        ("backups s3://", "the URL names no bucket; write s3://BUCKET/PREFIX"),
        ("backups s3://shop/x?y", "only a bucket and a prefix are allowed"),
        ("restore nowhere --force", "the file nowhere does not exist; name a copy"),
        ("restore link --force", "the file link does not exist; name a copy"),
        ("restore other --force", "other has no backup that `petstore serve` made"),
        ("restore place/petstore-20200101T000000.db.gz --force", "does not exist; name a copy"),
        (
            "restore other/petstore-20200101T000000Z.db.gz --force",
            "other has no backup petstore-20200101T000000Z.db.gz; petstore backups other lists",
        ),
        ("restore renamed.gz --force", "renamed.gz is not a SQLite database"),
        ("restore empty.db --force", "the database empty.db is empty"),
        ("restore place/petstore-backups.mark --force", "is not a SQLite database"),
        (&format!("restore {one}"), "petstore.db already exists; --force replaces it"),
        (&format!("restore {one} --database sqlite:none/new.db"), "cannot write next to sqlite:"),
        (&format!("restore {one} --database sqlite:folder.db --force"), "is not a regular file"),
        (&format!("restore {one} --database postgres://db/pets"), "for PostgreSQL, use pg_dump"),
        ("serve --backup petstore.db/x --backup-every 0s", "from 1s to 365d"),
    ] {
        let done = run(path, &arguments.split(' ').collect::<Vec<_>>());
        assert!(!done.status.success(), "{arguments}: {done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{arguments}: {done:?}");
        assert!(done.stderr.contains(says), "{arguments}: {done:?}");
        assert_eq!(fs::read(path.join("petstore.db")).unwrap(), before, "{arguments}");
    }
    run(path, &["restore", &format!("{one}/"), "--force"]).expect_success();
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

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named_in_the_log() {
    let here = directory();
    new_key(here.path());
    fs::write(here.path().join("place"), "in the way").unwrap();
    let service = serve(here.path(), "1h");
    until(|| service.said().contains("cannot use place: ")).await;
}

#[test]
fn empty_variables_of_a_bucket_do_not_count_and_an_endpoint_that_is_no_url_is_an_error() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bucket = runtime.block_on(FakeBucket::start());
    let open = |name: &str, value: &str| {
        let mut variables = bucket.variables();
        variables.push((name.to_owned(), value.to_owned()));
        Place::bucket(&"s3://shop/x".parse().unwrap(), &variables, Path::new("petstore.db"))
    };
    for name in ["AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_SESSION_TOKEN"] {
        assert!(open(name, "").unwrap().own().unwrap().backups.is_empty(), "{name}");
    }
    for value in ["localhost:9000", "127.0.0.1", "ftp://host", "http://"] {
        let why = open("AWS_ENDPOINT_URL", value).err().unwrap();
        let must = "AWS_ENDPOINT_URL must be a URL such as http://127.0.0.1:9000, but was ";
        assert_eq!(why, format!("{must}{value}"));
    }
}
