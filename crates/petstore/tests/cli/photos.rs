//! Photos on the command line: check, backup, restore, copy, export and import; and kills.

use std::{cell::Cell, fs, path::Path, process::Command};

use futures_util::future::join_all;
use petstore_testing::{
    photo_storage::{FakeBucket, Mood},
    pictures,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    backups::until,
    program::{Service, client, command, directory, finish, run},
};

pub(super) fn key(here: &Path) -> String {
    let scope = [
        "keys",
        "create",
        "--name",
        "till",
        "--scope",
        "store:write",
        "--create",
    ];
    run(here, &scope)
        .expect_success()
        .stdout
        .trim_end()
        .to_owned()
}

/// Adds an animal.
async fn add(service: &Service, key: &str) -> i64 {
    let animal = json!({ "name": "Luna", "categoryId": 1 });
    let request = client()
        .post(format!("{}/store/pets", service.url))
        .bearer_auth(key);
    let added: Value = request
        .json(&animal)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    added["id"].as_i64().unwrap()
}

/// Adds a photo, and returns the URL of its large size.
pub(super) async fn send(service: &Service, key: &str, pet: i64) -> Result<String, reqwest::Error> {
    let url = format!("{}/store/pets/{pet}/photos", service.url);
    let request = client()
        .post(url)
        .bearer_auth(key)
        .header("content-type", "image/png");
    let response = request
        .body(pictures::png(64, 48))
        .send()
        .await?
        .error_for_status()?;
    let photo: Value = response.json().await?;
    Ok(photo["urls"]["large"].as_str().unwrap().to_owned())
}

pub(super) async fn is_there(service: &Service, url: &str) -> bool {
    let origin = service.url.trim_end_matches("/v1");
    client()
        .get(format!("{origin}{url}"))
        .send()
        .await
        .unwrap()
        .status()
        == 200
}

/// A folder with a database with an animal that has a photo, and the URL of that.
pub(super) async fn shop() -> (TempDir, String) {
    let here = directory();
    let key = key(here.path());
    let service = Service::start(here.path(), &[]);
    let pet = add(&service, &key).await;
    let url = send(&service, &key, pet).await.unwrap();
    service.kill();
    (here, url)
}

/// The file of a photo below this folder.
pub(super) fn file(folder: &Path, url: &str) -> std::path::PathBuf {
    let name = url.strip_prefix("/photos/").unwrap();
    folder.join(&name[..2]).join(name)
}

