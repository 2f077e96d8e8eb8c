//! Endpoints that fail or are silent, and processes that end.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::SignedDuration;
use petstore_domain::{
    Clock,
    store_area::{DeliveryUpdate, DisabledReason, Lease, RestartPoint, WaitingMessage, WebhookId},
};
use tokio::task;

use super::{
    receiver::{Message, Receiver},
    shop::{STEP, Shop, chain_is_complete},
};

#[tokio::test]
async fn after_changes_that_the_log_has_lost_the_next_message_names_one_that_was_never_sent() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    shop.pass(&mut dispatcher, Duration::ZERO).await;
    let stored = shop.webhook(id).await;
    shop.write(
        stored
            .disable(DisabledReason::Request, shop.clock.now())
            .unwrap(),
    )
    .await;
    shop.work(&mut dispatcher, Duration::from_secs(20)).await;
    for _ in 0..3 {
        shop.add_pet().await;
    }
    assert_eq!(shop.store.journal_state().await.unwrap().last, 4);
    shop.advance(STEP);
    let now = shop.clock.now();
    while shop.store.forget_changes(now..=now, 1).await.unwrap() > 0 {}
    assert_eq!(shop.store.journal_state().await.unwrap().first, 4);
    let stored = shop.webhook(id).await;
    let (_, enable) = stored
        .enable(RestartPoint::Resume(shop.clock.now()), shop.clock.now())
        .unwrap();
    shop.write(enable).await;
    shop.until(&mut dispatcher, || receiver.all().len() == 2)
        .await;
    let all = receiver.all();
    assert_eq!((all[0].seq(), all[1].seq()), (1, 4));
    assert!(!chain_is_complete(&all));
}

#[tokio::test]
async fn a_response_with_410_disables_at_once_and_resume_sends_what_was_missed() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    shop.disable_by_410(id, &receiver, &mut dispatcher).await;
    let disabled = shop.webhook(id).await;
    assert_eq!(disabled.webhook.disabled, Some(DisabledReason::Gone));
    receiver.respond_with(204);
    for _ in 0..3 {
        shop.add_pet().await;
    }
    shop.work(&mut dispatcher, Duration::from_secs(20)).await;
    assert_eq!(receiver.all().len(), 1);
    let (_, enable) = disabled
        .enable(RestartPoint::Resume(shop.clock.now()), shop.clock.now())
        .unwrap();
    shop.write(enable).await;
    shop.until(&mut dispatcher, || receiver.accepted().len() == 4)
        .await;
    assert!(chain_is_complete(&receiver.accepted()));
}

#[tokio::test]
async fn a_response_with_410_to_a_test_message_disables_too() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    receiver.respond_with(410);
    shop.send_test(id).await;
    shop.until_disabled(id, &mut dispatcher).await;
    shop.add_pet().await;
    shop.work(&mut dispatcher, 10 * STEP).await;
    let disabled = shop.webhook(id).await.webhook;
    assert_eq!(
        (disabled.disabled, disabled.version),
        (Some(DisabledReason::Gone), 2)
    );
    assert_eq!(receiver.all().len(), 1);
}

#[tokio::test]
async fn five_days_of_failures_disable_and_from_now_leaves_a_gap_that_the_receiver_sees() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.accepted().len() == 1)
        .await;
    receiver.respond_with(302);
    shop.add_pet().await;
    let mut hours = 0;
    while shop.webhook(id).await.webhook.disabled.is_none() {
        shop.work(&mut dispatcher, 8 * STEP).await;
        shop.advance(Duration::from_hours(4));
        hours += 4;
        assert!(hours < 200);
    }
    assert!(hours >= 5 * 24, "{hours}");
    let disabled = shop.webhook(id).await;
    assert_eq!(disabled.webhook.disabled, Some(DisabledReason::Failures));
    // The steps of the schedule, and then each day.
    assert!(
        (8..=14).contains(&(receiver.all().len() - 1)),
        "{}",
        receiver.all().len()
    );
    let attempts = shop.store.list_attempts(id, 1, 10).await.unwrap();
    assert_eq!(
        (attempts[0].1.status, attempts[0].1.error.as_deref()),
        (Some(302), Some("redirect"))
    );
    receiver.respond_with(204);
    let last = shop.store.journal_state().await.unwrap().last;
    let (_, enable) = disabled
        .enable(RestartPoint::After(last), shop.clock.now())
        .unwrap();
    shop.write(enable).await;
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.accepted().len() == 2)
        .await;
    let accepted = receiver.accepted();
    assert_eq!(
        accepted.iter().map(Message::seq).collect::<Vec<_>>(),
        [1, 3]
    );
    assert!(!chain_is_complete(&accepted));
}

