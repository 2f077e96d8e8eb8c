//! Tests of the webhooks of a store. Part of the suite.

use futures_util::future::join_all;
use petstore_domain::{
    IdempotencyKey, IdempotentRequest,
    PetStatus::Available,
    StoredResponse, WriteContext,
    store_area::{
        Act, ActType, Attempt, AuditEntry, AuditQuery, ChangeType, DeliveryProgress,
        DeliveryUpdate, DisabledReason, Label, Lease, RestartPoint, RetiredSecret, SealedSecrets,
        StoredWebhook, WaitingMessage, Webhook, WebhookChange, WebhookId,
    },
};
use petstore_store::{KEPT_ATTEMPTS, StoreError, WriteOutcome};
use petstore_testing::stores::{AnyStore, act, at, create, new_key, new_pet};

/// Makes a test of every function, as [`crate::suite::suite`] does.
macro_rules! webhook_suite {
    ($open:expr) => {
        $crate::webhooks::webhook_suite!(
            $open,
            a_webhook_is_read_as_it_was_added_and_changed,
            a_change_of_another_version_changes_nothing,
            there_are_at_most_100_webhooks_and_no_identifier_is_given_twice,
            there_are_at_most_100_webhooks_although_many_are_added_at_once,
            a_repeated_request_for_a_webhook_replays_its_response,
            a_lease_is_taken_by_one_of_those_who_saw_it_free,
            what_was_delivered_is_saved_only_with_the_lease,
            a_change_by_a_request_ends_the_lease,
            the_act_of_a_change_comes_after_the_changes_before_it,
            an_enabled_webhook_resumes_or_starts_from_now,
            what_an_enabled_webhook_still_needs_of_the_log_is_not_forgotten,
            a_deleted_webhook_takes_its_messages_and_attempts_along,
            the_newest_10000_attempts_are_kept_and_none_that_is_too_old
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::webhooks::$test(store).await;
        })*
    };
}
pub(crate) use webhook_suite;

fn new(id: WebhookId) -> StoredWebhook {
    StoredWebhook {
        webhook: Webhook {
            id,
            url: "https://shop.example/hooks".to_owned(),
            types: Some(vec![
                ChangeType::PetChanged.into(),
                ChangeType::OrderPlaced.into(),
            ]),
            description: Label::new("The web shop".to_owned()),
            disabled: None,
            created_at: at(10),
            updated_at: at(10),
            version: 1,
        },
        secrets: SealedSecrets {
            current: vec![1, 2, 3],
            previous: None,
        },
        progress: DeliveryProgress {
            cursor: 7,
            last: None,
            failing_since: None,
        },
        lease: Lease::default(),
    }
}

pub(crate) async fn write(store: &AnyStore, change: WebhookChange) -> WriteOutcome {
    // On a busy machine, many writes at once can find no free connection within a second.
    loop {
        match store
            .write_webhook(change.clone(), None, StoredResponse::default(), act(20))
            .await
        {
            Err(StoreError::Overloaded) => {}
            written => return written.unwrap(),
        }
    }
}

pub(crate) async fn add(store: &AnyStore) -> WebhookId {
    let id = store.draw_webhook_id().await.unwrap();
    assert_eq!(
        write(store, WebhookChange::Add(new(id))).await,
        WriteOutcome::Done
    );
    id
}

async fn get(store: &AnyStore, id: WebhookId) -> Option<StoredWebhook> {
    let webhooks = store.list_webhooks().await.unwrap();
    webhooks.into_iter().find(|stored| stored.webhook.id == id)
}

/// Changes the description of a webhook.
fn change(stored: &StoredWebhook, restart: Option<RestartPoint>) -> WebhookChange {
    let mut after = stored.webhook.clone();
    after.version += 1;
    after.updated_at = at(30);
    after.description = None;
    WebhookChange::Update {
        after,
        secrets: stored.secrets.clone(),
        restart,
    }
}

fn update(webhook: WebhookId, seen: Lease, lease: Lease) -> DeliveryUpdate {
    DeliveryUpdate {
        webhook,
        seen_lease: seen,
        lease,
        progress: None,
        waiting: vec![],
        done: vec![],
        attempts: vec![],
        forget_before: None,
        disable: None,
    }
}

