//! The delivery of messages, with a clock of the test.

use std::{collections::HashSet, sync::Arc, time::Duration};

use petstore_app::delivery::{Dispatcher, Secret, sign};
use petstore_domain::{
    Clock,
    store_area::{
        ChangeType, Command, NewOrder, OrderId, OrderTerms, Preconditions, WebhookChange,
    },
};
use petstore_store::WriteOutcome;
use tokio::join;

use super::{
    receiver::{Message, Receiver},
    shop::{STEP, Shop, chain_is_complete},
};

#[tokio::test]
async fn a_message_is_signed_and_has_the_whole_change_and_the_message_before_it() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    shop.add_pet().await;
    let (id, secret) = shop.add_webhook(receiver.url(), None).await;
    let mut dispatcher = shop.dispatcher(1);
    let pet = shop.add_pet().await;
    shop.rename(pet, "Frankie").await;
    shop.until(&mut dispatcher, || receiver.all().len() == 2)
        .await;
    let [added, changed] = &receiver.all()[..] else {
        panic!()
    };
    let json = added.json();
    assert_eq!(
        (&json["type"], added.pet()),
        (&"pet.added".into(), pet.get())
    );
    // Only what came after the webhook, so it is the first message.
    assert_eq!((added.seq(), added.previous()), (2, None));
    assert_eq!(
        (&json["data"]["version"], &json["data"]["before"]),
        (&1.into(), &().into())
    );
    assert_eq!(json["data"]["after"]["name"], "Frank");
    let json = changed.json();
    assert_eq!(json["type"], "pet.changed");
    assert_eq!(json["data"]["before"]["name"], "Frank");
    assert_eq!(json["data"]["after"]["name"], "Frankie");
    assert_eq!(changed.previous().as_ref(), Some(&added.id));
    assert!(json["data"].get("actor").is_none());
    for message in [added, changed] {
        let expected = sign([&secret], &message.id, message.timestamp, &message.body);
        assert_eq!(message.signature, expected);
        assert!(message.id.starts_with("msg_") && message.id.len() == 36);
    }
    shop.work(&mut dispatcher, 10 * STEP).await;
    assert_eq!(receiver.all().len(), 2);
    let stored = shop.webhook(id).await;
    assert_eq!((stored.progress.cursor, stored.progress.last), (3, Some(3)));
    let attempts = shop.store.list_attempts(id, 0, 10).await.unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        (attempts[0].1.status, &attempts[0].1.error),
        (Some(204), &None)
    );
}

#[tokio::test]
async fn a_reopened_order_is_a_message_with_the_order_before_and_after() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (pet, id) = (shop.add_pet().await, OrderId::new(1).unwrap());
    let types = vec![ChangeType::OrderReopened];
    shop.add_webhook(receiver.url(), Some(types)).await;
    shop.execute(Command::PlaceOrder(NewOrder::new(
        pet,
        OrderTerms::Completed,
    )))
    .await;
    let (default_end, preconditions) = (shop.clock.now(), Preconditions::default());
    let expires_at = Some(default_end.checked_add(STEP * 600).unwrap());
    shop.execute(Command::ReopenOrder {
        id,
        expires_at,
        default_end,
        preconditions,
    })
    .await;
    shop.until(&mut shop.dispatcher(1), || receiver.all().len() == 1)
        .await;
    let json = receiver.all()[0].json();
    assert_eq!(json["type"], "order.reopened");
    assert_eq!(json["data"]["before"]["status"], "completed");
    assert_eq!(json["data"]["after"]["status"], "reserved");
}

