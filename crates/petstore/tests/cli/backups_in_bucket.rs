//! Backups that the service makes itself, in a bucket.

use std::{fs, path::Path, process::Command};

use bytes::Bytes;
use petstore::backups::backup_time;
use petstore_domain::{Clock, SystemClock};
use petstore_testing::photo_storage::{FakeBucket, Mood};

use super::{
    backups::until,
    photos::{file, is_there, shop},
    program::{Service, client, command, create, directory, finish, new_key},
};

const PLACE: &str = "s3://shop/backups";

fn with_bucket(bucket: &FakeBucket, here: &Path, arguments: &[&str]) -> Command {
    let mut command = command(here, arguments);
    command.envs(bucket.variables());
    command
}

fn serve(bucket: &FakeBucket, here: &Path, every: &str) -> Service {
    let options = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--backup",
        PLACE,
        "--backup-every",
        every,
    ];
    Service::from(with_bucket(bucket, here, &options))
}

/// The names of the backups.
fn backups(bucket: &FakeBucket) -> Vec<String> {
    let names = bucket.all().0.into_iter();
    let names = names.filter_map(|name| Some(name.strip_prefix("backups/")?.to_owned()));
    names.filter(|name| name.ends_with(".db.gz")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_has_whole_backups_and_each_photo_once_and_gives_them_back() {
    let bucket = FakeBucket::start().await;
    let (here, url) = shop().await;
    let path = here.path();
    bucket.replace(
        "backups/petstore-20200101T000000Z.db.gz",
        Bytes::from_static(b"old"),
    );
    bucket.replace(
        "backups/petstore-20200101T000000Z.photos",
        format!("1\n{}\n", "11".repeat(16)).into(),
    );
    bucket.replace(
        &format!("backups/photos/11/{}-large.jpg", "11".repeat(16)),
        Bytes::new(),
    );
    bucket.replace(
        "backups/below/petstore-20200101T000000Z.db.gz",
        Bytes::from_static(b"mine"),
    );
    bucket.replace("backupsmine", Bytes::from_static(b"mine"));
    let service = serve(&bucket, path, "1s");
    let old = "backups/petstore-20200101T000000Z.photos".to_owned();
    until(|| !bucket.all().0.contains(&old)).await;
    until(|| service.said().matches("made a backup").count() > 2).await;
    service.signal("TERM");
    assert!(service.wait().0.success());
    let (names, uploads) = bucket.all();
    // One more was perhaps begun.
    assert!(uploads < 2, "{uploads}");
    assert!(
        !names.contains(&"backups/petstore-20200101T000000Z.photos".to_owned()),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.contains("photos/11/")),
        "{names:?}"
    );
    for of_others in [
        "backups/below/petstore-20200101T000000Z.db.gz",
        "backupsmine",
    ] {
        assert_eq!(bucket.content(of_others), "mine");
    }
    let photo = file(Path::new("backups/photos"), &url)
        .display()
        .to_string();
    assert_eq!(
        bucket.content(&photo),
        fs::read(file(&path.join("photos"), &url)).unwrap()
    );
    // What is not finished is next to the database, and gone after the next one.
    let service = serve(&bucket, path, "1s");
    until(|| service.said().contains("made a backup")).await;
    let unfinished = || {
        super::backups::names(path, "")
            .into_iter()
            .filter(|n| n.starts_with('.'))
    };
    until(|| unfinished().eq([".petstore.db-backup.lock"])).await;
    drop(service);
    let other = directory();
    let run = |arguments: &[&str]| finish(&mut with_bucket(&bucket, other.path(), arguments));
    let said = run(&["backups", PLACE]).expect_success().stdout;
    let newest = backups(&bucket)
        .into_iter()
        .filter(|name| name.starts_with("petstore-"))
        .max()
        .unwrap();
    assert!(
        said.lines()
            .any(|line| line.starts_with(&newest) && line.ends_with("  1")),
        "{said}"
    );
    // The second one of a second has the time of the next.
    until(|| Some(SystemClock.now()) >= backup_time(&newest)).await;
    let said = run(&["restore", PLACE]).expect_success().stdout;
    assert!(
        said.starts_with(&format!("Restoring {PLACE}/{newest} of ")),
        "{said}"
    );
    assert!(
        said.contains("Copied 1 photo from s3://shop/backups/photos to "),
        "{said}"
    );
    run(&["check", "--photos-content"]).expect_success();
    assert!(is_there(&Service::start(other.path(), &[]), &url).await);
    let one = format!("{PLACE}/{newest}");
    run(&["restore", &one, "--force"]).expect_success();
    let content = bucket.content(&format!("backups/{newest}"));
    bucket.replace(
        &format!("backups/{newest}"),
        content.slice(..content.len() - 1),
    );
    let done = run(&["restore", PLACE, "--force"]);
    assert!(
        done.stderr.contains("is damaged (")
            && done
                .stderr
                .contains(&format!("petstore restore {PLACE}/petstore-"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_fails_hangs_or_lies_is_a_failure_and_gets_no_half_backup() {
    let bucket = FakeBucket::start().await;
    let here = directory();
    let key = new_key(here.path());
    for mood in [
        Mood::Fails,
        Mood::Forbids,
        Mood::Lies,
        Mood::Halves,
        Mood::Alters,
        Mood::Regrets,
    ] {
        bucket.is(mood);
        let service = serve(&bucket, here.path(), "1s");
        until(|| service.said().contains("a background task failed")).await;
        let added = create(&client(), &service.url, &key, "Luna")
            .send()
            .await
            .unwrap();
        assert_eq!(added.status(), 201, "{mood:?}");
        assert_eq!(bucket.all(), (Vec::new(), 0), "{mood:?}");
        bucket.is(Mood::Works);
        until(|| {
            service
                .said()
                .contains("the background task succeeds again")
        })
        .await;
        let count = backups(&bucket).len();
        // Also after it worked, and never with a backup less.
        bucket.is(mood);
        until(|| service.said().matches("a background task failed").count() > 1).await;
        service.signal("TERM");
        assert!(service.wait().0.success());
        assert!(backups(&bucket).len() >= count, "{mood:?}");
        bucket.is(Mood::Works);
        bucket.clear();
    }
    bucket.is(Mood::Hangs);
    let service = serve(&bucket, here.path(), "1s");
    let added = create(&client(), &service.url, &key, "Luna")
        .send()
        .await
        .unwrap();
    assert_eq!(added.status(), 201);
    until(|| {
        service
            .said()
            .contains("the backup before this one has not ended yet")
    })
    .await;
    service.signal("TERM");
    assert!(service.wait().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_wants_checksums_gets_them_and_one_that_keeps_all_is_no_failure() {
    let bucket = FakeBucket::start().await;
    let here = directory();
    new_key(here.path());
    let old = "backups/petstore-20200101T000000Z";
    for mood in [Mood::WantsChecksums, Mood::KeepsAll] {
        bucket.replace(&format!("{old}.db.gz"), Bytes::from_static(b"old"));
        bucket.replace(&format!("{old}.photos"), Bytes::from_static(b"1\n"));
        bucket.is(mood);
        let service = serve(&bucket, here.path(), "1s");
        let keeps_all = mood == Mood::KeepsAll;
        let sentence = "old backups stay, because nothing may be deleted there";
        until(|| {
            if keeps_all {
                // Twice, so the first time was no failure.
                service.said().matches(sentence).count() > 1
            } else {
                !bucket.all().0.contains(&format!("{old}.db.gz"))
            }
        })
        .await;
        service.signal("TERM");
        let (status, log) = service.wait();
        assert!(status.success(), "{mood:?}");
        assert!(!log.contains("a background task failed"), "{mood:?}: {log}");
        assert_eq!(log.contains("nothing may be deleted here"), keeps_all);
        bucket.is(Mood::Works);
        bucket.clear();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_service_on_one_bucket_is_refused() {
    let bucket = FakeBucket::start().await;
    let (here, other) = (directory(), directory());
    new_key(here.path());
    new_key(other.path());
    let service = serve(&bucket, here.path(), "1s");
    until(|| backups(&bucket).len() > 1).await;
    let second = ["serve", "--listen", "127.0.0.1:0", "--backup", PLACE];
    let refused = |path: &Path| {
        let done = finish(&mut with_bucket(&bucket, path, &second));
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        done.stderr
    };
    assert!(refused(here.path()).contains("another service makes backups in s3://shop/backups"));
    assert!(
        refused(other.path()).contains("s3://shop/backups has the backups of another database")
    );
    // One with a copy of the same database makes no backups next to the other.
    bucket.replace("backups/petstore-20990101T000000Z.db.gz", Bytes::new());
    let says = "petstore-20990101T000000Z.db.gz is not of this one";
    until(|| service.said().contains(says)).await;
}

#[tokio::test]
async fn a_bucket_without_credentials_names_the_variables() {
    let here = directory();
    let mut list = command(here.path(), &["backups", PLACE]);
    list.env_remove("AWS_ACCESS_KEY_ID")
        .env_remove("AWS_SECRET_ACCESS_KEY");
    // The machine of a cloud, which is not there.
    list.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
        .env("AWS_EC2_METADATA_DISABLED", "");
    let line = finish(&mut list).expect_one_line();
    assert!(
        line.contains("set the variables AWS_ACCESS_KEY_ID and"),
        "{line}"
    );
}
