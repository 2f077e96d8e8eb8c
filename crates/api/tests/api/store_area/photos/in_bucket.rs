//! The files of photos in a bucket.

use std::time::Duration;

use petstore_photos::Bucket;
use petstore_testing::{
    photo_storage::{FakeBucket, Mood, StorageOf},
    pictures,
};
use serde_json::Value;

use super::{Setup, Store, files::DAY};

/// The time for a request to a bucket that no test waits for.
const LONG: Duration = Duration::from_mins(1);

/// A store with an animal, whose photos are in this bucket.
async fn with_bucket(bucket: &FakeBucket, limit: Duration) -> (Store, i64) {
    let bucket = Bucket::new(&FakeBucket::url(), bucket.variables(), limit).unwrap();
    let photos: StorageOf = Box::new(|_| Some(bucket.into()));
    let store = Store::open_with(Setup {
        photos,
        ..Setup::default()
    })
    .await;
    let id = store.add("Luna", "available").await;
    (store, id)
}

fn is_file(name: &str) -> bool {
    !name.starts_with("owners/")
}

#[tokio::test]
async fn a_bucket_has_the_files_of_photos_and_the_service_reads_them() {
    let bucket = FakeBucket::start().await;
    let (store, id) = with_bucket(&bucket, LONG).await;
    let path = store.new_photo(id).await;
    let names: Vec<_> = bucket
        .names()
        .into_iter()
        .filter(|name| is_file(name))
        .collect();
    let photo = path.rsplit_once('/').unwrap().1;
    let expected = ["card", "large", "medium", "small"]
        .map(|size| format!("{}/{photo}-{size}.jpg", &photo[..2]));
    assert_eq!(names, expected);
    for url in store.urls(&path).await {
        assert_eq!(store.status(&url).await, 200);
    }
    bucket.remove(&names[3]);
    assert_eq!(
        store.status(&format!("/photos/{photo}-small.jpg")).await,
        404
    );
}

#[tokio::test]
async fn files_in_a_bucket_that_no_photo_has_stay_for_a_day() {
    let bucket = FakeBucket::start().await;
    let (store, id) = with_bucket(&bucket, LONG).await;
    let path = store.new_photo(id).await;
    let (url, orphan) = (store.urls(&path).await.remove(0), store.orphan().await);
    store.tend().await;
    assert_eq!(store.status(&orphan).await, 200);
    store.tend_after(DAY).await;
    assert_eq!(store.status(&orphan).await, 404);
    assert_eq!(store.status(&url).await, 200);
    assert_eq!(
        bucket
            .names()
            .into_iter()
            .filter(|name| is_file(name))
            .count(),
        4
    );
}

#[tokio::test]
async fn no_file_is_deleted_from_a_bucket_that_another_database_uses() {
    let bucket = FakeBucket::start().await;
    let (store, _) = with_bucket(&bucket, LONG).await;
    let (other, _) = with_bucket(&bucket, LONG).await;
    other.tend().await;
    let orphan = store.orphan().await;
    store.tend().await;
    store.tend_after(DAY).await;
    store.tend_after(DAY).await;
    assert_eq!(store.status(&orphan).await, 200);
    let marks: Vec<_> = bucket
        .names()
        .into_iter()
        .filter(|name| !is_file(name))
        .collect();
    assert_eq!(marks.len(), 2);
    // The other database no longer exists: this one leaves its own mark again.
    for mark in &marks {
        bucket.remove(mark);
    }
    store.tend().await;
    store.tend_after(DAY).await;
    assert_eq!(store.status(&orphan).await, 404);
}

#[tokio::test]
async fn a_bucket_that_fails_hangs_or_lies_adds_no_photo() {
    let bucket = FakeBucket::start().await;
    let (store, id) = with_bucket(&bucket, Duration::from_secs(1)).await;
    let path = store.new_photo(id).await;
    let url = store.urls(&path).await.remove(0);
    for mood in [
        Mood::Fails,
        Mood::Forbids,
        Mood::Hangs,
        Mood::Lies,
        Mood::Alters,
    ] {
        bucket.is(mood);
        let reply = store.add_photo(id, &pictures::png(4, 3)).await;
        reply.expect_error(503, "unavailable");
        let said = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(!said.contains("shop"), "{said}");
        assert_eq!(store.pet(id).await["version"], 2, "{mood:?}");
        if ![Mood::Lies, Mood::Alters].contains(&mood) {
            // It may be there: nothing says that it is not.
            assert_eq!(store.status(&url).await, 503, "{mood:?}");
        }
    }
    bucket.is(Mood::Works);
    assert_eq!(store.status(&url).await, 200);
    store.new_photo(id).await;
    let photos: Value = store.pet(id).await["photos"].clone();
    assert_eq!(photos.as_array().unwrap().len(), 2);
}
