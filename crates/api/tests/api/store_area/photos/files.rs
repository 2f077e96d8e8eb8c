//! The files of photos.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, future::join_all};
use jiff::SignedDuration;
use petstore_domain::{Clock, store_area::PhotoId};
use petstore_photos::{Format, PhotoError};
use petstore_store::OpenMode;
use petstore_testing::{harness::open, interface, photo_storage::folder, pictures};
use reqwest::Method;

use super::{Store, with_photos};

impl Store {
    pub(super) async fn urls(&self, path: &str) -> Vec<String> {
        let photo = self.get(path).await.ok();
        let urls = photo["urls"].as_object().unwrap().values();
        urls.map(|url| url.as_str().unwrap().to_owned()).collect()
    }

    pub(super) async fn status(&self, url: &str) -> u16 {
        self.server
            .send(Method::GET, url, &[], "")
            .await
            .status
            .as_u16()
    }

    /// Lets the service look at all files.
    pub(super) async fn tend(&self) {
        while self.server.app.tend_photos().await.unwrap() {}
    }

    pub(super) async fn tend_after(&self, time: Duration) {
        self.server.clock.advance(time);
        self.tend().await;
    }

    /// Writes the files of a photo that no animal has, and returns the URL of one.
    pub(super) async fn orphan(&self) -> String {
        let place = self.server.app.photos.storage().unwrap();
        place
            .write(PhotoId(7), [1, 2, 3, 4].map(|byte| vec![byte].into()))
            .await
            .unwrap();
        format!("/photos/{}-small.jpg", PhotoId(7))
    }
}

pub(super) const DAY: Duration = Duration::from_hours(24);
const SECOND: Duration = Duration::from_secs(1);
const NEARLY_A_DAY: Duration = Duration::from_secs(24 * 60 * 60 - 1);

#[tokio::test]
async fn anybody_with_its_url_can_read_a_picture_forever() {
    let (store, _, paths) = with_photos(&["a"]).await;
    for url in store.urls(&paths[0]).await {
        let reply = store.server.send(Method::GET, &url, &[], "").await;
        assert_eq!(reply.status, 200);
        assert_eq!(
            reply.header("cache-control"),
            Some("public, max-age=31536000, immutable")
        );
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let tag = reply.header("etag").unwrap();
        assert!(tag.starts_with('"'), "{tag}");
        let again = store
            .server
            .send(Method::GET, &url, &[("if-none-match", tag)], "")
            .await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        let head = store.server.send(Method::HEAD, &url, &[], "").await;
        assert_eq!(
            head.header("content-length"),
            Some(&*reply.body.len().to_string())
        );
        assert!(head.body.is_empty());
        let post = store.server.send(Method::POST, &url, &[], "").await;
        assert_eq!(post.header("allow"), Some("GET, HEAD"));
    }
}

#[tokio::test]
async fn every_other_path_below_photos_is_not_found() {
    let (store, _, paths) = with_photos(&["a"]).await;
    let url = store.urls(&paths[0]).await.remove(0);
    let known = url.strip_prefix("/photos/").unwrap();
    for file in [
        "",
        "x",
        &known.to_uppercase(),
        &known.replace(".jpg", ".png"),
        &known.replace(".jpg", ".jpg.part"),
        &known.replace("-small", "-huge"),
        &format!("{}/{known}", &known[..2]),
        &format!("..%2F{known}"),
        &format!("%2e%2e/{known}"),
        "00000000000000000000000000000000-small.jpg",
    ] {
        assert_eq!(
            store.status(&format!("/photos/{file}")).await,
            404,
            "{file}"
        );
    }
}

#[tokio::test]
async fn files_that_no_photo_has_stay_for_a_day() {
    let (store, _, paths) = with_photos(&["a"]).await;
    let (orphan, url) = (store.orphan().await, store.urls(&paths[0]).await.remove(0));
    store.tend().await;
    store.tend_after(NEARLY_A_DAY).await;
    assert_eq!(store.status(&orphan).await, 200);
    store.tend_after(SECOND).await;
    assert_eq!(store.status(&orphan).await, 404);
    assert_eq!(store.status(&url).await, 200);
    // It is noted once only, and forgotten with its files.
    store.tend().await;
    assert_eq!(store.server.count_rows("photo_orphans").await, 0);
    assert_eq!(store.server.count_rows("photos").await, 1);
}

