//! Places of backups that are full, read-only, hanging, or not what they seem: the service continues, and no half backup
//! gets a name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    backup::fill,
    exhausted_resources::with_private_mounts,
    metrics::Page,
    program::{Service, client, create, directory, finish, new_key, run, settle},
};

async fn until(mut condition: impl FnMut() -> bool) {
    let mut looks = tokio::time::interval(std::time::Duration::from_millis(20));
    while !condition() {
        looks.tick().await;
    }
}

/// A service whose place this script makes, and the place as others see it.
fn with_place(here: &Path, script: &str) -> (Service, PathBuf) {
    let mut command: Command = with_private_mounts();
    let serve = "serve --listen 127.0.0.1:0 --backup place --backup-every 1s \
                 --management-listen 127.0.0.1:0";
    let script = format!("mkdir -p place && {script} && exec \"$0\" {serve}");
    command.args(["sh", "-c", &script, env!("CARGO_BIN_EXE_petstore")]);
    settle(&mut command, here);
    let service = Service::from(command);
    let root = PathBuf::from(format!("/proc/{}/root", service.pid()));
    let place = root.join(here.strip_prefix("/").unwrap()).join("place");
    (service, place)
}

async fn expect_create(service: &Service, key: &str) {
    let added = create(&client(), &service.url, key, "Luna")
        .send()
        .await
        .unwrap();
    assert_eq!(added.status(), 201);
}

fn names(place: &Path) -> Vec<String> {
    super::backup::files(place)
}

#[tokio::test]
async fn a_full_place_gets_no_half_backup_and_the_next_one_succeeds_when_there_is_space() {
    let here = directory();
    let key = new_key(here.path());
    fill(&here.path().join("petstore.db"), "Frank", 20_000);
    // With space for nothing, for a part of the copy, and for the copy but not for what is compressed.
    for size in ["8M", "6M", "5M"] {
        let fill = format!("{{ head -c {size} /dev/zero >place/filler || true; }}");
        let script = format!("mount -t tmpfs -o size=8m none place && {fill}");
        let (service, place) = with_place(here.path(), &script);
        let size = fs::metadata(place.join("filler")).unwrap().len();
        let done = ["a background task failed", "made a backup"];
        until(|| done.iter().any(|text| service.said().contains(text))).await;
        if service.said().contains("a background task failed") {
            let half = names(&place)
                .into_iter()
                .filter(|name| name.ends_with(".db.gz"));
            assert_eq!(half.count(), 0, "{size}: {:?}", names(&place));
            expect_create(&service, &key).await;
            fs::remove_file(place.join("filler")).unwrap();
            until(|| service.said().contains("made a backup")).await;
        }
        let copy = here.path().join("copied");
        fs::create_dir_all(&copy).unwrap();
        let name = names(&place)
            .into_iter()
            .find(|name| name.ends_with(".db.gz"))
            .unwrap();
        fs::copy(place.join(&name), copy.join(&name)).unwrap();
        run(
            here.path(),
            &[
                "restore",
                &format!("copied/{name}"),
                "--database",
                "sqlite:new.db",
                "--force",
            ],
        )
        .expect_success();
        expect_create(&service, &key).await;
    }
}

#[tokio::test]
async fn a_place_that_is_read_only_from_the_start_ends_it() {
    let here = directory();
    new_key(here.path());
    let mut command = with_private_mounts();
    let script =
        "mkdir place && mount -t tmpfs -o ro none place && exec \"$0\" serve --backup place";
    command.args(["sh", "-c", script, env!("CARGO_BIN_EXE_petstore")]);
    settle(&mut command, here.path());
    let done = finish(&mut command);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(
        done.stderr
            .contains("the file system is read-only there: name another"),
        "{done:?}"
    );
}

/// A folder whose file system never responds, because nobody reads what it asks this descriptor.
const HANGING: &str = "exec 3<>/dev/fuse && \
     mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none place";

#[tokio::test]
async fn a_hanging_place_is_a_failure_that_is_counted_and_the_service_continues_and_stops() {
    let here = directory();
    let key = new_key(here.path());
    let (service, _) = with_place(here.path(), HANGING);
    until(|| {
        service
            .said()
            .contains("the backup before this one has not ended yet")
    })
    .await;
    let failures = "petstore_backup_failures_total";
    while Page::of(&client(), &service).await.value(failures, &[]) < 2 {
        tokio::task::yield_now().await;
    }
    expect_create(&service, &key).await;
    service.signal("TERM");
    assert!(service.wait().0.success());
}

#[tokio::test]
async fn pipes_and_links_in_a_place_hold_nobody_and_lead_nobody_elsewhere() {
    let here = directory();
    let key = new_key(here.path());
    let place = here.path().join("place");
    for name in [
        "petstore-backups.mark",
        ".petstore-backup.part",
        ".petstore-backup.db",
    ] {
        fs::create_dir_all(&place).unwrap();
        mknodat(CWD, place.join(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::write(here.path().join("mine"), "mine").unwrap();
        std::os::unix::fs::symlink("../mine", place.join("petstore-20200101T000000Z.db.gz"))
            .unwrap();
        let mut service =
            Service::start(here.path(), &["--backup", "place", "--backup-every", "1s"]);
        until(|| {
            ["made a backup", "failed"]
                .iter()
                .any(|text| service.said().contains(text))
        })
        .await;
        let is_mark = name == "petstore-backups.mark";
        assert_eq!(
            service.said().contains("is not a regular file"),
            is_mark,
            "{}",
            service.said()
        );
        expect_create(&service, &key).await;
        assert!(service.is_running());
        service.signal("TERM");
        assert!(service.wait().0.success());
        assert_eq!(fs::read(here.path().join("mine")).unwrap(), b"mine");
        fs::remove_dir_all(&place).unwrap();
    }
}
