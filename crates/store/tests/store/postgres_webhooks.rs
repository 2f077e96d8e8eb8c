//! Webhooks over PostgreSQL: when connections break.

use petstore_domain::{
    PetStatus::Available, StoredResponse, WriteContext, store_area::WebhookChange,
};
use petstore_store::WriteOutcome;
use petstore_testing::{
    proxy::Line,
    stores::{act, new_pet},
};

use crate::{
    postgres_faults::behind_a_line,
    retries::named,
    test_messages::{message, take, waiting},
    webhooks::add,
};

#[tokio::test]
async fn a_test_message_waits_once_whichever_response_is_lost() {
    for is_repeatable in [false, true] {
        let (store, line) = behind_a_line().await;
        let id = add(&store).await;
        let write = async |after| {
            let request = named(1, &format!("retry-{after}"), &new_pet("", 1, Available), 0);
            let idempotency = request.idempotency.filter(|_| is_repeatable);
            let context = WriteContext {
                idempotency,
                ..act(0)
            };
            let change = WebhookChange::Test(message(id, after));
            line.set(Line::LosesAnswer {
                after,
                then_up: true,
            });
            let response = StoredResponse::default();
            let written = store
                .write_webhook(change, None, response, context)
                .await
                .unwrap();
            let lost_one = line.line() == Line::Up;
            line.set(Line::Up);
            (written, lost_one)
        };
        let mut after = 0;
        loop {
            let (written, lost_one) = write(after).await;
            let replayed = WriteOutcome::Replayed(StoredResponse::default());
            let is_known = is_repeatable && written == replayed;
            assert!(
                written == WriteOutcome::Done || is_known,
                "{after}: {written:?}"
            );
            assert_eq!(waiting(&store).await, [message(id, after)]);
            assert!(take(&store, after).await);
            if is_repeatable {
                assert_eq!(write(after).await.0, replayed);
                assert_eq!(waiting(&store).await, []);
            }
            if !lost_one {
                // The count is two answers, and the transaction another one, or several.
                assert!(after > 2, "{after}");
                break;
            }
            after += 1;
        }
    }
}