async fn save(store: &AnyStore, update: DeliveryUpdate) -> bool {
    store.save_deliveries(vec![update]).await.unwrap() == [true]
}

fn lease(holder: i64, beat: i64) -> Lease {
    Lease { holder, beat }
}

fn waiting(seq: i64, due: Option<i64>) -> WaitingMessage {
    let lane = Some("pet:7".to_owned());
    WaitingMessage {
        seq,
        previous: Some(seq - 1),
        lane,
        failures: 1,
        due_at: due.map(at),
    }
}

fn attempt(number: i64) -> Attempt {
    Attempt {
        message_id: format!("msg_{number}"),
        at: at(number),
        status: (number % 2 == 0).then_some(204),
        duration_ms: 15_000,
        error: (number % 2 == 1).then(|| "timeout".to_owned()),
    }
}

pub(crate) async fn a_webhook_is_read_as_it_was_added_and_changed(store: AnyStore) {
    let (first, second) = (add(&store).await, add(&store).await);
    assert!(second > first);
    assert_eq!(
        store.list_webhooks().await.unwrap(),
        [new(first), new(second)]
    );
    let mut after = new(first).webhook;
    after.version = 2;
    after.url = "https://till.example/".to_owned();
    after.types = None;
    after.description = None;
    after.disabled = Some(DisabledReason::Request);
    after.updated_at = at(30);
    let secrets = SealedSecrets {
        current: vec![4],
        previous: Some(RetiredSecret {
            sealed: vec![1, 2, 3],
            valid_until: at(40),
        }),
    };
    let changed = WebhookChange::Update {
        after: after.clone(),
        secrets: secrets.clone(),
        restart: None,
    };
    assert_eq!(write(&store, changed).await, WriteOutcome::Done);
    let read = get(&store, first).await.unwrap();
    assert_eq!((read.webhook, read.secrets), (after, secrets));
    assert_eq!(read.progress, new(first).progress);
    assert_eq!(get(&store, second).await, Some(new(second)));
}

pub(crate) async fn a_change_of_another_version_changes_nothing(store: AnyStore) {
    let id = add(&store).await;
    let stored = get(&store, id).await.unwrap();
    assert_eq!(
        write(&store, change(&stored, None)).await,
        WriteOutcome::Done
    );
    let changed = get(&store, id).await;
    // The same change again, and a deletion of the version before it.
    assert_eq!(
        write(&store, change(&stored, None)).await,
        WriteOutcome::Stale
    );
    let delete = WebhookChange::Delete { id, version: 1 };
    assert_eq!(write(&store, delete).await, WriteOutcome::Stale);
    assert_eq!(get(&store, id).await, changed);
    let delete = WebhookChange::Delete {
        id: WebhookId(id.0 + 1),
        version: 1,
    };
    assert_eq!(write(&store, delete).await, WriteOutcome::Stale);
}

pub(crate) async fn there_are_at_most_100_webhooks_and_no_identifier_is_given_twice(
    store: AnyStore,
) {
    let mut last = WebhookId(0);
    for _ in 0..Webhook::MAX {
        last = add(&store).await;
    }
    let id = store.draw_webhook_id().await.unwrap();
    assert_eq!(
        write(&store, WebhookChange::Add(new(id))).await,
        WriteOutcome::Full
    );
    let delete = WebhookChange::Delete {
        id: last,
        version: 1,
    };
    assert_eq!(write(&store, delete).await, WriteOutcome::Done);
    assert!(add(&store).await > id);
}

pub(crate) async fn there_are_at_most_100_webhooks_although_many_are_added_at_once(
    store: AnyStore,
) {
    join_all((1..Webhook::MAX).map(|_| add(&store))).await;
    let id = store.draw_webhook_id().await.unwrap();
    let adding = (id.0..id.0 + 8).map(|id| write(&store, WebhookChange::Add(new(WebhookId(id)))));
    let done = join_all(adding).await;
    assert_eq!(
        done.iter()
            .filter(|written| **written == WriteOutcome::Done)
            .count(),
        1
    );
    assert_eq!(store.list_webhooks().await.unwrap().len(), 100);
}

