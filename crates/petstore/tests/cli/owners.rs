//! What a command makes belongs to the user of the database, also if root runs the command. As an ordinary
//! user, these tests show the same of that user.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::Path,
    process::Command,
};

use petstore_system::owner::FileOwner;
use petstore_testing::{photo_storage::FakeBucket, pictures};
use rustix::process::{getegid, geteuid};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    backups::until,
    backups_drill::drill,
    photos::is_there,
    program::{Service, client, directory, finish, run, settle},
};

/// The user of the service: root can run one as somebody else.
fn user() -> (u32, u32) {
    if geteuid().is_root() {
        (65534, 65534)
    } else {
        (geteuid().as_raw(), getegid().as_raw())
    }
}

/// A folder of the user of the service.
fn home() -> TempDir {
    let here = directory();
    chown(here.path(), Some(user().0), Some(user().1)).unwrap();
    here
}

/// Everything below a folder that does not belong to the user of the service.
fn strange(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        if (metadata.uid(), metadata.gid()) != user() {
            found.push(entry.path().display().to_string());
        }
        if metadata.is_dir() {
            found.extend(strange(&entry.path()));
        }
    }
    found
}

/// A command that runs others as that user.
fn by_user() -> Command {
    let mut command = Command::new("setpriv");
    if geteuid().is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command
}

/// `petstore serve` as that user.
fn serve(here: &Path) -> Service {
    let mut command = by_user();
    command.args([
        env!("CARGO_BIN_EXE_petstore"),
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]);
    settle(&mut command, here);
    Service::from(command)
}

/// Creates the database, and returns a key.
fn key(here: &Path) -> String {
    let create = [
        "keys",
        "create",
        "--name",
        "till",
        "--scope",
        "store:write",
        "--create",
    ];
    run(here, &create)
        .expect_success()
        .stdout
        .trim_end()
        .to_owned()
}

/// A folder with a database, in which there is an animal with a photo, and a key.
async fn home_with_photo() -> (TempDir, String) {
    let here = home();
    let key = key(here.path());
    add_photo(&serve(here.path()), &key).await;
    (here, key)
}