#[tokio::test]
async fn a_wrong_clock_disables_no_webhook_and_delays_no_message_for_years() {
    for days in [500, -500] {
        let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
        shop.add_pet().await;
        shop.until(&mut dispatcher, || receiver.accepted().len() == 1)
            .await;
        // Only a clock that is behind begins to count the failures.
        let wrong = SignedDuration::from_hours(24 * days);
        let set = |by| shop.clock.set(shop.clock.now() + by);
        receiver.respond_with(500);
        shop.add_pet().await;
        if days > 0 {
            shop.until(&mut dispatcher, || receiver.all().len() == 2)
                .await;
            shop.work(&mut dispatcher, 8 * STEP).await;
        }
        set(wrong);
        for _ in 0..40 {
            shop.work(&mut dispatcher, 8 * STEP).await;
            shop.advance(Duration::from_hours(4));
        }
        assert!(receiver.all().len() > 3, "{}", receiver.all().len());
        let stored = shop.webhook(id).await;
        assert_eq!(stored.webhook.disabled, None);
        set(-wrong);
        let failed = receiver.all().len();
        shop.until(&mut dispatcher, || receiver.all().len() > failed)
            .await;
        shop.work(&mut dispatcher, 8 * STEP).await;
        if days < 0 {
            // The clock is confirmed when the next attempt fails.
            shop.advance(Duration::from_hours(27));
            shop.until(&mut dispatcher, || receiver.all().len() > failed + 1)
                .await;
            shop.work(&mut dispatcher, 8 * STEP).await;
            let stored = shop.webhook(id).await;
            assert_eq!(stored.webhook.disabled, None);
            assert!(
                stored.progress.failing_since
                    > Some(shop.clock.now() - SignedDuration::from_hours(1))
            );
            receiver.respond_with(204);
            shop.advance(Duration::from_hours(27));
            shop.until(&mut dispatcher, || receiver.accepted().len() == 2)
                .await;
        }
    }
}

#[tokio::test]
async fn a_second_process_takes_over_within_15_seconds_after_the_first_one_died() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let (mut first, mut second) = (shop.dispatcher(1), shop.dispatcher(2));
    shop.add_pet().await;
    shop.until(&mut first, || receiver.all().len() == 1).await;
    let holder = shop.webhook(id).await.lease.holder;
    // While it lives, the other one sends nothing.
    for _ in 0..20 {
        shop.work(&mut first, 5 * STEP).await;
        shop.work(&mut second, 5 * STEP).await;
    }
    assert_eq!(shop.webhook(id).await.lease.holder, holder);
    // Its end without a word, as by kill -9.
    drop(first);
    shop.add_pet().await;
    let died = shop.clock.instant();
    shop.until(&mut second, || receiver.all().len() == 2).await;
    let took = shop.clock.instant() - died;
    assert!(took <= Duration::from_secs(15), "{took:?}");
    assert_ne!(shop.webhook(id).await.lease.holder, holder);
    assert!(chain_is_complete(&receiver.all()));
    // After a proper end, the next one starts at once.
    second.finish().await.unwrap();
    assert_eq!(shop.webhook(id).await.lease.holder, 0);
    let mut third = shop.dispatcher(3);
    shop.add_pet().await;
    let ended = shop.clock.instant();
    shop.until(&mut third, || receiver.all().len() == 3).await;
    assert!(shop.clock.instant() - ended <= Duration::from_secs(2));
}

#[tokio::test]
async fn endpoints_that_never_respond_slow_no_other() {
    let shop = Shop::open().await;
    let (receiver, silent) = (Receiver::start().await, Receiver::start().await);
    shop.add_webhook(receiver.url(), None).await;
    for _ in 0..50 {
        shop.add_webhook(silent.url(), None).await;
    }
    let mut dispatcher = shop.patient_dispatcher(1, Duration::from_hours(1));
    silent.respond_with(500);
    shop.add_pet().await;
    shop.until(&mut dispatcher, || silent.all().len() >= 50)
        .await;
    silent.respond(|_| None);
    shop.add_pet().await;
    // Each has one message in flight until the end of the test.
    shop.until(&mut dispatcher, || silent.held() == 50).await;
    for _ in 0..20 {
        shop.add_pet().await;
    }
    shop.until(&mut dispatcher, || receiver.accepted().len() == 22)
        .await;
    assert_eq!(silent.held(), 50);
}