#[tokio::test]
async fn no_file_is_deleted_from_a_folder_that_another_database_uses() {
    let (store, ..) = with_photos(&["a"]).await;
    let orphan = store.orphan().await;
    let owners = store.server.photos.path().join("owners");
    let other = owners.join("0123".repeat(8));
    store.tend().await;
    std::fs::write(&other, "").unwrap();
    // No mark: a file of another place.
    std::fs::write(owners.join("0123-small.jpg"), "").unwrap();
    store.tend().await;
    store.tend_after(DAY).await;
    store.tend_after(DAY).await;
    assert_eq!(store.status(&orphan).await, 200);
    assert!(
        store
            .server
            .api
            .metrics()
            .contains("petstore_photo_databases 2\n")
    );
    // The other database no longer exists.
    std::fs::remove_file(other).unwrap();
    store.tend().await;
    store.tend_after(DAY).await;
    assert_eq!(store.status(&orphan).await, 404);
}

#[tokio::test]
async fn a_copy_of_a_database_on_the_same_photos_deletes_nothing() {
    let (store, id, _) = with_photos(&[]).await;
    store.tend().await;
    let database = store.server.database.copy().await;
    let (place, clock) = (
        folder(store.server.photos.path()),
        store.server.clock.clone(),
    );
    let settings = petstore_app::Settings::default();
    let copy = open(&database, OpenMode::AsIs).await;
    let copy = interface::app_with(copy, clock, &settings, Some(place));
    // The copy does not know it.
    let path = store.new_photo(id).await;
    for _ in 0..30 {
        while copy.tend_photos().await.unwrap() {}
        store.server.clock.advance(Duration::from_hours(1));
    }
    for url in store.urls(&path).await {
        assert_eq!(store.status(&url).await, 200);
    }
}

#[tokio::test]
async fn two_processes_on_one_database_share_its_mark() {
    let (store, ..) = with_photos(&[]).await;
    store.tend().await;
    let again = store.server.open_again().await;
    let incarnation = store.server.store.incarnation().await.unwrap();
    assert_eq!(again.incarnation().await.unwrap(), incarnation);
}

#[tokio::test]
async fn a_file_that_was_not_written_completely_goes_the_same_way() {
    let (store, ..) = with_photos(&["a"]).await;
    let partial = store
        .server
        .photos
        .path()
        .join(format!("00/{}-small.jpg.part", PhotoId(8)));
    std::fs::write(&partial, "x").unwrap();
    store.tend().await;
    assert!(partial.exists());
    store.tend_after(DAY).await;
    assert!(!partial.exists());
}

#[tokio::test]
async fn the_files_of_a_deleted_photo_stay_for_a_day() {
    let (store, _, paths) = with_photos(&["a"]).await;
    let url = store.urls(&paths[0]).await.remove(0);
    store.tend_after(2 * DAY).await;
    store.change(&format!("DELETE {}", paths[0]), 2, "").await;
    store.tend().await;
    store.tend_after(NEARLY_A_DAY).await;
    assert_eq!(store.status(&url).await, 200);
    store.tend_after(SECOND).await;
    assert_eq!(store.status(&url).await, 404);
}

#[tokio::test]
async fn the_photos_of_a_withdrawn_animal_keep_their_files() {
    let (store, id, paths) = with_photos(&["a"]).await;
    let url = store.urls(&paths[0]).await.remove(0);
    store.withdraw(id, 2).await.ok();
    store.tend().await;
    store.tend_after(2 * DAY).await;
    store.tend_after(2 * DAY).await;
    assert_eq!(store.status(&url).await, 200);
}

#[tokio::test]
async fn no_file_is_deleted_because_the_clock_jumps() {
    let (store, ..) = with_photos(&["a"]).await;
    let orphan = store.orphan().await;
    store.tend().await;
    let now = store.server.clock.now();
    store
        .server
        .clock
        .set(now + SignedDuration::from_hours(31 * 24));
    store.tend().await;
    assert_eq!(store.status(&orphan).await, 200);
}