pub(crate) async fn a_repeated_request_for_a_webhook_replays_its_response(store: AnyStore) {
    let key = store.create_key(new_key(1, None), act(0)).await.unwrap().id;
    let request = |fingerprint| IdempotentRequest {
        caller: key.into(),
        lineage: key.into(),
        operation: "addWebhook",
        key: IdempotencyKey::new("first".to_owned()).unwrap(),
        fingerprint: [fingerprint; 32],
    };
    let response = StoredResponse {
        status: 201,
        body: vec![9, 8, 7],
        ..StoredResponse::default()
    };
    let add = async |fingerprint, response| {
        let id = store.draw_webhook_id().await.unwrap();
        let context = WriteContext {
            idempotency: Some(request(fingerprint)),
            ..act(20)
        };
        store
            .write_webhook(WebhookChange::Add(new(id)), None, response, context)
            .await
            .unwrap()
    };
    assert_eq!(store.recall_request(request(1)).await.unwrap(), None);
    assert_eq!(add(1, response.clone()).await, WriteOutcome::Done);
    let replayed = WriteOutcome::Replayed(response);
    assert_eq!(
        store.recall_request(request(1)).await.unwrap(),
        Some(replayed.clone())
    );
    assert_eq!(add(1, StoredResponse::default()).await, replayed);
    assert_eq!(
        add(2, StoredResponse::default()).await,
        WriteOutcome::IdempotencyConflict
    );
    assert_eq!(store.list_webhooks().await.unwrap().len(), 1);
}

pub(crate) async fn a_lease_is_taken_by_one_of_those_who_saw_it_free(store: AnyStore) {
    let id = add(&store).await;
    let free = Lease::default();
    let attempts = (1..=8).map(|holder| save(&store, update(id, free, lease(holder, 1))));
    let taken = futures_util::future::join_all(attempts).await;
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    let holder = (1..)
        .zip(&taken)
        .find_map(|(holder, taken)| taken.then_some(holder))
        .unwrap();
    assert_eq!(get(&store, id).await.unwrap().lease, lease(holder, 1));
    // It is renewed by its holder, and taken over by one who saw the last renewal.
    assert!(save(&store, update(id, lease(holder, 1), lease(holder, 2))).await);
    assert!(!save(&store, update(id, lease(holder, 1), lease(99, 2))).await);
    assert!(save(&store, update(id, lease(holder, 2), lease(99, 3))).await);
    assert!(!save(&store, update(WebhookId(id.0 + 1), free, lease(1, 1))).await);
}

pub(crate) async fn what_was_delivered_is_saved_only_with_the_lease(store: AnyStore) {
    let (id, other) = (add(&store).await, add(&store).await);
    let free = Lease::default();
    let progress = DeliveryProgress {
        cursor: 12,
        last: Some(11),
        failing_since: Some(at(50)),
    };
    let complete = |id, seen, next| DeliveryUpdate {
        progress: Some(progress),
        waiting: vec![waiting(9, Some(60)), waiting(10, None)],
        attempts: vec![attempt(1), attempt(2)],
        ..update(id, seen, next)
    };
    let updates = vec![
        complete(id, lease(5, 5), lease(5, 6)),
        complete(other, free, lease(1, 1)),
    ];
    assert_eq!(store.save_deliveries(updates).await.unwrap(), [false, true]);
    assert_eq!(get(&store, id).await, Some(new(id)));
    assert!(store.waiting_messages(id).await.unwrap().is_empty());
    assert!(store.list_attempts(id, 0, 10).await.unwrap().is_empty());
    assert_eq!(get(&store, other).await.unwrap().progress, progress);
    let kept = store.waiting_messages(other).await.unwrap();
    assert_eq!(kept, [waiting(9, Some(60)), waiting(10, None)]);
    let listed = store.list_attempts(other, 0, 10).await.unwrap();
    assert_eq!(listed, [(1, attempt(1)), (2, attempt(2))]);
    assert_eq!(
        store.list_attempts(other, 1, 10).await.unwrap(),
        [(2, attempt(2))]
    );
    assert_eq!(
        store.list_attempts(other, 0, 1).await.unwrap(),
        [(1, attempt(1))]
    );
    // A message that waits is changed, and one is done; the webhook is disabled.
    let later = WaitingMessage {
        failures: 2,
        ..waiting(10, Some(70))
    };
    let next = DeliveryUpdate {
        waiting: vec![later.clone()],
        done: vec![9],
        attempts: vec![attempt(3)],
        disable: Some((DisabledReason::Gone, at(80))),
        ..update(other, lease(1, 1), lease(1, 2))
    };
    assert!(save(&store, next).await);
    assert_eq!(store.waiting_messages(other).await.unwrap(), [later]);
    assert_eq!(
        store.list_attempts(other, 2, 10).await.unwrap(),
        [(3, attempt(3))]
    );
    let disabled = get(&store, other).await.unwrap();
    assert_eq!(disabled.webhook.disabled, Some(DisabledReason::Gone));
    assert_eq!(
        (disabled.webhook.version, disabled.webhook.updated_at),
        (2, at(80))
    );
    assert_eq!(disabled.progress, progress);
    store.add_attempt(other, attempt(4)).await.unwrap();
    assert_eq!(
        store.list_attempts(other, 3, 10).await.unwrap(),
        [(4, attempt(4))]
    );
}