#[tokio::test]
async fn an_endpoint_that_fails_gets_one_message_at_a_time_and_four_after_it_has_recovered() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    shop.add_webhook(receiver.url(), None).await;
    receiver.respond_with(500);
    for _ in 0..20 {
        shop.add_pet().await;
    }
    let seqs =
        |messages: Vec<Message>| -> HashSet<i64> { messages.iter().map(Message::seq).collect() };
    let mut dispatcher = shop.patient_dispatcher(1, Duration::from_hours(1));
    shop.until(&mut dispatcher, || seqs(receiver.all()).len() == 20)
        .await;
    shop.pass(&mut dispatcher, Duration::from_hours(6)).await;

    // All 20 messages are due. Those without a response stay in flight.
    let in_flight = || {
        receiver
            .all()
            .iter()
            .filter(|message| message.status == 0)
            .count()
    };
    receiver.respond(|_| None);
    shop.work(&mut dispatcher, 10 * STEP).await;
    assert_eq!(in_flight(), 1);
    drop(dispatcher);

    let is_first = AtomicBool::new(true);
    receiver.respond(move |_| {
        is_first
            .swap(false, Ordering::Relaxed)
            .then(|| (204, String::new()))
    });
    let mut dispatcher = shop.patient_dispatcher(2, Duration::from_hours(1));
    shop.until(&mut dispatcher, || in_flight() == 1 + 4).await;
    shop.work(&mut dispatcher, 10 * STEP).await;
    assert_eq!((in_flight(), receiver.accepted().len()), (1 + 4, 1));
    drop(dispatcher);

    receiver.respond_with(204);
    let mut dispatcher = shop.dispatcher(3);
    shop.until(&mut dispatcher, || seqs(receiver.accepted()).len() == 20)
        .await;
    assert!(chain_is_complete(&receiver.accepted()));
}

#[tokio::test]
async fn what_waits_or_was_delivered_before_it_is_not_sent_again_when_the_log_is_read_again() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let pet = shop.add_pet().await;
    shop.rename(pet, "a").await;
    shop.add_pet().await;
    shop.rename(pet, "b").await;
    // The process that died had not delivered the third message, and was further with the animal
    // of the others: the first one was delivered, the second one failed.
    let lane = Some(format!("pet:{}", pet.get()));
    let waiting = [(2, 1, Some(shop.clock.now())), (4, 0, None)].map(|(seq, failures, due_at)| {
        WaitingMessage {
            seq,
            previous: Some(seq - 1),
            lane: lane.clone(),
            failures,
            due_at,
        }
    });
    let died = DeliveryUpdate {
        waiting: waiting.to_vec(),
        ..nothing(id)
    };
    assert_eq!(
        shop.store.save_deliveries(vec![died]).await.unwrap(),
        [true]
    );
    let mut dispatcher = shop.dispatcher(1);
    shop.until(&mut dispatcher, || receiver.all().len() == 3)
        .await;
    shop.rename(pet, "c").await;
    shop.until(&mut dispatcher, || receiver.all().len() == 4)
        .await;
    let seqs: Vec<i64> = receiver.all().iter().map(Message::seq).collect();
    let of_pet: Vec<i64> = seqs.iter().copied().filter(|seq| *seq != 3).collect();
    assert!(of_pet == [2, 4, 5] && seqs.contains(&3), "{seqs:?}");
}

/// A step is dropped when it takes too long, for example because the database hangs.
#[tokio::test]
async fn steps_that_are_dropped_while_they_wait_lose_no_message() {
    const MESSAGES: i64 = 40;
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let pet = shop.add_pet().await;
    // Messages of an earlier process, so each change has to be read again.
    let mut waiting = Vec::new();
    for seq in 2..2 + MESSAGES {
        shop.rename(pet, &format!("Rex {seq}")).await;
        waiting.push(WaitingMessage {
            seq,
            previous: Some(seq - 1),
            lane: None,
            failures: 1,
            due_at: Some(shop.clock.now()),
        });
    }
    let died = DeliveryUpdate {
        waiting,
        ..nothing(id)
    };
    assert_eq!(
        shop.store.save_deliveries(vec![died]).await.unwrap(),
        [true]
    );
    let mut dispatcher = shop.dispatcher(1);
    for round in 0..200 {
        let mut step = Box::pin(dispatcher.step());
        for _ in 0..=round % 10 {
            if futures_util::poll!(step.as_mut()).is_ready() {
                break;
            }
            // Lets the response of the database arrive, so that the next poll goes on.
            for _ in 0..500 {
                task::yield_now().await;
            }
        }
    }
    let delivered = || -> BTreeSet<i64> { receiver.all().iter().map(Message::seq).collect() };
    shop.until(&mut dispatcher, || {
        delivered() == (1..2 + MESSAGES).collect()
    })
    .await;
}

