//! What is on disk, and in which order, when an animal gets a photo.

use std::{fs, io::Cursor, path::Path, process::Command};

use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use super::program::{Service, client, directory, run, settle};

/// Adds an animal with a photo, and returns the identifier of the photo.
async fn add(service: &Service, key: &str) -> String {
    let animals = format!("{}/store/pets", service.url);
    let animal = json!({ "name": "Luna", "categoryId": 1 });
    let request = client().post(&animals).bearer_auth(key).json(&animal);
    let pet: Value = request.send().await.unwrap().json().await.unwrap();
    let mut picture = Cursor::new(Vec::new());
    RgbImage::new(4, 3)
        .write_to(&mut picture, ImageFormat::Png)
        .unwrap();
    let request = client()
        .post(format!("{animals}/{}/photos", pet["id"]))
        .bearer_auth(key);
    let request = request
        .header("content-type", "image/png")
        .body(picture.into_inner());
    let photo: Value = request.send().await.unwrap().json().await.unwrap();
    photo["id"].as_str().unwrap().to_owned()
}

/// The first lines in the report of strace in which the call begins and ends.
fn place(calls: &str, is_it: impl Fn(&str) -> bool) -> (usize, usize) {
    let (begins, line) = calls
        .lines()
        .enumerate()
        .find(|(_, line)| is_it(line))
        .unwrap();
    if !line.ends_with("<unfinished ...>") {
        return (begins, begins);
    }
    let thread = line.split(' ').next().unwrap();
    let mut after = calls.lines().enumerate().skip(begins + 1);
    (
        begins,
        after.find(|(_, line)| line.starts_with(thread)).unwrap().0,
    )
}

#[tokio::test]
async fn the_files_of_a_photo_are_on_disk_before_its_animal_has_it() {
    let here = directory();
    let scope = [
        "keys",
        "create",
        "--name",
        "till",
        "--scope",
        "store:write",
        "--create",
    ];
    let key = run(here.path(), &scope)
        .expect_success()
        .stdout
        .trim_end()
        .to_owned();
    let report = here.path().join("calls");
    let mut command = Command::new("strace");
    command
        .args(["-D", "-f", "-y", "-s", "65536", "-o"])
        .arg(&report);
    command.args([
        "-e",
        "trace=fsync,fdatasync,?rename,?renameat,renameat2,pwrite64",
    ]);
    command.args([
        env!("CARGO_BIN_EXE_petstore"),
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]);
    settle(&mut command, here.path());
    let service = Service::from(command);
    let photo = add(&service, &key).await;
    service.signal("TERM");
    service.wait();
    let calls = fs::read_to_string(report).unwrap();

    let is_sync = |line: &str, path: &Path| {
        line.contains("sync(") && line.contains(&format!("<{}>", path.display()))
    };
    let shard = here
        .path()
        .canonicalize()
        .unwrap()
        .join("photos")
        .join(&photo[..2]);
    let (names_begin, names_end) = place(&calls, |line| is_sync(line, &shard));
    for size in ["small", "card", "medium", "large"] {
        let partial = shard.join(format!("{photo}-{size}.jpg.part"));
        let (_, content_ends) = place(&calls, |line| is_sync(line, &partial));
        let (rename_begins, rename_ends) = place(&calls, |line| {
            line.contains("rename") && line.contains(&format!("{photo}-{size}"))
        });
        assert!(content_ends < rename_begins, "{size}: {calls}");
        assert!(rename_ends < names_begin, "{size}: {calls}");
    }
    // The task that looks for files without a photo may have noted it meanwhile, without a time.
    let (animal_begins, _) = place(&calls, |line| {
        let is_write = line.contains("pwrite64(") && line.contains("-wal>");
        is_write && line.contains(&photo) && line.contains("addedAt")
    });
    assert!(names_end < animal_begins, "{calls}");
}
