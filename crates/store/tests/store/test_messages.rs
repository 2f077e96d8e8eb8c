//! Tests of the test messages of webhooks. Part of the suite.

use futures_util::future::join_all;
use petstore_domain::{
    IdempotencyKey, IdempotentRequest, StoredResponse, WriteContext,
    store_area::{TestMessage, WebhookChange, WebhookId},
};
use petstore_store::WriteOutcome;
use petstore_testing::stores::{AnyStore, act, at, new_key};

use crate::webhooks::{add, write};

/// Makes a test of every function, as [`crate::suite::suite`] does.
macro_rules! test_message_suite {
    ($open:expr) => {
        $crate::test_messages::test_message_suite!(
            $open,
            a_test_message_waits_until_one_of_those_who_want_it_takes_it,
            at_most_64_test_messages_wait_for_all_webhooks,
            at_most_64_test_messages_wait_although_many_are_added_at_once,
            a_deleted_webhook_takes_its_test_messages_along,
            a_repeated_request_for_a_test_message_adds_no_other_one
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::test_messages::$test(store).await;
        })*
    };
}
pub(crate) use test_message_suite;

pub(crate) fn message(webhook: WebhookId, number: usize) -> TestMessage {
    TestMessage {
        webhook,
        message_id: format!("msg_{number:03}"),
    }
}

async fn send(store: &AnyStore, webhook: WebhookId, number: usize) -> WriteOutcome {
    write(store, WebhookChange::Test(message(webhook, number))).await
}

/// The messages that wait, in the order of their numbers.
pub(crate) async fn waiting(store: &AnyStore) -> Vec<TestMessage> {
    let mut waiting = store.waiting_tests().await.unwrap();
    waiting.sort_by(|one, other| one.message_id.cmp(&other.message_id));
    waiting
}

pub(crate) async fn take(store: &AnyStore, number: usize) -> bool {
    store
        .take_test(message(WebhookId(0), number).message_id)
        .await
        .unwrap()
}

pub(crate) async fn a_test_message_waits_until_one_of_those_who_want_it_takes_it(store: AnyStore) {
    let (first, second) = (add(&store).await, add(&store).await);
    for (webhook, number) in [(second, 1), (first, 2), (first, 3)] {
        assert_eq!(send(&store, webhook, number).await, WriteOutcome::Done);
    }
    assert_eq!(
        waiting(&store).await,
        [message(second, 1), message(first, 2), message(first, 3)]
    );
    let taken = join_all((0..8).map(|_| take(&store, 2))).await;
    assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
    assert_eq!(
        waiting(&store).await,
        [message(second, 1), message(first, 3)]
    );
    assert!(!take(&store, 4).await);
}

pub(crate) async fn at_most_64_test_messages_wait_for_all_webhooks(store: AnyStore) {
    let webhooks = [add(&store).await, add(&store).await];
    for number in 0..64 {
        assert_eq!(
            send(&store, webhooks[number % 2], number).await,
            WriteOutcome::Done
        );
    }
    assert_eq!(send(&store, webhooks[0], 64).await, WriteOutcome::Full);
    assert_eq!(waiting(&store).await.len(), 64);
    assert!(take(&store, 7).await);
    assert_eq!(send(&store, webhooks[0], 64).await, WriteOutcome::Done);
}

pub(crate) async fn at_most_64_test_messages_wait_although_many_are_added_at_once(store: AnyStore) {
    let ids = [add(&store).await, add(&store).await];
    join_all((0..63).map(|number| send(&store, ids[number % 2], number))).await;
    let sent = join_all((63..71).map(|number| send(&store, ids[number % 2], number))).await;
    assert_eq!(
        sent.iter()
            .filter(|written| **written == WriteOutcome::Done)
            .count(),
        1
    );
    assert_eq!(waiting(&store).await.len(), 64);
}

pub(crate) async fn a_deleted_webhook_takes_its_test_messages_along(store: AnyStore) {
    let (id, other) = (add(&store).await, add(&store).await);
    send(&store, id, 1).await;
    send(&store, other, 2).await;
    let delete = WebhookChange::Delete { id, version: 1 };
    assert_eq!(write(&store, delete).await, WriteOutcome::Done);
    assert_eq!(waiting(&store).await, [message(other, 2)]);
    assert_eq!(send(&store, id, 3).await, WriteOutcome::Stale);
    assert_eq!(waiting(&store).await, [message(other, 2)]);
}

pub(crate) async fn a_repeated_request_for_a_test_message_adds_no_other_one(store: AnyStore) {
    let id = add(&store).await;
    let caller = store.create_key(new_key(1, None), act(0)).await.unwrap().id;
    let request = IdempotentRequest {
        caller: caller.into(),
        lineage: caller.into(),
        operation: "testWebhook",
        key: IdempotencyKey::new("first".to_owned()).unwrap(),
        fingerprint: [1; 32],
    };
    // The first one, at the same time as others: as if all responses were lost.
    let repeat = async |number: usize| {
        let body = number.to_string().into_bytes();
        let response = StoredResponse {
            status: 202,
            body,
            ..StoredResponse::default()
        };
        let context = WriteContext {
            now: at(20),
            idempotency: Some(request.clone()),
            ..act(20)
        };
        let change = WebhookChange::Test(message(id, number));
        store
            .write_webhook(change, None, response, context)
            .await
            .unwrap()
    };
    let written = join_all((1..=8).map(&repeat)).await;
    let done = written
        .iter()
        .position(|written| *written == WriteOutcome::Done)
        .unwrap();
    let first = done + 1;
    assert_eq!(waiting(&store).await, [message(id, first)]);
    // The number of the first one is in the response to all.
    for written in written
        .into_iter()
        .filter(|written| *written != WriteOutcome::Done)
    {
        let WriteOutcome::Replayed(response) = written else {
            panic!("{written:?}")
        };
        assert_eq!(response.body, first.to_string().into_bytes());
    }
    // Also when it was sent meanwhile.
    assert!(take(&store, first).await);
    assert!(matches!(repeat(9).await, WriteOutcome::Replayed(_)));
    assert_eq!(waiting(&store).await, []);
}