#[tokio::test]
async fn a_folder_that_is_away_adds_no_photo_is_never_made_and_comes_back() {
    let (store, id, paths) = with_photos(&["a"]).await;
    let (folder, away) = (
        store.server.photos.path(),
        store.server.photos.path().with_extension("away"),
    );
    std::fs::rename(folder, &away).unwrap();
    store.tend().await;
    let reply = store.add_photo(id, &pictures::png(4, 3)).await;
    reply.expect_error(503, "unavailable");
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(store.pet(id).await["version"], 2);
    assert_eq!(store.get(&paths[0]).await.status, 200);
    let metrics = store.server.api.metrics();
    assert!(
        metrics.contains("petstore_photo_file_failures_total 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("petstore_photos_missing 1\n"), "{metrics}");
    assert!(!folder.exists());
    std::fs::rename(&away, folder).unwrap();
    store.new_photo(id).await;
    store.tend().await;
    assert!(
        store
            .server
            .api
            .metrics()
            .contains("petstore_photos_missing 0\n")
    );
}

#[tokio::test]
async fn a_folder_that_was_replaced_or_lost_its_empty_folders_takes_photos_at_once() {
    let (store, id, _) = with_photos(&["a"]).await;
    let folder = store.server.photos.path();
    for shard in 0..=u8::MAX {
        // Except that with the photo, and the marks.
        let _ = std::fs::remove_dir(folder.join(format!("{shard:02x}")));
    }
    store.new_photo(id).await;
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::create_dir(folder).unwrap();
    store.new_photo(id).await;
}

#[tokio::test]
async fn an_entry_that_cannot_be_deleted_or_listed_keeps_no_other_from_its_turn() {
    let (store, ..) = with_photos(&[]).await;
    let place = store.server.app.photos.storage().unwrap();
    let [first, second, third] = [1, 2, 200].map(|shard: u128| PhotoId(shard << 120));
    for id in [first, second, third] {
        place
            .write(id, [1, 2, 3, 4].map(|byte| vec![byte].into()))
            .await
            .unwrap();
    }
    let folder = store.server.photos.path();
    // Folders with the name of a picture, and a file instead of a folder.
    let bad = PhotoId((1 << 120) - 1);
    for name in [
        format!("00/{bad}-small.jpg"),
        format!("01/{}-large.jpg", PhotoId(first.0 + 1)),
    ] {
        std::fs::create_dir_all(folder.join(name).join("x")).unwrap();
    }
    std::fs::remove_dir(folder.join("77")).unwrap();
    std::fs::write(folder.join("77"), "").unwrap();
    let walk = async || {
        let mut failed = 0;
        loop {
            match store.server.app.tend_photos().await {
                Ok(true) => {}
                Ok(false) => return failed,
                Err(_) => failed += 1,
            }
            if failed > 0 {
                return failed;
            }
        }
    };
    assert_eq!(walk().await, 1);
    store.server.clock.advance(DAY);
    assert_eq!(walk().await, 1);
    for id in [first, second, third] {
        assert_eq!(
            store.status(&format!("/photos/{id}-small.jpg")).await,
            404,
            "{id}"
        );
    }
    let metrics = store.server.api.metrics();
    // Those that could not be deleted are two, and the others were counted once.
    assert!(metrics.contains("petstore_photos 5\n"), "{metrics}");
}

#[tokio::test]
async fn two_pictures_are_decoded_while_sixteen_wait_and_more_are_rejected() {
    let (store, ..) = with_photos(&[]).await;
    let picture = Bytes::from(pictures::png(400, 300));
    let photos = &store.server.app.photos;
    let all = join_all((0..40).map(|_| photos.add(picture.clone(), Format::Png))).await;
    let busy = all
        .iter()
        .filter(|added| matches!(added, Err(PhotoError::Busy)))
        .count();
    let stored = all.iter().filter(|added| added.is_ok()).count();
    assert_eq!((stored, busy), (18, 22));
}

#[test]
fn a_picture_counts_until_its_thread_ends_although_nobody_waits_for_it() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (store, ..) = with_photos(&[]).await;
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let thread = tokio::task::spawn_blocking(move || busy.recv());
        let added = store
            .server
            .app
            .photos
            .add(pictures::png(4, 3).into(), Format::Png);
        assert!(added.now_or_never().is_none());
        let queue = || {
            store
                .server
                .api
                .metrics()
                .contains("petstore_photo_queue 1\n")
        };
        assert!(queue());
        free.send(()).unwrap();
        thread.await.unwrap().unwrap();
        while queue() {
            tokio::task::yield_now().await;
        }
    });
}

#[tokio::test]
async fn the_metrics_count_photos_and_their_files() {
    let (store, id, _) = with_photos(&["a", "b"]).await;
    store
        .send_picture(
            &format!("/pets/{id}/photos"),
            "image/png",
            &[],
            &pictures::png(4, 3)[..20],
        )
        .await;
    store.tend().await;
    let metrics = store.server.api.metrics();
    for line in [
        "petstore_photos_stored_total 2",
        "petstore_photos_invalid_total 1",
        "petstore_photo_decode_duration_seconds_count 2",
        "petstore_photo_queue 0",
        "petstore_photos 2",
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line}");
    }
    assert!(!metrics.contains("petstore_photo_bytes 0\n"));
}
