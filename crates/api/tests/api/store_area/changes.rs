//! `GET /v1/store/changes`, as pages.

use std::time::Duration;

use petstore_domain::{NewPet, PetName, PetStatus, Scope};
use petstore_testing::harness::{Setup, soon};
use serde_json::{Value, json};

use super::Store;

impl Store {
    /// Waits until so many clients wait for a change.
    pub(super) async fn followers(&self, count: usize) {
        let line = format!("\npetstore_feed_followers {count}\n");
        soon(async {
            while !self.server.api.metrics().contains(&line) {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

pub(super) fn change(
    seq: i64,
    kind: &str,
    subject: &str,
    version: i64,
) -> (i64, String, String, Option<i64>) {
    (seq, kind.to_owned(), subject.to_owned(), Some(version))
}

#[tokio::test]
async fn a_page_has_the_changes_from_the_start_with_what_was_before_and_after() {
    let store = Store::open().await;
    let pet = store.add("Rex \u{1}\"", "available").await;
    let new = store.pet(pet).await;
    let placed = store.send(
        "POST /orders",
        &[("idempotency-key", "\"1\""), ("x-request-id", "till-7")],
        json!({ "petId": pet }),
    );
    let order = placed.await.json();
    let page = store.get("/changes?after=start").await;
    let reserved = store.pet(pet).await;
    let (at, request_id) = ("2026-12-01T12:00:00.000Z", "till-7");
    let rows = page.ok();
    assert_eq!(rows[0]["after"], new);
    assert_eq!(rows[0]["before"], Value::Null);
    let expected = json!([
        { "seq": 2, "at": at, "type": "order.placed", "subject": { "kind": "order", "id": order["id"] },
          "version": 1, "before": null, "after": order, "requestId": request_id },
        { "seq": 3, "at": at, "type": "pet.changed", "subject": { "kind": "pet", "id": pet },
          "version": 2, "before": new, "after": reserved, "requestId": request_id },
    ]);
    assert_eq!(json!(rows.as_array().unwrap()[1..]), expected);
}

#[tokio::test]
async fn a_change_of_a_type_of_a_later_release_is_passed_on_as_it_is() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    store.server.log_of_later_release(pet).await;
    store.withdraw(pet, 1).await.ok();
    let subject = format!("pet:{pet}");
    let all = [
        change(1, "pet.added", &subject, 1),
        change(2, "photo.added", "photo:7", 1),
        change(3, "pet.withdrawn", &subject, 2),
    ];
    let page = store.get("/changes?after=start").await;
    assert_eq!(page.changes(), all);
    assert_eq!(page.ok()[1]["requestId"], "later");
    // Those who chose a type do not get others.
    let withdrawn = store.get("/changes?after=start&type=pet.withdrawn").await;
    assert_eq!(withdrawn.changes(), all[2..]);
    // A filter must have a type that this release knows.
    let other = store.get("/changes?after=start&type=photo.added").await;
    other.expect_message(400, "invalid_parameter", "type");
}

#[tokio::test]
async fn every_page_has_a_link_to_the_changes_after_it() {
    let store = Store::open().await;
    let end = store.get("/changes").await;
    assert_eq!(end.ok(), json!([]));
    let pet = store.add("Rex", "available").await;
    let subject = format!("pet:{pet}");
    let first = store.get(&end.following("next")).await;
    assert_eq!(first.changes(), [change(1, "pet.added", &subject, 1)]);
    // An empty page leads to the same position.
    let empty = store.get(&first.following("next")).await;
    assert_eq!(empty.ok(), json!([]));
    store.withdraw(pet, 1).await.ok();
    for page in [&first, &empty] {
        let second = store.get(&page.following("next")).await;
        assert_eq!(second.changes(), [change(2, "pet.withdrawn", &subject, 2)]);
    }
    let id = end.following("next").rsplit('=').next().unwrap().to_owned();
    let page = store
        .send(
            "GET /changes?after=start&limit=1",
            &[("last-event-id", &id)],
            "",
        )
        .await;
    assert_eq!(
        page.changes(),
        first.changes(),
        "Last-Event-ID takes precedence"
    );
    // Without a cursor, the feed begins at the end.
    assert_eq!(store.get("/changes").await.ok(), json!([]));
}

#[tokio::test]
async fn the_link_keeps_the_type_and_the_limit_and_leaves_out_the_time_to_wait() {
    let store = Store::open().await;
    for name in ["a", "b", "c"] {
        let pet = store.add(name, "available").await;
        store.withdraw(pet, 1).await.ok();
    }
    let mut target = "/changes?after=start&type=pet.withdrawn&limit=2&wait=60s".to_owned();
    for expected in [&[2, 4][..], &[6], &[]] {
        if expected.is_empty() {
            assert!(!target.contains("wait"), "{target}");
        }
        let page = store.get(&target).await;
        let numbers: Vec<i64> = page.changes().iter().map(|change| change.0).collect();
        assert_eq!(numbers, expected);
        target = page.following("next");
        assert!(
            target.contains("type=pet.withdrawn") && target.contains("limit=2"),
            "{target}"
        );
    }
}

#[tokio::test]
async fn invalid_values_are_rejected() {
    let store = Store::open().await;
    for (query, code, part) in [
        (
            "limit=0",
            "invalid_parameter",
            "between 1 and 1000, but was 0",
        ),
        (
            "limit=1001",
            "invalid_parameter",
            "between 1 and 1000, but was 1001",
        ),
        ("limit=x", "invalid_parameter", "between 1 and 1000"),
        ("wait=61s", "invalid_parameter", "from 0s to 60s"),
        ("wait=-1s", "invalid_parameter", "from 0s to 60s"),
        ("wait=1m", "invalid_parameter", "from 0s to 60s"),
        ("wait=30", "invalid_parameter", "from 0s to 60s"),
        ("type=pet.sold", "invalid_parameter", "a type of change"),
        ("after=", "invalid_cursor", "unchanged from the Link"),
        ("after=end", "invalid_cursor", "unchanged from the Link"),
        (
            "cursor=start",
            "unknown_parameter",
            "after, type, limit, wait",
        ),
    ] {
        let reply = store.get(&format!("/changes?{query}")).await;
        reply.expect_message(400, code, part);
    }
}

#[tokio::test]
async fn a_cursor_of_another_database_or_for_changes_that_are_gone_has_expired() {
    let store = Store::open().await;
    let other = Store::open().await;
    let foreign = other.get("/changes").await.following("next");
    store
        .get(&foreign)
        .await
        .expect_message(410, "cursor_expired", "List everything again");
    let start = store.get("/changes?after=start").await.following("next");
    for name in ["a", "b", "c"] {
        store.add(name, "available").await;
    }
    // Over PostgreSQL, a change gets its number when the log is read, and can then be forgotten.
    assert_eq!(store.get("/changes?after=start").await.changes().len(), 3);
    store.server.clock.advance(Duration::from_secs(1));
    let later = store.server.act().now;
    while store
        .server
        .store
        .forget_changes(later..=later, 1)
        .await
        .unwrap()
        > 0
    {}
    store.get(&start).await.expect_error(410, "cursor_expired");
    // The newest change is always kept.
    let kept = store.get("/changes?after=start").await;
    assert_eq!(
        kept.changes()
            .iter()
            .map(|change| change.0)
            .collect::<Vec<_>>(),
        [3]
    );
    assert_eq!(store.get(&kept.following("next")).await.ok(), json!([]));
}

#[tokio::test]
async fn a_request_waits_for_a_change_and_longer_than_the_time_limit_of_others() {
    let setup = Setup {
        request_timeout: Duration::from_secs(1),
        ..Setup::default()
    };
    let store = Store::open_with(setup).await;
    // It waits in vain for another type.
    let target = "/changes?type=pet.withdrawn&wait=2s";
    let (page, pet) = tokio::join!(store.get(target), async {
        store.followers(1).await;
        store.add("Rex", "available").await
    });
    assert_eq!(page.ok(), json!([]));
    let target = format!("{}&wait=60s", page.following("next"));
    let (page, ()) = tokio::join!(store.get(&target), async {
        store.followers(1).await;
        store.withdraw(pet, 1).await.ok();
    });
    assert_eq!(
        page.changes(),
        [change(2, "pet.withdrawn", &format!("pet:{pet}"), 2)]
    );
    store.followers(0).await;
}

#[tokio::test]
async fn a_change_that_another_process_makes_ends_the_waiting() {
    let store = Store::open().await;
    let other = store.server.open_again().await;
    let (page, ()) = tokio::join!(store.get("/changes?wait=60s"), async {
        store.followers(1).await;
        let name = PetName::new("Rex".to_owned()).unwrap();
        let new = NewPet {
            name,
            category_id: 1,
            status: PetStatus::Available,
            is_listed: true,
        };
        other
            .create_pet(new, store.server.act(), |_| unreachable!())
            .await
            .unwrap();
    });
    assert_eq!(page.changes().len(), 1);
}

#[tokio::test]
async fn a_waiting_request_ends_with_its_key_and_with_the_service() {
    let mut store = Store::open().await;
    let (key, id) = store.server.new_key(Scope::StoreRead, None).await;
    let (ended, ()) = tokio::join!(
        store
            .server
            .get_with_key("/v1/store/changes?wait=60s", &key),
        async {
            store.followers(1).await;
            store
                .server
                .store
                .revoke_key(id, store.server.act())
                .await
                .unwrap();
            // Keys are read once a second.
            store.server.clock.advance(Duration::from_secs(1));
        }
    );
    ended.expect_error(401, "invalid_api_key");
    let target = format!("http://{}/v1/store/changes?wait=60s", store.server.address);
    let waiting = reqwest::Client::new()
        .get(target)
        .bearer_auth(&store.key)
        .send();
    let waiting = tokio::spawn(waiting);
    store.followers(1).await;
    let stopped = store.server.stop();
    let page = soon(waiting).await.unwrap().unwrap();
    assert_eq!(
        (page.status().as_u16(), page.headers().contains_key("link")),
        (200, true)
    );
    soon(stopped).await.unwrap();
}

#[tokio::test]
async fn the_first_page_of_animals_links_to_the_changes_since_then() {
    let store = Store::open().await;
    let first = store.add("Rex", "available").await;
    store.add("Frank", "available").await;
    let page = store.get("/pets?limit=1").await;
    assert_eq!(page.ids(), [first]);
    store.withdraw(first, 1).await.ok();
    let changes = store.get(&page.following("changes")).await;
    assert_eq!(
        changes.changes(),
        [change(3, "pet.withdrawn", &format!("pet:{first}"), 2)]
    );
    // Only the first page, even if the list has no second page.
    let second = store
        .get(page.next().unwrap().strip_prefix("/v1/store").unwrap())
        .await;
    assert_eq!(second.link("changes"), None);
    let only = store.get("/pets?withdrawn=true").await;
    assert_eq!((only.next(), only.link("changes").is_some()), (None, true));
}
