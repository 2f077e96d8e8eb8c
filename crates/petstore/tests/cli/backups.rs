//! Backups that the service makes itself, in a folder.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use rusqlite::Connection;

use super::{
    photos::{file, is_there, key, send, shop},
    program::{Service, client, create, directory, new_key, run},
};

/// Waits for what another process does. Fails if it has not been done after two minutes.
pub(super) async fn until(mut condition: impl FnMut() -> bool) {
    let mut looks = tokio::time::interval(Duration::from_millis(20));
    let waiting = async {
        while !condition() {
            looks.tick().await;
        }
    };
    let is_done = tokio::time::timeout(Duration::from_mins(2), waiting).await;
    assert!(
        is_done.is_ok(),
        "another process did not do in two minutes what it was to do"
    );
}

/// The names of the files in a folder with this ending, in their order; none if it is not there.
pub(super) fn names(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    names
}

pub(super) fn backups(folder: &Path) -> Vec<String> {
    names(folder, ".db.gz")
}

/// A service that makes a backup each second, or only at its start.
pub(super) fn serve(here: &Path, every: &str) -> Service {
    Service::start(here, &["--backup", "place", "--backup-every", every])
}

async fn add(service: &Service, key: &str) {
    let added = create(&client(), &service.url, key, "Luna")
        .send()
        .await
        .unwrap();
    assert_eq!(added.status(), 201);
}

/// Waits until a backup has so many animals.
async fn until_animals(here: &Path, count: &str) {
    let has_them = || {
        run(here, &["backups", "place"])
            .stdout
            .lines()
            .any(|line| line.ends_with(count))
    };
    until(has_them).await;
}