#[tokio::test]
async fn check_finds_photos_without_their_files_and_files_that_cannot_be_decoded() {
    let (here, url) = shop().await;
    let said = run(here.path(), &["check"]).expect_success().stdout;
    assert!(
        said.ends_with("is valid: 1 animal, 1 key, 1 photo\n"),
        "{said}"
    );
    run(here.path(), &["check", "--photos-content"]).expect_success();
    for mark in ["1".repeat(32), "2".repeat(32)] {
        fs::create_dir_all(here.path().join("photos/owners")).unwrap();
        fs::write(here.path().join("photos/owners").join(mark), "").unwrap();
    }
    let said = run(here.path(), &["check"]).expect_success().stdout;
    assert!(
        said.starts_with("several databases use this place of photos, so no files"),
        "{said}"
    );
    let said = run(here.path(), &["check", "--photos", "off"])
        .expect_success()
        .stdout;
    assert!(
        said.contains("1 photo; --photos names the place of their files"),
        "{said}"
    );
    let file = file(&here.path().join("photos"), &url);
    let content = fs::read(&file).unwrap();
    fs::write(&file, &content[..content.len() / 2]).unwrap();
    run(here.path(), &["check"]).expect_success();
    let done = run(here.path(), &["check", "--photos-content"]);
    assert!(
        done.stdout
            .contains("-large.jpg of a photo cannot be decoded"),
        "{done:?}"
    );
    fs::remove_file(&file).unwrap();
    let done = run(here.path(), &["check"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.starts_with("animal 1: the file "), "{done:?}");
    assert!(
        done.stdout.contains("-large.jpg of a photo is missing"),
        "{done:?}"
    );
}

#[tokio::test]
async fn a_backup_has_the_files_of_photos_and_a_restore_brings_them_back() {
    let (here, url) = shop().await;
    let said = run(here.path(), &["backup", "copy.db"])
        .expect_success()
        .stdout;
    assert!(said.contains("Copied 1 photo from "), "{said}");
    assert!(file(&here.path().join("copy.db.photos"), &url).exists());
    let check = ["check", "--database", "sqlite:copy.db", "--photos-content"];
    run(here.path(), &check).expect_success();
    fs::remove_dir_all(here.path().join("photos")).unwrap();
    // By default, a backup has its own.
    run(here.path(), &check).expect_success();
    let again = run(here.path(), &["backup", "copy.db", "--force"])
        .expect_success()
        .stdout;
    assert!(!again.contains("photo"), "{again}");
    let other = directory();
    let copy = here.path().join("copy.db").display().to_string();
    let said = run(other.path(), &["restore", &copy])
        .expect_success()
        .stdout;
    assert!(said.contains("Copied 1 photo from "), "{said}");
    run(other.path(), &["check", "--photos-content"]).expect_success();
    assert!(is_there(&Service::start(other.path(), &[]), &url).await);
    let third = directory();
    run(third.path(), &["restore", &copy, "--photos", "off"]).expect_success();
    assert!(!third.path().join("photos").exists());
}

#[tokio::test]
async fn a_backup_fails_if_it_has_not_all_photos_and_none_are_left_out_on_purpose() {
    let (here, url) = shop().await;
    let photos = here.path().join("photos");
    fs::remove_file(file(&photos, &url)).unwrap();
    let lacks = run(here.path(), &["backup", "lacks.db"]);
    assert_eq!(lacks.status.code(), Some(1));
    assert!(
        lacks.stdout.starts_with("lacks.db is a valid copy of "),
        "{lacks:?}"
    );
    assert!(
        lacks
            .stderr
            .contains("photos lacks files of 1 of its 1 photo; name"),
        "{lacks:?}"
    );
    fs::rename(&photos, here.path().join("elsewhere")).unwrap();
    let none = run(here.path(), &["backup", "none.db"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        none.stderr
            .contains("name their place with --photos, or leave photos out"),
        "{none:?}"
    );
    let said = run(here.path(), &["backup", "off.db", "--photos", "off"])
        .expect_success()
        .stdout;
    assert!(
        said.ends_with("The copy has no photos, because they are off\n"),
        "{said}"
    );
    // The same for what comes back.
    let restore = ["restore", "off.db", "--database", "sqlite:back.db"];
    let back = run(here.path(), &restore);
    assert_eq!(back.status.code(), Some(1));
    assert!(
        back.stderr
            .contains("off.db.photos lacks files of 1 of its 1 photo; put them there")
    );
}

#[tokio::test]
async fn backups_with_several_names_share_the_files_of_photos() {
    use std::os::unix::fs::MetadataExt;
    let (here, url) = shop().await;
    let (path, key) = (here.path(), key(here.path()));
    fs::create_dir(path.join("nights")).unwrap();
    let backup =
        |night: &str| run(path, &["backup", &format!("nights/{night}.db")]).expect_success();
    let of = |night: &str, url: &str| file(&path.join(format!("nights/{night}.db.photos")), url);
    let inode = |night: &str, url: &str| fs::metadata(of(night, url)).unwrap().ino();
    backup("first");
    let service = Service::start(path, &[]);
    let later = send(&service, &key, 1).await.unwrap();
    drop(service);
    let said = backup("second").stdout;
    assert!(said.contains("Copied 1 photo from "), "{said}");
    assert_eq!(inode("first", &url), inode("second", &url));
    assert!(!of("first", &later).exists());
    let said = backup("third").stdout;
    assert!(!said.contains("Copied"), "{said}");
    assert_eq!(inode("third", &later), inode("second", &later));
    // Each has all that it needs without the others, and not the files of the service.
    fs::remove_dir_all(path.join("nights/first.db.photos")).unwrap();
    fs::remove_dir_all(path.join("nights/second.db.photos")).unwrap();
    run(
        path,
        &[
            "check",
            "--database",
            "sqlite:nights/third.db",
            "--photos-content",
        ],
    )
    .expect_success();
    let own = fs::metadata(file(&path.join("photos"), &later))
        .unwrap()
        .ino();
    assert_ne!(inode("third", &later), own);
}

#[tokio::test]
async fn photos_that_are_elsewhere_are_no_damage_of_the_database() {
    let (here, url) = shop().await;
    let photos = here.path().join("photos");
    let large = file(&photos, &url);
    fs::rename(&large, here.path().join("large")).unwrap();
    let some = run(here.path(), &["check"]);
    assert_eq!(some.status.code(), Some(1));
    assert!(
        some.stdout.contains("-large.jpg of a photo is missing"),
        "{some:?}"
    );
    assert!(
        some.stderr
            .contains("1 file of 1 photo missing or damaged in photos"),
        "{some:?}"
    );
    fs::rename(&photos, here.path().join("elsewhere")).unwrap();
    let none = run(here.path(), &["check"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(!none.stdout.contains("is missing"), "{none:?}");
    assert!(
        none.stderr
            .contains("photos lacks the files of 1 photo; it is probably the wrong place")
    );
    for done in [some, none] {
        assert!(done.stdout.contains(" is valid: 1 animal"), "{done:?}");
        assert!(
            done.stderr
                .contains("name the place of the photos with --photos"),
            "{done:?}"
        );
        assert!(
            !done.stderr.contains("restore") && !done.stderr.contains("damaged ("),
            "{done:?}"
        );
    }
    fs::rename(
        here.path().join("large"),
        file(&here.path().join("elsewhere"), &url),
    )
    .unwrap();
    run(here.path(), &["check", "--photos", "elsewhere"]).expect_success();
}

#[tokio::test]
async fn a_copy_has_the_files_of_photos_unless_both_use_the_same_folder() {
    let (here, url) = shop().await;
    fs::create_dir(here.path().join("new")).unwrap();
    let copy = |to: &str, more: &[&str]| {
        let arguments = [
            &["copy", "--from", "sqlite:petstore.db", "--to", to][..],
            more,
        ]
        .concat();
        run(here.path(), &arguments).expect_success().stderr
    };
    let said = copy("sqlite:new/petstore.db", &[]);
    assert!(said.contains("Copied the files of 1 photo."), "{said}");
    let check = [
        "check",
        "--database",
        "sqlite:new/petstore.db",
        "--photos-content",
    ];
    run(here.path(), &check).expect_success();
    assert!(file(&here.path().join("new/photos"), &url).exists());
    let said = copy("sqlite:same.db", &[]);
    assert!(!said.contains("files"), "{said}");
    let said = copy("sqlite:without.db", &["--to-photos", "off"]);
    assert!(
        said.contains("The files of 1 photo were not copied"),
        "{said}"
    );
    fs::remove_file(file(&here.path().join("photos"), &url)).unwrap();
    let said = copy("sqlite:missing.db", &["--to-photos", "other"]);
    assert!(said.contains("those of 1 photo are missing"), "{said}");
}

#[tokio::test]
async fn more_photos_than_are_handled_at_once_are_all_checked_and_copied() {
    let (here, _) = shop().await;
    let (path, key) = (here.path(), key(here.path()));
    let service = Service::start(path, &[]);
    let mut last = String::new();
    for _ in 0..4 {
        let pet = add(&service, &key).await;
        for _ in 0..9 {
            last = send(&service, &key, pet).await.unwrap();
        }
    }
    service.kill();
    let said = run(path, &["check", "--photos-content"])
        .expect_success()
        .stdout;
    assert!(said.ends_with("37 photos\n"), "{said}");
    let said = run(path, &["backup", "copy.db"]).expect_success().stdout;
    assert!(said.contains("Copied 37 photos from "), "{said}");
    fs::remove_file(file(&path.join("photos"), &last)).unwrap();
    let done = run(path, &["check", "--photos-content"]);
    assert_eq!(done.stdout.matches("is missing").count(), 1, "{done:?}");
    assert!(done.stdout.contains("animal 5: the file "), "{done:?}");
    let copy = [
        "copy",
        "--from",
        "sqlite:petstore.db",
        "--to",
        "sqlite:all.db",
        "--to-photos",
        "all",
    ];
    let said = run(path, &copy).expect_success().stderr;
    assert!(
        said.contains("Copied the files of 37 photos; those of 1 photo are missing."),
        "{said}"
    );
    let there = run(
        path,
        &["check", "--database", "sqlite:all.db", "--photos", "all"],
    );
    assert_eq!(there.stdout.matches("is missing").count(), 1, "{there:?}");
}

#[tokio::test]
async fn an_export_has_the_urls_of_photos_which_an_import_ignores_and_counts() {
    let (here, url) = shop().await;
    let lines = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    assert!(lines.contains(&url), "{lines}");
    fs::write(here.path().join("all.ndjson"), lines).unwrap();
    let import = [
        "import",
        "all.ndjson",
        "--keep-ids",
        "--create",
        "--database",
        "sqlite:new.db",
    ];
    let said = run(here.path(), &import).expect_success().stderr;
    assert!(
        said.contains("Ignored 1 photo, whose pictures are not in the file."),
        "{said}"
    );
    let said = run(here.path(), &["check", "--database", "sqlite:new.db"])
        .expect_success()
        .stdout;
    assert!(!said.contains("photo"), "{said}");
}

#[test]
fn serve_names_what_is_wrong_with_the_place_of_photos() {
    let here = directory();
    fs::write(here.path().join("file"), "").unwrap();
    // The usual port may be taken.
    let serve = |place| {
        run(
            here.path(),
            &["serve", "--listen", "127.0.0.1:0", "--photos", place],
        )
    };
    let said = serve("file").expect_one_line();
    assert!(
        said.contains("--photos file: the folder cannot be used"),
        "{said}"
    );
    for (place, reason) in [
        ("", "the place is missing"),
        (
            "https://bucket/pets",
            "https:// is not known; write s3://BUCKET/PREFIX",
        ),
        ("s3://", "the URL names no bucket"),
        (
            "s3://bucket/pets?region=x",
            "only a bucket and a prefix are allowed",
        ),
        ("s3://bucket/a//b", "the prefix is not allowed"),
        (
            "s3:/bucket",
            "write s3://BUCKET/PREFIX for a bucket, or ./s3:/bucket for a folder",
        ),
        ("S3:bucket", "write s3://BUCKET/PREFIX"),
        ("s3//bucket", "write s3://BUCKET/PREFIX"),
        ("OFF", "write off for no photos, or ./OFF for a folder"),
        ("none", "write off for no photos"),
        ("no", "write off for no photos"),
    ] {
        let done = serve(place);
        assert_eq!(done.status.code(), Some(2), "{place}");
        assert!(done.stderr.contains(reason), "{place}: {done:?}");
    }
    for size in ["0", "65MiB", "many"] {
        let done = run(here.path(), &["serve", "--max-photo-size", size]);
        assert!(
            done.stderr.contains("a size from 1KiB to 64MiB"),
            "{done:?}"
        );
    }
}

/// A command whose photos are in this bucket.
fn with_bucket(bucket: &FakeBucket, here: &Path, arguments: &[&str]) -> Command {
    let mut command = command(here, arguments);
    command
        .envs(bucket.variables())
        .env("PETSTORE_PHOTOS", FakeBucket::url().as_str());
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_can_be_in_a_bucket_which_commands_check_and_copy_and_a_backup_leaves_alone() {
    let bucket = FakeBucket::start().await;
    let here = directory();
    let (path, key) = (here.path(), key(here.path()));
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let service = Service::from(with_bucket(&bucket, path, &serve));
    let pet = add(&service, &key).await;
    let url = send(&service, &key, pet).await.unwrap();
    assert!(is_there(&service, &url).await);
    service.kill();
    assert!(!path.join("photos").exists());
    let run = |arguments: &[&str]| finish(&mut with_bucket(&bucket, path, arguments));
    let said = run(&["check", "--photos-content"]).expect_success().stdout;
    assert!(said.ends_with("1 photo\n"), "{said}");
    let said = run(&["backup", "copy.db"]).expect_success().stdout;
    assert!(
        said.ends_with("The photos stay in s3://shop/photos; the copy has none\n"),
        "{said}"
    );
    let copy = |from: &str, to: &str, from_photos: &str, to_photos: &str| {
        let (from, to) = (format!("sqlite:{from}"), format!("sqlite:{to}"));
        let databases = ["copy", "--from", &from, "--to", &to];
        let places = ["--from-photos", from_photos, "--to-photos", to_photos];
        run(&[&databases[..], &places[..]].concat())
            .expect_success()
            .stderr
    };
    let said = copy("petstore.db", "local.db", "s3://shop/photos", "local");
    assert!(said.contains("Copied the files of 1 photo."), "{said}");
    assert!(file(&path.join("local"), &url).exists());
    let said = copy(
        "petstore.db",
        "same.db",
        "s3://shop/photos",
        "s3://shop/photos",
    );
    assert!(!said.contains("files"), "{said}");
    let said = copy("local.db", "other.db", "local", "s3://shop/photos/other");
    assert!(said.contains("Copied the files of 1 photo."), "{said}");
    let large = bucket
        .names()
        .into_iter()
        .find(|name| name.ends_with("-large.jpg"))
        .unwrap();
    bucket.remove(&large);
    let done = run(&["check"]);
    assert!(
        done.stdout.contains("-large.jpg of a photo is missing"),
        "{done:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_the_sentence_of_a_bucket_that_takes_no_photos() {
    let bucket = FakeBucket::start().await;
    let here = directory();
    let key = key(here.path());
    bucket.is(Mood::IsFull);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let service = Service::from(with_bucket(&bucket, here.path(), &serve));
    let pet = add(&service, &key).await;
    let failure = send(&service, &key, pet).await.unwrap_err();
    assert!(failure.status().unwrap().is_server_error(), "{failure}");
    let sentence = "InvalidRequest: this bucket has no room";
    let lines = service.first_lines.iter().map(Value::to_string);
    let count = lines.filter(|line| line.contains(sentence)).count();
    assert_eq!(count, 1, "{:?}", service.first_lines);
    until(|| service.said().contains(sentence)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_refuses_a_bucket_that_refuses_it_and_starts_while_a_bucket_does_not_respond() {
    let bucket = FakeBucket::start().await;
    let here = directory();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    bucket.is(Mood::Forbids);
    let said = finish(&mut with_bucket(&bucket, here.path(), &serve)).expect_one_line();
    assert!(
        said.contains("--photos s3://shop/photos: the bucket cannot be used"),
        "{said}"
    );
    bucket.is(Mood::Fails);
    let service = Service::from(with_bucket(&bucket, here.path(), &serve));
    let said = &service.first_lines;
    let says = |text: &'static str| {
        move |line: &&Value| line["message"].as_str().unwrap().starts_with(text)
    };
    let warning = said
        .iter()
        .find(says("the place of photos cannot be used"))
        .unwrap();
    let error = warning["error"].as_str().unwrap();
    assert!(error.contains("503") && error.len() < 120, "{error}");
    assert_eq!(
        said.iter().find(says("serving")).unwrap()["photos"],
        "s3://shop/photos"
    );
    let retries = says("Encountered");
    assert!(!said.iter().any(|line| retries(&line)), "{said:?}");
}

#[tokio::test]
async fn no_acknowledged_photo_is_lost_when_the_service_is_killed() {
    let here = directory();
    let key = key(here.path());
    let mut acknowledged: Vec<String> = Vec::new();
    let kills = std::env::var("PHOTO_KILLS").map_or(3, |kills| kills.parse().unwrap());
    for _ in 0..kills {
        let service = Service::start(here.path(), &[]);
        for url in &acknowledged {
            assert!(is_there(&service, url).await, "{url}");
        }
        let pets = join_all((0..16).map(|_| add(&service, &key))).await;
        let arrived = Cell::new(0);
        let senders = pets.iter().map(async |&pet| {
            let mut urls = Vec::new();
            while let Ok(url) = send(&service, &key, pet).await {
                urls.push(url);
                arrived.set(arrived.get() + 1);
            }
            urls
        });
        let enough = async {
            // Some photos are there, and others on their way.
            while arrived.get() < 4 {
                tokio::task::yield_now().await;
            }
            service.signal("KILL");
        };
        let (urls, ()) = tokio::join!(join_all(senders), enough);
        acknowledged.extend(urls.into_iter().flatten());
        service.wait();
    }
    assert!(!acknowledged.is_empty());
    eprintln!(
        "{kills} times kill -9, {} acknowledged photos",
        acknowledged.len()
    );
    run(here.path(), &["check", "--photos-content"]).expect_success();
}
