//! The share of each endpoint: others that hang or fail do not delay it.

use std::time::Duration;

use petstore_app::delivery::Dispatcher;
use petstore_domain::{Clock, store_area::Attempt};

use super::{
    receiver::{Message, Receiver},
    shop::Shop,
};

/// How much of the test's clock passes in a step. The leases last for many of them.
const STEP: Duration = Duration::from_millis(10);

/// No attempt reaches its limit.
const NO_LIMIT: Duration = Duration::from_hours(1);

async fn until(shop: &Shop, dispatcher: &mut Dispatcher, condition: impl Fn() -> bool) {
    shop.until_in_steps(dispatcher, STEP, condition).await;
}

/// Passes 14.9 seconds, after which the receivers accept what they have not responded to. The leases
/// are renewed in between.
async fn respond_late(shop: &Shop, dispatcher: &mut Dispatcher, receivers: &[Receiver]) {
    let end = shop.clock.instant() + Duration::from_millis(14_900);
    let second = Duration::from_secs(1);
    shop.until_in_steps(dispatcher, second, || shop.clock.instant() >= end)
        .await;
    receivers.iter().for_each(Receiver::release);
}

/// Receivers that are bad in different ways after the first `good` changes.
async fn bad_receivers(good: i64) -> Vec<Receiver> {
    let kinds: [fn(i64, i64) -> Option<u16>; 7] = [
        |_, _| None,
        |seq, good| (seq <= good).then_some(204),
        |seq, good| (seq <= good).then_some(500),
        |seq, good| (seq <= good || seq % 2 == 0).then_some(204),
        |seq, good| (seq <= good || seq % 3 == 0).then_some(204),
        |seq, good| (seq <= good || seq % 4 == 0).then_some(503),
        |_, _| Some(302),
    ];
    let mut receivers = Vec::new();
    for kind in kinds {
        let receiver = Receiver::start().await;
        receiver.respond(move |message: &Message| {
            let seq = message.json()["data"]["seq"].as_i64().unwrap_or(i64::MAX);
            Some((kind(seq, good)?, String::new()))
        });
        receivers.push(receiver);
    }
    receivers
}

#[tokio::test]
async fn an_endpoint_waits_for_none_of_99_bad_ones() {
    const GOOD: i64 = 2;
    let shop = Shop::open().await;
    let (healthy, bad) = (Receiver::start().await, bad_receivers(GOOD).await);
    shop.add_webhook(healthy.url(), None).await;
    let silent = shop.add_webhook(bad[0].url(), None).await.0;
    for number in 1..99 {
        // Many on one host, and some whose name has no end.
        let url = match number % 8 {
            7 => bad[0].url().replace("127.0.0.1", "hangs.example"),
            kind => bad[kind].url(),
        };
        shop.add_webhook(url, None).await;
    }
    let mut dispatcher = shop.patient_dispatcher(1, NO_LIMIT);
    let held = || bad.iter().map(Receiver::held).sum::<usize>();
    for round in 1..=20 {
        if round == 10 {
            for _ in 0..64 {
                shop.send_test(silent).await;
            }
        }
        if round % 5 == 0 {
            respond_late(&shop, &mut dispatcher, &bad).await;
        }
        shop.add_pet().await;
        until(&shop, &mut dispatcher, || healthy.accepted().len() == round).await;
        assert!(held() <= 4 * 99 + 64);
    }
    until(&shop, &mut dispatcher, || held() >= 30).await;
}

#[tokio::test]
async fn an_endpoint_waits_for_none_of_99_that_hang_with_a_full_share() {
    let shop = Shop::open().await;
    let (healthy, bad) = (Receiver::start().await, Receiver::start().await);
    bad.respond(|message| (message.seq() == 1).then(|| (204, String::new())));
    for _ in 0..99 {
        shop.add_webhook(bad.url(), None).await;
    }
    shop.add_webhook(healthy.url(), None).await;
    let mut dispatcher = shop.patient_dispatcher(1, NO_LIMIT);
    shop.add_pet().await;
    until(&shop, &mut dispatcher, || bad.accepted().len() == 99).await;
    for round in 2..=10 {
        shop.add_pet().await;
        until(&shop, &mut dispatcher, || healthy.accepted().len() == round).await;
    }
    // There are nine messages for each, of which four are in flight.
    until(&shop, &mut dispatcher, || bad.held() >= 4 * 99).await;
    shop.work(&mut dispatcher, Duration::from_secs(1)).await;
    assert_eq!(bad.held(), 4 * 99);
}

#[tokio::test]
async fn a_slow_endpoint_waits_for_none_of_99_that_hang() {
    let shop = Shop::open().await;
    let (slow, bad) = (Receiver::start().await, Receiver::start().await);
    slow.respond(|_| None);
    bad.respond(|_| None);
    for _ in 0..99 {
        shop.add_webhook(bad.url(), None).await;
    }
    let mut dispatcher = shop.patient_dispatcher(1, NO_LIMIT);
    shop.add_pet().await;
    until(&shop, &mut dispatcher, || bad.held() == 99).await;
    let (id, _) = shop.add_webhook(slow.url(), None).await;
    for _ in 0..4 {
        shop.add_pet().await;
        until(&shop, &mut dispatcher, || slow.held() == 1).await;
        // No other attempt ends while the slow endpoint needs two seconds.
        shop.work(&mut dispatcher, Duration::from_secs(2)).await;
        slow.release();
        until(&shop, &mut dispatcher, || slow.held() == 0).await;
    }
    shop.work(&mut dispatcher, Duration::from_secs(1)).await;
    let attempts = shop.store.list_attempts(id, 0, 10).await.unwrap();
    let is_slow = |attempt: &Attempt| attempt.status == Some(204) && attempt.duration_ms >= 2_000;
    assert!(attempts.len() == 4 && attempts.iter().all(|(_, attempt)| is_slow(attempt)));
    assert_eq!((bad.held(), bad.all().len()), (99, 99));
}

#[tokio::test]
async fn a_new_endpoint_waits_for_no_attempt_of_99_others_that_hang() {
    let shop = Shop::open().await;
    let (new, slow) = (Receiver::start().await, Receiver::start().await);
    slow.respond(|_| None);
    for _ in 0..99 {
        shop.add_webhook(slow.url(), None).await;
    }
    let mut dispatcher = shop.patient_dispatcher(1, NO_LIMIT);
    shop.add_pet().await;
    // Each has its message, although none of the attempts has ended.
    until(&shop, &mut dispatcher, || slow.held() == 99).await;
    shop.add_webhook(new.url(), None).await;
    for round in 1..10 {
        shop.add_pet().await;
        until(&shop, &mut dispatcher, || new.accepted().len() == round).await;
    }
    // No attempt of the others ended for it.
    assert_eq!((slow.held(), slow.all().len()), (99, 99));
}

#[tokio::test]
async fn an_attempt_that_panics_is_a_failure_and_the_message_is_sent_again() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let url = receiver.url().replace("127.0.0.1", "panics.example");
    let (id, _) = shop.add_webhook(url, None).await;
    let mut dispatcher = shop.dispatcher(1);
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.accepted().len() == 1)
        .await;
    let attempts = shop.store.list_attempts(id, 0, 10).await.unwrap();
    assert!(attempts[0].1.error.is_some());
}