#[tokio::test]
async fn the_first_one_is_made_at_start_and_each_is_what_petstore_backup_makes_compressed_named_by_its_time()
 {
    let here = directory();
    let (path, key) = (here.path(), new_key(here.path()));
    // A place that is missing is made.
    let place = path.join("deep/place");
    let options = ["--backup", "deep/place", "--backup-every", "1s"];
    let service = Service::start(path, &options);
    until(|| !backups(&place).is_empty()).await;
    for _ in 0..3 {
        add(&service, &key).await;
    }
    let has_three = || {
        run(path, &["backups", "deep/place"])
            .stdout
            .lines()
            .any(|line| line.ends_with("  3"))
    };
    until(has_three).await;
    service.signal("TERM");
    assert!(service.wait().0.success());
    let name = backups(&place).pop().unwrap();
    let time = name
        .strip_prefix("petstore-")
        .unwrap()
        .strip_suffix(".db.gz")
        .unwrap();
    jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).unwrap();
    assert_eq!(
        fs::metadata(place.join(&name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
    let mut database = Vec::new();
    GzDecoder::new(File::open(place.join(&name)).unwrap())
        .read_to_end(&mut database)
        .unwrap();
    fs::write(path.join("unpacked.db"), database).unwrap();
    let said = run(path, &["check", "--database", "sqlite:unpacked.db"])
        .expect_success()
        .stdout;
    assert!(said.contains("is valid: 3 animals, 1 key"), "{said}");
    let epoch = |file: &str| -> Vec<u8> {
        let database = Connection::open(path.join(file)).unwrap();
        database
            .query_row("SELECT epoch FROM change_log", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(epoch("unpacked.db"), epoch("petstore.db"));
    // Nothing but what the documents name is there.
    let is_own = |name: &String| {
        name.starts_with("petstore-2")
            || name.starts_with("petstore-backups.")
            || name.starts_with(".petstore-backup.")
    };
    assert!(
        names(&place, "").iter().all(is_own),
        "{:?}",
        names(&place, "")
    );
}

#[tokio::test]
async fn photos_of_a_folder_are_copied_once_each_as_files_that_never_change() {
    let (here, url) = shop().await;
    let path = here.path();
    let service = serve(path, "1s");
    until(|| !backups(&path.join("place")).is_empty()).await;
    let copied = file(&path.join("place/photos"), &url);
    assert_eq!(
        fs::read(&copied).unwrap(),
        fs::read(file(&path.join("photos"), &url)).unwrap()
    );
    let inode = fs::metadata(&copied).unwrap().ino();
    let (key, count) = (key(path), backups(&path.join("place")).len());
    let later = send(&service, &key, 1).await.unwrap();
    until(|| backups(&path.join("place")).len() > count + 1).await;
    assert!(file(&path.join("place/photos"), &later).exists());
    assert_eq!(fs::metadata(&copied).unwrap().ino(), inode);
    drop(service);
    // They come back, on an empty machine, too.
    let other = directory();
    let place = path.join("place").display().to_string();
    let said = run(other.path(), &["restore", &place])
        .expect_success()
        .stdout;
    assert!(said.contains("Copied 2 photos from "), "{said}");
    run(other.path(), &["check", "--photos-content"]).expect_success();
    let service = Service::start(other.path(), &[]);
    assert!(is_there(&service, &url).await && is_there(&service, &later).await);
}

/// Puts a backup of this time there, with the list of its photos.
pub(super) fn plant(place: &Path, time: &str, photos: &[&str]) {
    fs::create_dir_all(place).unwrap();
    fs::write(place.join(format!("petstore-{time}.db.gz")), "old").unwrap();
    let list = photos
        .iter()
        .fold("0\n".to_owned(), |list, id| list + id + "\n");
    fs::write(place.join(format!("petstore-{time}.photos")), list).unwrap();
    for id in photos {
        let folder = place.join("photos").join(&id[..2]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{id}-large.jpg")), "photo").unwrap();
    }
}

#[tokio::test]
async fn old_backups_go_with_the_photos_that_only_they_needed_and_nothing_of_others_is_deleted() {
    let here = directory();
    new_key(here.path());
    let place = here.path().join("place");
    let [old, shared, other] = ["11", "22", "33"].map(|digits| digits.repeat(16));
    plant(&place, "20200101T000000Z", &[&old, &shared]);
    plant(&place, "20200101T000001Z", &[&old]);
    // The clock cannot have made this one, so it counts for nothing but its day.
    plant(&place, "20990101T000000Z", &[&shared]);
    let of_others = [
        "petstore-20200101T000000Z.db.gz.old",
        "petstore-20200101T000000.db.gz",
        "petstore-20200132T000000Z.db.gz",
        "petstore-2020-01-01.db",
        "petstore-20200101T000000Z.db",
        "Petstore-20200101T000000Z.db.gz",
        "photos.txt",
    ];
    for name in of_others {
        fs::write(place.join(name), "mine").unwrap();
    }
    fs::create_dir(place.join("petstore-20200102T000000Z.db.gz")).unwrap();
    let stray = place.join("photos/33").join(format!("{other}-large.jpg"));
    fs::create_dir_all(stray.parent().unwrap()).unwrap();
    fs::write(&stray, "mine").unwrap();
    let service = serve(here.path(), "1s");
    until(|| !place.join("petstore-20200101T000000Z.photos").exists()).await;
    until(|| !place.join("petstore-20200101T000001Z.photos").exists()).await;
    let left = backups(&place);
    assert!(
        !left.contains(&"petstore-20200101T000000Z.db.gz".to_owned()),
        "{left:?}"
    );
    assert!(
        left.contains(&"petstore-20990101T000000Z.db.gz".to_owned()),
        "{left:?}"
    );
    assert!(
        of_others
            .iter()
            .all(|name| fs::read(place.join(name)).unwrap() == b"mine")
    );
    assert!(place.join("petstore-20200102T000000Z.db.gz").is_dir() && stray.exists());
    let of = |id: &str| {
        place
            .join("photos")
            .join(&id[..2])
            .join(format!("{id}-large.jpg"))
    };
    assert!(!of(&old).exists() && of(&shared).exists());
    drop(service);
}

#[tokio::test]
async fn a_backup_whose_list_of_photos_is_lost_keeps_every_photo() {
    let here = directory();
    new_key(here.path());
    let (place, id) = (here.path().join("place"), "11".repeat(16));
    plant(&place, "20200101T000000Z", &[&id]);
    plant(&place, "20990101T000000Z", &[]);
    fs::remove_file(place.join("petstore-20990101T000000Z.photos")).unwrap();
    let service = serve(here.path(), "1s");
    until(|| !place.join("petstore-20200101T000000Z.db.gz").exists()).await;
    let count = backups(&place).len();
    until(|| backups(&place).len() > count + 1).await;
    drop(service);
    assert!(
        place
            .join("photos/11")
            .join(format!("{id}-large.jpg"))
            .exists()
    );
}

#[tokio::test]
async fn the_half_files_of_a_killed_run_go_at_the_next_one() {
    let here = directory();
    new_key(here.path());
    let place = here.path().join("place");
    fs::create_dir(&place).unwrap();
    for half in [
        ".petstore-backup.db",
        ".petstore-backup.db-wal",
        ".petstore-backup.part",
    ] {
        fs::write(place.join(half), "half").unwrap();
    }
    let service = serve(here.path(), "1h");
    until(|| service.said().contains("made a backup")).await;
    assert_eq!(
        names(&place, "")
            .iter()
            .filter(|name| name.contains("-backup."))
            .count(),
        1
    );
}

#[tokio::test]
async fn petstore_backups_lists_the_time_the_size_and_the_animals_of_each() {
    let here = directory();
    let (path, key) = (here.path(), new_key(here.path()));
    let service = serve(path, "1s");
    add(&service, &key).await;
    until_animals(path, "  1").await;
    drop(service);
    let said = run(path, &["backups", "place"]).expect_success().stdout;
    let mut lines = said.lines();
    let heading: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(heading, ["NAME", "TIME", "SIZE", "ANIMALS"]);
    let last: Vec<&str> = lines.next_back().unwrap().split_whitespace().collect();
    let name = backups(&path.join("place")).pop().unwrap();
    let time = last[1].replace(['-', ':'], "");
    assert_eq!(name, format!("petstore-{time}.db.gz"));
    assert_eq!([last[0], last[3], last[4]], [name.as_str(), "KiB", "1"]);
    let none = run(path, &["backups", "nowhere"]).expect_one_line();
    assert_eq!(
        none,
        "error: nowhere is neither a folder nor a bucket; name the place of backups\n"
    );
}

#[tokio::test]
async fn restore_takes_the_newest_of_a_place_or_one_of_them_and_says_which_before() {
    let here = directory();
    let (path, key) = (here.path(), new_key(here.path()));
    let service = serve(path, "1s");
    until(|| !backups(&path.join("place")).is_empty()).await;
    add(&service, &key).await;
    until_animals(path, "  1").await;
    let line = run(path, &["restore", "place", "--force"]);
    assert_eq!(
        line.stderr,
        "error: petstore.db is in use; stop the service first\n"
    );
    service.signal("TERM");
    service.wait();
    let names = backups(&path.join("place"));
    let (first, last) = (&names[0], names.last().unwrap());
    let rejected = run(path, &["restore", "place"]);
    assert_eq!(rejected.status.code(), Some(2));
    assert_eq!(
        rejected.expect_one_line(),
        "error: petstore.db already exists; --force replaces it\n"
    );
    let animals = |source: &str, name: &str, count: &str| {
        let said = run(path, &["restore", source, "--force"])
            .expect_success()
            .stdout;
        assert!(
            said.starts_with(&format!("Restoring place/{name} of 2")),
            "{said}"
        );
        assert!(
            said.ends_with(&format!("is a valid copy of place/{name}: {count}\n")),
            "{said}"
        );
    };
    animals("place", last, "1 animal");
    animals(&format!("place/{first}"), first, "0 animals");
    let absent = run(
        path,
        &[
            "restore",
            "place/petstore-20200101T000000Z.db.gz",
            "--force",
        ],
    );
    let line = absent.expect_one_line();
    let lists = "petstore backups place lists those it has";
    assert_eq!(
        line,
        format!("error: place has no backup petstore-20200101T000000Z.db.gz; {lists}\n")
    );
    fs::create_dir(path.join("empty")).unwrap();
    let line = run(path, &["restore", "empty", "--force"]).expect_one_line();
    assert_eq!(
        line,
        "error: empty has no backup that `petstore serve` made\n"
    );
}

#[tokio::test]
async fn a_damaged_newest_one_is_an_error_that_names_the_one_before() {
    let here = directory();
    new_key(here.path());
    let (path, place) = (here.path(), here.path().join("place"));
    let service = serve(path, "1s");
    until(|| backups(&place).len() > 1).await;
    service.signal("TERM");
    service.wait();
    let names = backups(&place);
    let [.., before, newest] = &names[..] else {
        panic!("{names:?}")
    };
    let whole = fs::read(place.join(newest)).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut of_other_content = GzEncoder::new(Vec::new(), Compression::fast());
    of_other_content.write_all(&[7; 10_000]).unwrap();
    let mut damaged_page = Vec::new();
    GzDecoder::new(&whole[..])
        .read_to_end(&mut damaged_page)
        .unwrap();
    let middle = damaged_page.len() / 2 / 4096 * 4096;
    damaged_page[middle..middle + 4096].fill(0xAB);
    let mut repacked = GzEncoder::new(Vec::new(), Compression::fast());
    repacked.write_all(&damaged_page).unwrap();
    let database = || {
        let said = run(path, &["check"]).expect_success().stdout;
        assert!(said.contains("is valid: 0 animals, 1 key"), "{said}");
    };
    for content in [
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
        &[],
        b"no gzip",
        &flipped,
        &repacked.finish().unwrap(),
    ] {
        fs::write(place.join(newest), content).unwrap();
        let done = run(path, &["restore", "place", "--force"]);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let advice =
            format!("and was not restored; the one before it: petstore restore place/{before}\n");
        assert!(
            done.stderr
                .starts_with(&format!("error: place/{newest} is damaged (")),
            "{done:?}"
        );
        assert!(done.stderr.ends_with(&advice), "{done:?}");
        database();
    }
    fs::write(place.join(newest), of_other_content.finish().unwrap()).unwrap();
    let done = run(path, &["restore", "place", "--force"]);
    assert!(done.stderr.contains("is not a SQLite database"), "{done:?}");
    database();
    run(path, &["restore", &format!("place/{before}"), "--force"]).expect_success();
    assert!(names_of_leftovers(path).is_empty());
}

/// What a restore must not leave behind.
fn names_of_leftovers(path: &Path) -> Vec<String> {
    names(path, "")
        .into_iter()
        .filter(|name| name.starts_with(".petstore"))
        .collect()
}

#[tokio::test]
async fn a_place_that_cannot_be_used_is_a_failure_that_is_logged_and_retried_and_never_stops_the_service()
 {
    let here = directory();
    let (path, key) = (here.path(), new_key(here.path()));
    let place: PathBuf = path.join("place");
    let service = serve(path, "1s");
    until(|| service.said().contains("made a backup")).await;
    fs::rename(&place, path.join("away")).unwrap();
    fs::write(&place, "in the way").unwrap();
    until(|| service.said().contains("a background task failed")).await;
    add(&service, &key).await;
    fs::remove_file(&place).unwrap();
    until(|| {
        service
            .said()
            .contains("the background task succeeds again")
    })
    .await;
    fs::remove_dir_all(&place).unwrap();
    until(|| !backups(&place).is_empty()).await;
    service.signal("TERM");
    assert!(service.wait().0.success());
}

#[tokio::test]
async fn photos_that_are_missing_keep_no_backup_away_and_are_a_failure() {
    let (here, url) = shop().await;
    let path = here.path();
    fs::remove_file(file(&path.join("photos"), &url)).unwrap();
    let service = serve(path, "1h");
    let says = "is complete, but the place of photos lacks files of photos: 1";
    until(|| service.said().contains(says)).await;
    assert_eq!(backups(&path.join("place")).len(), 1);
    // Its list does not have them, so a later one copies them if they are there again.
    let list = names(&path.join("place"), "Z.photos").pop().unwrap();
    assert_eq!(
        fs::read_to_string(path.join("place").join(list)).unwrap(),
        "1\n"
    );
}

#[tokio::test]
async fn a_second_service_on_one_place_is_refused() {
    let here = directory();
    let path = here.path();
    new_key(path);
    let service = serve(path, "1h");
    until(|| service.said().contains("made a backup")).await;
    for database in ["sqlite:petstore.db", "sqlite:other.db"] {
        let second = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--backup",
            "place",
            "--database",
            database,
        ];
        let done = run(path, &second);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(
            done.stderr
                .contains("--backup: another service makes backups in place"),
            "{done:?}"
        );
    }
    // Where the photos of the service are, photos would be deleted with backups.
    let own = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--backup",
        ".",
        "--database",
        "sqlite:other.db",
    ];
    let done = run(path, &own);
    assert!(
        done.stderr
            .contains("--backup: the photos of the service are there; name"),
        "{done:?}"
    );
    service.signal("TERM");
    service.wait();
    // Also later, if it has another database: it would delete the backups of the first one.
    let other = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--backup",
        "place",
        "--database",
        "sqlite:other.db",
    ];
    let done = run(path, &other);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(
        done.stderr
            .contains("place has the backups of another database; name another"),
        "{done:?}"
    );
    // The same one after a restore is no other one.
    run(path, &["restore", "place", "--force"]).expect_success();
    let count = backups(&path.join("place")).len();
    let service = serve(path, "1h");
    until(|| backups(&path.join("place")).len() > count).await;
    drop(service);
}