/// Adds an animal with a photo.
async fn add_photo(service: &Service, key: &str) {
    let url = format!("{}/store/pets", service.url);
    let animal = json!({ "name": "Luna", "categoryId": 1 });
    let added = client()
        .post(&url)
        .bearer_auth(key)
        .json(&animal)
        .send()
        .await
        .unwrap();
    let added: Value = added.json().await.unwrap();
    let photo = client()
        .post(format!("{url}/{}/photos", added["id"]))
        .bearer_auth(key);
    let photo = photo
        .header("content-type", "image/png")
        .body(pictures::png(64, 48));
    assert_eq!(photo.send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn what_each_command_makes_belongs_to_the_user_of_the_database() {
    let here = home();
    let path = here.path();
    let key = key(path);
    assert_eq!(strange(path), [""; 0], "keys create --create");
    let service = serve(path);
    add_photo(&service, &key).await;
    // While the service has the database open.
    let said = run(path, &["webhooks", "add", "https://shop.example/"])
        .expect_success()
        .stderr;
    let key_file = path.join("petstore.db.secret-key");
    assert!(
        said.contains(&format!("Made the key file {}", key_file.display())),
        "{said}"
    );
    let again = run(path, &["webhooks", "rotate-secret", "1"])
        .expect_success()
        .stderr;
    assert!(!again.contains("Made"), "{again}");
    drop(service);
    fs::write(path.join("some.csv"), "name,categoryId\nFrank,1\n").unwrap();
    chown(path.join("some.csv"), Some(user().0), Some(user().1)).unwrap();
    for command in [
        "keys list",
        "staff add Ana --create --database sqlite:staff.db",
        "import some.csv --create --database sqlite:import.db",
        "backup copy.db",
        "copy --from sqlite:petstore.db --to sqlite:other.db --to-photos deep/other",
        "restore copy.db --force",
        "restore copy.db --database sqlite:restored.db --photos restored",
    ] {
        run(path, &command.split(' ').collect::<Vec<_>>()).expect_success();
        assert_eq!(strange(path), [""; 0], "{command}");
    }
}

#[tokio::test]
async fn a_service_serves_and_adds_photos_after_a_restore_into_an_empty_folder() {
    let (old, key) = home_with_photo().await;
    run(old.path(), &["backup", "copy.db"]).expect_success();
    let new = home();
    let copy = old.path().join("copy.db").display().to_string();
    run(new.path(), &["restore", &copy]).expect_success();
    let service = serve(new.path());
    let pet = client()
        .get(format!("{}/store/pets/1", service.url))
        .bearer_auth(&key);
    let pet: Value = pet.send().await.unwrap().json().await.unwrap();
    assert!(
        is_there(
            &service,
            pet["photos"][0]["urls"]["small"].as_str().unwrap()
        )
        .await
    );
    add_photo(&service, &key).await;
}

#[tokio::test]
async fn the_backups_of_a_service_belong_to_the_user_of_the_database_and_so_does_what_comes_back() {
    let (here, key) = home_with_photo().await;
    let path = here.path();
    // As the service of root would: its files belong to the same user.
    let backup = ["--backup", "place", "--backup-every", "1h"];
    let service = Service::start(path, &backup);
    until(|| service.said().contains("made a backup")).await;
    service.signal("TERM");
    service.wait();
    assert_eq!(strange(&path.join("place")), [""; 0]);
    let place = path.join("place").display().to_string();
    let new = home();
    run(new.path(), &["restore", &place]).expect_success();
    assert_eq!(strange(new.path()), [""; 0]);
    add_photo(&serve(new.path()), &key).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restores_as_root_and_as_the_user_from_a_folder_and_a_bucket_give_that_user_all_files() {
    let (here, key) = home_with_photo().await;
    let path = here.path();
    let bucket = FakeBucket::start().await;
    let places = [
        path.join("place").display().to_string(),
        "s3://shop/backups".to_owned(),
    ];
    for place in &places {
        let mut command = by_user();
        command.args([
            env!("CARGO_BIN_EXE_petstore"),
            "serve",
            "--listen",
            "127.0.0.1:0",
        ]);
        settle(
            command.args(["--backup", place]).envs(bucket.variables()),
            path,
        );
        let service = Service::from(command);
        until(|| service.said().contains("made a backup")).await;
    }
    let mut users: Vec<fn() -> Command> = vec![by_user];
    if geteuid().is_root() {
        users.push(|| Command::new("env"));
    } else {
        eprintln!("Not root: what root restores was not looked at.");
    }
    for (place, by) in places
        .iter()
        .flat_map(|place| users.iter().map(move |by| (place, by)))
    {
        let new = home();
        drill(new.path(), by(), place, bucket.variables());
        let mut restore = by();
        restore.args([env!("CARGO_BIN_EXE_petstore"), "restore", place]);
        settle(restore.envs(bucket.variables()), new.path());
        finish(&mut restore).expect_success();
        assert_eq!(
            strange(new.path()),
            [""; 0],
            "{place} by {:?}",
            by().get_program()
        );
        let service = serve(new.path());
        let pet = client()
            .get(format!("{}/store/pets/1", service.url))
            .bearer_auth(&key);
        let pet: Value = pet.send().await.unwrap().json().await.unwrap();
        assert!(
            is_there(
                &service,
                pet["photos"][0]["urls"]["large"].as_str().unwrap()
            )
            .await
        );
        add_photo(&service, &key).await;
    }
}

#[tokio::test]
async fn root_follows_no_link_that_the_user_of_the_database_made_to_a_folder_of_another_user() {
    let (old, _) = home_with_photo().await;
    run(old.path(), &["backup", "copy.db"]).expect_success();
    let copy = old.path().join("copy.db").display().to_string();
    let (new, others, own) = (home(), directory(), home());
    let link = new.path().join("photos");
    symlink(others.path(), &link).unwrap();
    if geteuid().is_root() {
        let refusal = run(new.path(), &["restore", &copy]).stderr;
        let says = "is a link to a folder that does not belong to the user";
        assert!(refusal.contains(says), "{refusal}");
        assert_eq!(fs::read_dir(others.path()).unwrap().count(), 0);
    } else {
        eprintln!("Not root: what root does not follow was not looked at.");
    }
    // A folder of the user can be anywhere.
    fs::remove_file(&link).unwrap();
    symlink(own.path(), &link).unwrap();
    run(new.path(), &["restore", &copy, "--force"]).expect_success();
    assert_eq!(strange(own.path()), [""; 0]);
    assert!(fs::read_dir(own.path()).unwrap().count() > 0);
}

#[test]
fn a_key_file_that_the_user_of_the_database_cannot_read_is_an_error() {
    let here = home();
    key(here.path());
    let file = here.path().join("key");
    fs::write(&file, format!("{}=\n", "A".repeat(43))).unwrap();
    let add = [
        "webhooks",
        "add",
        "https://shop.example/",
        "--secret-key-file",
        "key",
    ];
    // Root can read everything, and others cannot make a file that they cannot read but open.
    let mode = if geteuid().is_root() { 0o600 } else { 0o000 };
    fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    let line = run(here.path(), &add).expect_one_line();
    assert!(line.contains("key"), "{line}");
    if geteuid().is_root() {
        assert!(line.contains("the owner of sqlite:"), "{line}");
        chown(&file, Some(65534), Some(65534)).unwrap();
    }
    fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
    assert_eq!(
        run(here.path(), &["webhooks", "list"])
            .expect_success()
            .stdout,
        ""
    );
    run(here.path(), &add).expect_success();
}

#[test]
fn a_mode_that_excludes_a_user_is_known() {
    let here = directory();
    let file = here.path().join("key");
    fs::write(&file, "").unwrap();
    let may = |of: &Path, mode| {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        FileOwner::from_metadata(&of.metadata().unwrap()).may_read(&file.metadata().unwrap())
    };
    let own = file.parent().unwrap();
    assert!(may(own, 0o400) && may(own, 0o040) && may(own, 0o004));
    assert_eq!(may(own, 0o200), geteuid().is_root());
}