#[tokio::test]
async fn a_failed_message_waits_with_those_of_its_animal_and_others_go_on() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    let (first, second) = (shop.add_pet().await, shop.add_pet().await);
    let bad = first.get();
    receiver.respond(move |message| {
        let status = if message.pet() == bad { 500 } else { 204 };
        Some((status, String::new()))
    });
    shop.rename(first, "a").await;
    shop.rename(second, "b").await;
    shop.until(&mut dispatcher, || receiver.accepted().len() == 2)
        .await;
    shop.work(&mut dispatcher, 10 * STEP).await;
    // The second change of the first animal waits behind its first one.
    let seqs = |messages: Vec<Message>| -> Vec<i64> { messages.iter().map(Message::seq).collect() };
    assert_eq!(seqs(receiver.accepted()), [2, 4]);
    assert_eq!(
        seqs(receiver.all()).iter().filter(|seq| **seq != 1).count(),
        2
    );
    assert_eq!(shop.webhook(id).await.progress.cursor, 4);
    let waiting = shop.store.waiting_messages(id).await.unwrap();
    let waiting: Vec<_> = waiting
        .iter()
        .map(|waiting| (waiting.seq, waiting.failures, waiting.due_at.is_some()))
        .collect();
    assert_eq!(waiting, [(1, 1, true), (3, 0, false)]);
    // The schedule: not before 5 s, then not before 5 min.
    shop.until(&mut dispatcher, || receiver.all().len() == 4)
        .await;
    let all = receiver.all();
    let tries: Vec<_> = all.iter().filter(|message| message.seq() == 1).collect();
    assert_eq!(tries.len(), 2);
    assert_eq!(tries[0].id, tries[1].id);
    assert!((5..=7).contains(&(tries[1].timestamp - tries[0].timestamp)));
    shop.pass(&mut dispatcher, Duration::from_secs(280)).await;
    shop.work(&mut dispatcher, 10 * STEP).await;
    assert_eq!(receiver.all().len(), 4);
    receiver.respond_with(204);
    shop.advance(Duration::from_mins(1));
    shop.until(&mut dispatcher, || receiver.all().len() == 6)
        .await;
    assert_eq!(seqs(receiver.accepted()), [2, 4, 1, 3]);
    assert!(chain_is_complete(&receiver.accepted()));
    shop.work(&mut dispatcher, 10 * STEP).await;
    assert!(shop.store.waiting_messages(id).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_the_wanted_types_become_messages_and_links_of_their_chain() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    shop.add_webhook(receiver.url(), Some(vec![ChangeType::PetChanged]))
        .await;
    let mut dispatcher = shop.dispatcher(1);
    let pets = [shop.add_pet().await, shop.add_pet().await];
    for pet in pets {
        shop.rename(pet, "b").await;
    }
    shop.until(&mut dispatcher, || receiver.all().len() == 2)
        .await;
    let all = receiver.all();
    assert_eq!(
        all.iter().map(Message::seq).collect::<HashSet<_>>(),
        [3, 4].into()
    );
    assert!(chain_is_complete(&all));
}