/// Takes the lease of a webhook, which nobody has, and gives it back.
fn nothing(webhook: WebhookId) -> DeliveryUpdate {
    DeliveryUpdate {
        webhook,
        seen_lease: Lease::default(),
        lease: Lease { holder: 0, beat: 1 },
        progress: None,
        waiting: vec![],
        done: vec![],
        attempts: vec![],
        forget_before: None,
        disable: None,
    }
}

#[tokio::test]
async fn while_10000_messages_wait_no_more_are_read_and_none_is_lost() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    // Of changes that the log no longer has, so the only one that is due in this test is dropped.
    let waiting = |seq| {
        let due_at = shop.clock.now() + Duration::from_hours(if seq == 0 { 1 } else { 26 });
        WaitingMessage {
            seq,
            previous: None,
            lane: None,
            failures: 1,
            due_at: Some(due_at),
        }
    };
    let full = DeliveryUpdate {
        waiting: (-9_999..=0).map(waiting).collect(),
        ..nothing(id)
    };
    assert_eq!(
        shop.store.save_deliveries(vec![full]).await.unwrap(),
        [true]
    );
    let mut dispatcher = shop.dispatcher(1);
    for _ in 0..3 {
        shop.add_pet().await;
    }
    shop.work(&mut dispatcher, Duration::from_mins(1)).await;
    assert_eq!(
        (receiver.all().len(), shop.webhook(id).await.progress.cursor),
        (0, 0)
    );
    shop.advance(Duration::from_hours(1));
    shop.until(&mut dispatcher, || receiver.accepted().len() == 3)
        .await;
    assert!(chain_is_complete(&receiver.accepted()));
}

#[tokio::test]
async fn messages_of_one_animal_arrive_in_order_through_failures_and_sudden_ends() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    // A third fails, by a counter.
    let count = Mutex::new(0_u32);
    receiver.respond(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        Some((
            if count.is_multiple_of(3) { 500 } else { 204 },
            String::new(),
        ))
    });
    shop.add_webhook(receiver.url(), None).await;
    let mut pets = Vec::new();
    for seed in 0..5 {
        let mut dispatcher = shop.dispatcher(seed);
        for _ in 0..4 {
            pets.push(shop.add_pet().await);
        }
        for pet in &pets {
            shop.rename(*pet, &format!("name {seed}")).await;
        }
        // Killed in the middle, and another process continues.
        let before = receiver.all().len();
        shop.until(&mut dispatcher, || receiver.all().len() > before + 7)
            .await;
        drop(dispatcher);
        shop.advance(Duration::from_secs(1));
    }
    let last = shop.store.journal_state().await.unwrap().last;
    let mut dispatcher = shop.dispatcher(9);
    let is_complete = || {
        let seqs: HashSet<i64> = receiver.accepted().iter().map(Message::seq).collect();
        i64::try_from(seqs.len()) == Ok(last)
    };
    // Failed messages wait for minutes.
    for _ in 0..40 {
        if is_complete() {
            break;
        }
        shop.work(&mut dispatcher, Duration::from_secs(2)).await;
        shop.advance(Duration::from_hours(2));
    }
    assert!(is_complete());
    assert!(chain_is_complete(&receiver.accepted()));
    // A receiver that ignores what it has already sees each animal's changes in order.
    let mut seen = HashSet::new();
    let mut latest: HashMap<i64, i64> = HashMap::new();
    let mut ids: HashMap<i64, String> = HashMap::new();
    for message in receiver.accepted() {
        assert_eq!(
            ids.entry(message.seq()).or_insert(message.id.clone()),
            &message.id
        );
        if seen.insert(message.id.clone()) {
            let before = latest.insert(message.pet(), message.seq());
            assert!(
                before < Some(message.seq()),
                "{} after {before:?}",
                message.seq()
            );
        }
    }
}
