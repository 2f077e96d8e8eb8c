//! The folder of photos is on a full disk: no photo is added, and nothing else is lost.

use std::{fs, io::Cursor, path::PathBuf};

use image::{ImageFormat, RgbImage};
use reqwest::Client;
use serde_json::{Value, json};

use super::{
    exhausted_resources::with_private_mounts,
    program::{Service, client, directory, settle},
};

/// A picture that does not become short.
fn noise() -> Vec<u8> {
    let picture = RgbImage::from_fn(400, 300, |x, y| {
        let value = (x * 7919 + y * 104_729)
            .wrapping_mul(2_654_435_761)
            .to_le_bytes();
        image::Rgb([value[1], value[2], value[3]])
    });
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

/// Sends a picture; returns the path of the large size, or the error code.
async fn send(client: &Client, service: &Service, key: &str) -> Result<String, String> {
    let request = client
        .post(format!("{}/store/pets/1/photos", service.url))
        .bearer_auth(key);
    let request = request.header("content-type", "image/png").body(noise());
    let reply: Value = request.send().await.unwrap().json().await.unwrap();
    match reply["urls"]["large"].as_str() {
        Some(url) => Ok(url.to_owned()),
        None => Err(reply["code"].as_str().unwrap().to_owned()),
    }
}

#[tokio::test]
async fn a_full_disk_adds_no_photo_and_keeps_those_that_are_there() {
    let here = directory();
    let mut command = with_private_mounts();
    let script = format!(
        "mkdir photos && mount -t tmpfs -o size=1m none photos && \
         {0} keys create --create --name test --scope store:write >key && \
         exec {0} serve --listen 127.0.0.1:0",
        env!("CARGO_BIN_EXE_petstore")
    );
    command.args(["sh", "-c", &script]);
    settle(&mut command, here.path());
    let service = Service::from(command);
    let key = fs::read_to_string(here.path().join("key"))
        .unwrap()
        .trim_end()
        .to_owned();
    let client = client();
    let animal = client
        .post(format!("{}/store/pets", service.url))
        .bearer_auth(&key);
    let animal = animal.json(&json!({ "name": "Luna", "categoryId": 1 }));
    assert_eq!(animal.send().await.unwrap().status(), 201);
    let mut urls = Vec::new();
    let code = loop {
        match send(&client, &service, &key).await {
            Ok(url) => urls.push(url),
            Err(code) => break code,
        }
    };
    assert_eq!(code, "unavailable");
    assert!((1..20).contains(&urls.len()), "{urls:?}");
    let pet = client
        .get(format!("{}/store/pets/1", service.url))
        .bearer_auth(&key);
    let pet: Value = pet.send().await.unwrap().json().await.unwrap();
    assert_eq!(pet["photos"].as_array().unwrap().len(), urls.len());
    let origin = service.url.trim_end_matches("/v1");
    for url in &urls {
        assert_eq!(
            client
                .get(format!("{origin}{url}"))
                .send()
                .await
                .unwrap()
                .status(),
            200
        );
    }
    // What was written of the others is gone, so there is space for what is smaller.
    let root = PathBuf::from(format!("/proc/{}/root", service.pid()));
    let folder = root.join(here.path().join("photos").strip_prefix("/").unwrap());
    let files = fs::read_dir(folder).unwrap().flat_map(|shard| {
        fs::read_dir(shard.unwrap().path())
            .unwrap()
            .map(|file| file.unwrap().file_name())
    });
    // The mark of the database is no file of a photo.
    let of_photos = files.filter(|name| name.to_string_lossy().contains('-'));
    assert_eq!(of_photos.count(), 4 * urls.len());
}
