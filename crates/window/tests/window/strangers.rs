//! Strangers who ask for much: they keep no other visitor, no program and no webhook waiting, and what they ask for
//! is read only when it is their turn.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use futures_util::future::{join, join_all};
use petstore_domain::{PetId, store_area::FirstStep};
use petstore_testing::{
    area::{cancel, change, place, reserve},
    stores::{act, new_key},
};

use super::street::Street;

/// The turns of searches, and the requests of one address that wait for them.
const AT_ONCE: usize = 2;
const MAX_WAITING: usize = 32;

#[tokio::test]
async fn of_many_searches_of_one_address_few_wait_and_the_others_get_503_at_once() {
    let street = Street::open().await;
    for _ in 0..30 {
        street.add("Luna", &[]).await;
    }
    let searches = (0..200).map(|number| {
        let street = &street;
        async move {
            street
                .get(&format!("/?q=luna&cursor={}", 31 + number))
                .await
        }
    });
    let mut served = 0;
    for response in join_all(searches).await {
        if response.status == 200 {
            served += 1;
        } else {
            assert_eq!(response.status, 503);
            assert_eq!(response.field("retry-after"), "1");
        }
    }
    assert!((1..=AT_ONCE + MAX_WAITING).contains(&served), "{served}");
    // They leave nothing behind.
    street.get("/?q=luna").await.expect(200);
}

#[tokio::test]
async fn a_visitor_waits_for_few_of_the_searches_of_another_address() {
    let street = Street::open().await;
    for _ in 0..30 {
        street.add("Luna", &[("species", "Cat")]).await;
    }
    let before = AtomicUsize::new(0);
    let searches = join_all((0..AT_ONCE + MAX_WAITING).map(|number| {
        let (street, before) = (&street, &before);
        async move {
            let search = street
                .ask_as("198.51.100.7", &format!("/?q=luna&name=l{number}"))
                .await;
            // On a slow machine, the last ones wait for too long.
            if search.status == 200 {
                before.fetch_add(1, SeqCst);
            }
        }
    }));
    let visit = async {
        for path in ["/", "/?q=cat", "/?field.species=Cat", "/animals/1"] {
            street.ask_as("192.0.2.9", path).await.expect(200);
        }
        before.load(SeqCst)
    };
    let (_, before) = join(searches, visit).await;
    // Each search of the visitor waits for one or two of them, and not for all.
    assert!(before < MAX_WAITING / 2, "{before}");
}

#[tokio::test]
async fn pages_stay_in_the_cache_when_something_is_written_that_the_public_does_not_see() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let paths = [
        "/",
        "/animals/1",
        "/embed",
        "/animals.json",
        "/animals.atom",
    ];
    let mut pages = Vec::new();
    for path in paths {
        pages.push(street.unread(path).await.whole().unwrap().clone());
    }
    let tag = street
        .get("/animals.csv")
        .await
        .expect(200)
        .field("etag")
        .to_owned();
    street
        .store
        .create_key(new_key(1, None), act(0))
        .await
        .unwrap();
    street.store.note_step(FirstStep::Import).await.unwrap();
    for (path, page) in paths.into_iter().zip(pages) {
        let now = street.unread(path).await;
        assert_eq!(now.whole().unwrap().as_ptr(), page.as_ptr(), "{path}");
    }
    assert_eq!(
        street.get("/animals.csv").await.expect(200).field("etag"),
        tag
    );
}

#[tokio::test]
async fn visitors_who_come_together_after_a_change_see_a_page_that_is_rendered_once() {
    let street = Street::open().await;
    street.add("Luna", &[]).await;
    let visits = join_all((0..20).map(|_| street.unread("/"))).await;
    let first = visits[0].whole().unwrap().as_ptr();
    for page in &visits {
        assert_eq!(page.whole().unwrap().as_ptr(), first);
    }
}

#[tokio::test]
async fn the_animals_that_came_back_are_read_once_for_all_feeds() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let order = place(&street.store, reserve(PetId::new(id).unwrap())).await;
    change(&street.store, cancel(order)).await;
    street.get("/").await.expect(200);
    let mut reads = Vec::new();
    for name in ["l", "lu", "lun"] {
        street.asked.store(0, SeqCst);
        let feed = street
            .get(&format!("/animals.atom?q=luna&name={name}"))
            .await
            .expect(200);
        assert!(feed.text.contains("#back-"), "{feed:?}");
        reads.push(street.asked.load(SeqCst));
    }
    // The first one also reads the log and the animal. Over PostgreSQL, to read the log can number changes, after which
    // the version is read again.
    assert_eq!(reads[0], reads[2] + 2, "{reads:?}");
    assert!(reads[1] <= reads[2] + 1, "{reads:?}");
}

#[tokio::test]
async fn a_visitor_who_leaves_while_waiting_takes_no_turn_with_him() {
    let street = Arc::new(Street::open().await);
    street.add("Luna", &[]).await;
    let searches = (0..9).map(|number| {
        let street = Arc::clone(&street);
        tokio::spawn(async move { street.get(&format!("/?q=luna&name=l{number}")).await })
    });
    let searches: Vec<_> = searches.collect();
    tokio::task::yield_now().await;
    for search in searches {
        search.abort();
    }
    street.get("/?q=luna").await.expect(200);
}
