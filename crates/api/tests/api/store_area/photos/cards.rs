//! Photos from before there were cards: their cards are made from their large files.

use std::time::Duration;

use futures_util::future::join_all;
use petstore_app::Settings;
use petstore_photos::Bucket;
use petstore_testing::{
    interface,
    photo_storage::{FakeBucket, folder},
    pictures,
    reply::Reply,
};
use reqwest::Method;

use super::{Setup, Store};

/// Adds a photo, and returns the paths of its card and of its large file.
async fn photo(store: &Store) -> [String; 2] {
    let id = store.add("Luna", "available").await;
    let reply = store.add_photo(id, &pictures::png(1300, 1000)).await;
    let urls = reply.json()["urls"].clone();
    ["card", "large"].map(|size| urls[size].as_str().unwrap().to_owned())
}

async fn get(store: &Store, url: &str, fields: &[(&str, &str)]) -> Reply {
    store.server.send(Method::GET, url, fields, "").await
}

async fn expect_the_large_one(store: &Store, [card, large]: &[String; 2]) {
    let instead = get(store, card, &[]).await;
    assert_eq!(instead.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(instead.body, get(store, large, &[]).await.body);
    let tag = instead.header("etag").unwrap();
    let again = get(store, card, &[("if-none-match", tag)]).await;
    assert_eq!(again.status, 304);
    assert_eq!(again.header("cache-control"), Some("public, max-age=300"));
}

async fn expect_a_card(store: &Store, card: &str, tag_before: &str) {
    let made = get(store, card, &[("if-none-match", tag_before)]).await;
    assert_eq!(made.status, 200);
    assert_eq!(
        made.header("cache-control"),
        Some("public, max-age=31536000, immutable")
    );
    let picture = image::load_from_memory(&made.body).unwrap();
    assert_eq!((picture.width(), picture.height()), (640, 492));
}

#[tokio::test]
async fn several_processes_make_the_card_of_a_photo_that_has_none() {
    let store = Store::open().await;
    let [card, large] = photo(&store).await;
    let place = store.server.photos.path();
    let file = place
        .join(&card["/photos/".len()..][..2])
        .join(&card["/photos/".len()..]);
    let original = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    expect_the_large_one(&store, &[card.clone(), large.clone()]).await;
    let tag = get(&store, &large, &[])
        .await
        .header("etag")
        .unwrap()
        .to_owned();

    let mut others = Vec::new();
    for process in 10..14 {
        let (again, clock) = (store.server.open_again().await, store.server.clock.clone());
        let (settings, place) = (Settings::default(), Some(folder(place)));
        let other = interface::app_of_process(process, again, clock, &settings, place);
        while other.tend_photos().await.unwrap() {}
        others.push(other);
    }
    let metrics = store.server.api.metrics();
    assert!(metrics.contains("petstore_photos_missing 0\n"), "{metrics}");
    for made in join_all(others.iter().map(|other| other.photos.make_card())).await {
        assert!(made.unwrap());
    }
    for other in &others {
        assert!(!other.photos.make_card().await.unwrap());
    }
    expect_a_card(&store, &card, &tag).await;
    // One smaller file was made of another, so that it may differ a little from one of the picture.
    assert!(std::fs::read(&file).unwrap().len().abs_diff(original.len()) < original.len() / 10);
    let files = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(files, 4);
}

#[tokio::test]
async fn the_card_of_a_photo_in_a_bucket_is_made() {
    let bucket = FakeBucket::start().await;
    let place = Bucket::new(
        &FakeBucket::url(),
        bucket.variables(),
        Duration::from_secs(5),
    );
    let place = place.unwrap().into();
    let setup = Setup {
        photos: Box::new(|_| Some(place)),
        ..Setup::default()
    };
    let store = Store::open_with(setup).await;
    let urls = photo(&store).await;
    let name = bucket
        .names()
        .into_iter()
        .find(|name| name.ends_with("-card.jpg"))
        .unwrap();
    bucket.remove(&name);
    expect_the_large_one(&store, &urls).await;
    let tag = get(&store, &urls[1], &[])
        .await
        .header("etag")
        .unwrap()
        .to_owned();
    store.tend().await;
    assert!(store.server.app.photos.make_card().await.unwrap());
    expect_a_card(&store, &urls[0], &tag).await;
}

#[tokio::test]
async fn a_damaged_large_file_makes_no_card_and_stops_no_other() {
    let store = Store::open().await;
    let place = store.server.photos.path().to_owned();
    let file = |url: &str| {
        place
            .join(&url["/photos/".len()..][..2])
            .join(&url["/photos/".len()..])
    };
    let mut cards = Vec::new();
    for is_damaged in [true, false, true] {
        let [card, large] = photo(&store).await;
        std::fs::remove_file(file(&card)).unwrap();
        if is_damaged {
            std::fs::write(file(&large), "x").unwrap();
        }
        cards.push(card);
    }
    store.tend().await;
    let mut damaged = Vec::new();
    loop {
        match store.server.app.photos.make_card().await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => damaged.push(error.to_string()),
        }
    }
    assert_eq!(damaged.len(), 2);
    assert!(
        damaged[0].ends_with("-large.jpg cannot be decoded"),
        "{damaged:?}"
    );
    let are_made: Vec<_> = cards.iter().map(|card| file(card).exists()).collect();
    assert_eq!(are_made, [false, true, false]);
}

#[tokio::test]
async fn a_card_without_a_large_file_is_not_found() {
    let store = Store::open().await;
    let [card, large] = photo(&store).await;
    for url in [&card, &large] {
        let name = url.strip_prefix("/photos/").unwrap();
        std::fs::remove_file(store.server.photos.path().join(&name[..2]).join(name)).unwrap();
    }
    assert_eq!(store.status(&card).await, 404);
}