#[tokio::test]
async fn a_change_of_a_later_release_becomes_a_message_unless_types_were_chosen() {
    let shop = Shop::open().await;
    let (all, chosen, later) = (
        Receiver::start().await,
        Receiver::start().await,
        Receiver::start().await,
    );
    shop.add_webhook(all.url(), None).await;
    shop.add_webhook(chosen.url(), Some(vec![ChangeType::PetChanged]))
        .await;
    let (id, _) = shop
        .add_webhook(later.url(), Some(vec![ChangeType::PetChanged]))
        .await;
    let types = format!("UPDATE webhooks SET types = 'photo.added' WHERE id = {id}");
    shop.database.execute(&types).await;
    let mut dispatcher = shop.dispatcher(1);
    let pet = shop.add_pet().await;
    shop.database.log_of_later_release(pet.get()).await;
    shop.rename(pet, "b").await;
    shop.until(&mut dispatcher, || {
        all.all().len() == 3 && chosen.all().len() == 1
    })
    .await;
    let types = |receiver: &Receiver| -> Vec<String> {
        let all = receiver.all();
        all.iter()
            .map(|message| message.json()["type"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(types(&all), ["pet.added", "photo.added", "pet.changed"]);
    assert_eq!(types(&chosen), ["pet.changed"]);
    assert_eq!(types(&later), ["photo.added"]);
    assert!(chain_is_complete(&all.all()));
}

#[tokio::test]
async fn retry_after_lengthens_the_pause() {
    let (shop, receiver, _, mut dispatcher) = Shop::with_webhook().await;
    receiver.respond(|_| Some((503, "Retry-After: 30\r\n".to_owned())));
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 2)
        .await;
    let all = receiver.all();
    assert!((30..=35).contains(&(all[1].timestamp - all[0].timestamp)));
}

#[tokio::test]
async fn a_process_looks_at_the_log_often_only_while_there_are_changes() {
    let (shop, receiver, _, mut dispatcher) = Shop::with_webhook().await;
    let waits_long =
        |dispatcher: &Dispatcher| dispatcher.poll_interval() >= Duration::from_millis(200);
    shop.work(&mut dispatcher, 5 * STEP).await;
    assert!(waits_long(&dispatcher));
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    shop.work(&mut dispatcher, 3 * STEP).await;
    assert!(!waits_long(&dispatcher));
    shop.work(&mut dispatcher, 15 * STEP).await;
    assert!(waits_long(&dispatcher));
}

#[tokio::test]
async fn an_attempt_shows_the_time_of_its_end_which_is_its_place_in_the_list() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    let clock = Arc::clone(&shop.clock);
    receiver.respond(move |_| {
        clock.advance(Duration::from_secs(3));
        Some((204, String::new()))
    });
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    shop.pass(&mut dispatcher, Duration::ZERO).await;
    let attempts = shop.store.list_attempts(id, 0, 10).await.unwrap();
    let began = receiver.all()[0].timestamp;
    let attempt = &attempts[0].1;
    // The clock also advances in steps while the message is on its way.
    assert!((3_000..5_000).contains(&attempt.duration_ms), "{attempt:?}");
    assert!(
        (3..=5).contains(&(attempt.at.as_second() - began)),
        "{attempt:?}, began at {began}"
    );
}

#[tokio::test]
async fn from_the_moment_of_a_rotation_messages_have_two_signatures_for_24_hours() {
    let (shop, receiver, (id, old), mut dispatcher) = Shop::with_webhook().await;
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    // Saved, and the webhooks were read less than a second ago.
    shop.pass(&mut dispatcher, Duration::ZERO).await;
    let new_secret = shop.registrar.new_secret(id, false).unwrap();
    let new = new_secret.plain;
    let (_, rotate) = shop
        .webhook(id)
        .await
        .rotate_secret(new_secret.sealed, shop.clock.now());
    shop.write(rotate).await;
    for (number, hours, secrets) in [
        (2, 23, &[&new, &old][..]),
        (3, 2, &[&new, &old]),
        (4, 0, &[&new]),
    ] {
        shop.add_pet().await;
        shop.until(&mut dispatcher, || receiver.all().len() == number)
            .await;
        let message = receiver.all().pop().unwrap();
        let signed = |secrets: &[&Secret]| {
            sign(
                secrets.iter().copied(),
                &message.id,
                message.timestamp,
                &message.body,
            )
        };
        assert_eq!(message.signature, signed(secrets), "{number}");
        shop.pass(&mut dispatcher, Duration::from_hours(hours))
            .await;
    }
}

#[tokio::test]
async fn a_change_of_a_webhook_right_after_a_delivery_repeats_nothing_and_loses_no_attempt() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    for number in 1..=3 {
        shop.add_pet().await;
        // EndpointResponse, and not saved yet.
        shop.until(&mut dispatcher, || receiver.all().len() == number)
            .await;
        let saved = shop.webhook(id).await.progress.cursor;
        assert!(saved < i64::try_from(number).unwrap());
        let sealed = shop.registrar.new_secret(id, false).unwrap().sealed;
        let (_, rotate) = shop
            .webhook(id)
            .await
            .rotate_secret(sealed, shop.clock.now());
        shop.write(rotate).await;
    }
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 4)
        .await;
    shop.work(&mut dispatcher, 20 * STEP).await;
    let seqs: Vec<_> = receiver.all().iter().map(Message::seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    assert_eq!(shop.store.list_attempts(id, 0, 10).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_test_message_is_sent_once_also_to_a_disabled_webhook() {
    let (shop, receiver, (id, secret), mut dispatcher) = Shop::with_webhook().await;
    shop.disable_by_410(id, &receiver, &mut dispatcher).await;
    let test = shop.send_test(id).await;
    shop.until(&mut dispatcher, || receiver.all().len() == 2)
        .await;
    let message = receiver.all().pop().unwrap();
    assert_eq!(
        (&message.id, message.json()["type"].as_str()),
        (&test.message_id, Some("webhook.test"))
    );
    let expected = sign([&secret], &message.id, message.timestamp, &message.body);
    assert_eq!(message.signature, expected);
    shop.work(&mut dispatcher, Duration::from_secs(10)).await;
    assert_eq!(receiver.all().len(), 2);
    let attempts = shop.store.list_attempts(id, 1, 10).await.unwrap();
    assert_eq!(attempts[0].1.message_id, test.message_id);
    assert_eq!(attempts[0].1.error.as_deref(), Some("status"));
}

#[tokio::test]
async fn a_test_message_is_sent_by_one_of_two_processes_whichever_serves_the_webhook() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let (mut first, mut second) = (shop.dispatcher(1), shop.dispatcher(2));
    let mut tests = HashSet::new();
    for _ in 0..10 {
        tests.insert(shop.send_test(id).await.message_id);
    }
    for _ in 0..20 {
        let (one, other) = join!(first.step(), second.step());
        one.and(other).unwrap();
        shop.advance(STEP);
    }
    shop.until(&mut first, || receiver.all().len() >= 10).await;
    shop.work(&mut second, 20 * STEP).await;
    let sent: Vec<String> = receiver
        .all()
        .into_iter()
        .map(|message| message.id)
        .collect();
    assert_eq!(
        (sent.len(), sent.into_iter().collect()),
        (10, tests.clone())
    );
    // The process that does not serve it, alone.
    let test = shop.send_test(id).await;
    drop(first);
    shop.until(&mut second, || receiver.all().len() == 11).await;
    assert_eq!(receiver.all().pop().unwrap().id, test.message_id);
}

#[tokio::test]
async fn every_test_message_that_is_accepted_is_sent_also_if_many_have_no_response() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let mut dispatcher = shop.patient_dispatcher(1, Duration::from_secs(2));
    receiver.respond(|_| None);
    // As many as can be in flight, and as many as can wait.
    for sent in [64, 128] {
        for _ in 0..64 {
            shop.send_test(id).await;
        }
        if sent == 128 {
            let one_more = WebhookChange::Test(shop.registrar.new_test(id));
            assert_eq!(shop.try_write(one_more).await, WriteOutcome::Full);
        }
        shop.until(&mut dispatcher, || receiver.all().len() == sent)
            .await;
    }
}