pub(crate) async fn a_change_by_a_request_ends_the_lease(store: AnyStore) {
    let id = add(&store).await;
    assert!(save(&store, update(id, Lease::default(), lease(1, 1))).await);
    let stored = get(&store, id).await.unwrap();
    assert_eq!(
        write(&store, change(&stored, None)).await,
        WriteOutcome::Done
    );
    assert!(!save(&store, update(id, lease(1, 1), lease(1, 2))).await);
    let seen = get(&store, id).await.unwrap().lease;
    assert_eq!(seen.holder, 0);
    assert!(save(&store, update(id, seen, lease(1, seen.beat + 1))).await);
}

pub(crate) async fn the_act_of_a_change_comes_after_the_changes_before_it(store: AnyStore) {
    let id = store.draw_webhook_id().await.unwrap();
    create(&store, new_pet("Frank", 1, Available)).await;
    let added = Some(Act::for_webhook(ActType::WebhookAdded, id));
    let (add, response) = (WebhookChange::Add(new(id)), StoredResponse::default());
    let written = store
        .write_webhook(add, added, response, act(20))
        .await
        .unwrap();
    assert_eq!(written, WriteOutcome::Done);
    create(&store, new_pet("Zoe", 1, Available)).await;
    let disable = Some((DisabledReason::Gone, at(30)));
    let disabled = DeliveryUpdate {
        disable,
        ..update(id, Lease::default(), lease(1, 1))
    };
    assert!(save(&store, disabled).await);
    let query = AuditQuery {
        limit: 100,
        ..AuditQuery::default()
    };
    let (entries, _) = store.list_audit(&query).await.unwrap();
    let kinds = entries.iter().map(|entry| match entry {
        AuditEntry::Change(change) => change.kind.as_str(),
        AuditEntry::Act { act, .. } => act.kind.as_str(),
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(
        kinds,
        [
            "pet.added",
            "webhook.added",
            "pet.added",
            "webhook.disabled"
        ]
    );
}

pub(crate) async fn an_enabled_webhook_resumes_or_starts_from_now(store: AnyStore) {
    let id = add(&store).await;
    let progress = DeliveryProgress {
        cursor: 12,
        last: Some(11),
        failing_since: Some(at(50)),
    };
    let stopped = DeliveryUpdate {
        progress: Some(progress),
        waiting: vec![waiting(9, Some(600)), waiting(10, None)],
        ..update(id, Lease::default(), lease(1, 1))
    };
    assert!(save(&store, stopped).await);
    let stored = get(&store, id).await.unwrap();
    let resume = change(&stored, Some(RestartPoint::Resume(at(60))));
    assert_eq!(write(&store, resume).await, WriteOutcome::Done);
    let stored = get(&store, id).await.unwrap();
    assert_eq!(
        stored.progress,
        DeliveryProgress {
            failing_since: None,
            ..progress
        }
    );
    let due = [waiting(9, Some(60)), waiting(10, None)];
    assert_eq!(store.waiting_messages(id).await.unwrap(), due);
    let now = change(&stored, Some(RestartPoint::After(20)));
    assert_eq!(write(&store, now).await, WriteOutcome::Done);
    let stored = get(&store, id).await.unwrap();
    assert_eq!(
        stored.progress,
        DeliveryProgress {
            cursor: 20,
            last: Some(20),
            failing_since: None
        }
    );
    assert!(store.waiting_messages(id).await.unwrap().is_empty());
}

pub(crate) async fn what_an_enabled_webhook_still_needs_of_the_log_is_not_forgotten(
    store: AnyStore,
) {
    for _ in 0..9 {
        create(&store, new_pet("", 1, Available)).await;
    }
    assert_eq!(store.journal_state().await.unwrap().last, 9);
    let kept = async || {
        while store
            .forget_changes(at(1_000)..=at(1_000), 2)
            .await
            .unwrap()
            > 0
        {}
        store.journal_state().await.unwrap().first
    };
    // It has read up to 7, and two of these messages wait.
    let id = add(&store).await;
    let failing = DeliveryUpdate {
        waiting: vec![waiting(4, Some(600)), waiting(6, None)],
        ..update(id, Lease::default(), lease(1, 1))
    };
    assert!(save(&store, failing).await);
    assert_eq!(kept().await, 4);
    let delivered = DeliveryUpdate {
        done: vec![4, 6],
        ..update(id, lease(1, 1), lease(1, 2))
    };
    assert!(save(&store, delivered).await);
    assert_eq!(kept().await, 8);
    let disable = Some((DisabledReason::Gone, at(80)));
    assert!(
        save(
            &store,
            DeliveryUpdate {
                disable,
                ..update(id, lease(1, 2), lease(1, 3))
            }
        )
        .await
    );
    assert_eq!(kept().await, 9);
}

pub(crate) async fn a_deleted_webhook_takes_its_messages_and_attempts_along(store: AnyStore) {
    let id = add(&store).await;
    let full = DeliveryUpdate {
        waiting: vec![waiting(9, Some(600))],
        attempts: vec![attempt(1)],
        ..update(id, Lease::default(), lease(1, 1))
    };
    assert!(save(&store, full).await);
    let delete = WebhookChange::Delete { id, version: 1 };
    assert_eq!(write(&store, delete).await, WriteOutcome::Done);
    assert_eq!(get(&store, id).await, None);
    assert!(store.waiting_messages(id).await.unwrap().is_empty());
    assert!(store.list_attempts(id, 0, 10).await.unwrap().is_empty());
    assert!(!save(&store, update(id, lease(1, 1), lease(1, 2))).await);
}

pub(crate) async fn the_newest_10000_attempts_are_kept_and_none_that_is_too_old(store: AnyStore) {
    let id = add(&store).await;
    let some = |from: i64, seen, next| DeliveryUpdate {
        attempts: (from..from + KEPT_ATTEMPTS / 2).map(attempt).collect(),
        ..update(id, seen, next)
    };
    for round in 0..3 {
        let from = round * KEPT_ATTEMPTS / 2;
        let seen = lease(i64::from(round > 0), round);
        assert!(save(&store, some(from, seen, lease(1, round + 1))).await);
    }
    let kept = store.list_attempts(id, 0, 20_000).await.unwrap();
    assert_eq!(i64::try_from(kept.len()), Ok(KEPT_ATTEMPTS));
    assert_eq!(kept[0].1, attempt(KEPT_ATTEMPTS / 2));
    let before = KEPT_ATTEMPTS + 100;
    let forget = DeliveryUpdate {
        forget_before: Some(at(before)),
        ..update(id, lease(1, 3), lease(1, 4))
    };
    assert!(save(&store, forget).await);
    assert_eq!(
        store.list_attempts(id, 0, 1).await.unwrap()[0].1,
        attempt(before)
    );
}
