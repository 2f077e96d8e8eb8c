//! Several machines, each with its key file.

use std::{fs, time::Duration};

use petstore_app::delivery::ATTEMPT_TIMEOUT;
use petstore_domain::store_area::WebhookId;

use super::{
    receiver::Receiver,
    shop::{STEP, Shop, registrar},
};

#[tokio::test]
async fn a_process_that_cannot_read_a_secret_leaves_the_webhook_to_one_that_can() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    shop.add_webhook(receiver.url(), None).await;
    // Three other machines: without a key file, with another one, and with a copy.
    let folder = shop.folder.path().to_owned();
    let path = |name: &str| folder.join(name);
    registrar(path("other"), 2)
        .new_secret(WebhookId(1), true)
        .unwrap();
    let other = registrar(path("other"), 2);
    let mut without = shop.dispatcher_with(&registrar(path("absent"), 3), 1, ATTEMPT_TIMEOUT);
    let mut wrong = shop.dispatcher_with(&other, 2, ATTEMPT_TIMEOUT);
    shop.add_pet().await;
    shop.send_test(WebhookId(1)).await;
    for _ in 0..3 {
        shop.work(&mut without, Duration::from_secs(20)).await;
        shop.work(&mut wrong, Duration::from_secs(20)).await;
    }
    assert!(receiver.all().is_empty());
    let mut right = shop.dispatcher(3);
    shop.until(&mut right, || receiver.all().len() == 2).await;
    right.finish().await.unwrap();
    // When the file is there, the next look finds it.
    shop.add_pet().await;
    shop.work(&mut without, 20 * STEP).await;
    assert_eq!(receiver.all().len(), 2);
    fs::copy(path("key"), path("absent")).unwrap();
    shop.until(&mut without, || receiver.all().len() == 3).await;
}

#[tokio::test]
async fn a_key_file_is_made_for_the_first_webhook_only() {
    let shop = Shop::open().await;
    shop.add_webhook("http://127.0.0.1:9/".to_owned(), None)
        .await;
    let path = shop.folder.path().join("of another machine");
    let Err(error) = registrar(path.clone(), 2).new_secret(WebhookId(2), false) else {
        panic!("it was made")
    };
    assert!(error.to_string().contains("copy it from"), "{error}");
    assert!(!path.exists());
}

#[tokio::test]
async fn after_a_key_file_was_lost_a_rotation_with_a_new_one_is_enough() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let path = shop.folder.path().join("new");
    let new = registrar(path, 2);
    // Made by hand, in the test by another database.
    new.new_secret(WebhookId(1), true).unwrap();
    let sealed = new.new_secret(id, false).unwrap().sealed;
    let (_, rotate) = shop
        .webhook(id)
        .await
        .rotate_secret(sealed, shop.context().now);
    shop.write(rotate).await;
    let mut dispatcher = shop.dispatcher_with(&new, 1, ATTEMPT_TIMEOUT);
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    // The old secret cannot be read, so there is one signature.
    assert_eq!(receiver.all()[0].signature.split(' ').count(), 1);
}

#[tokio::test]
async fn test_messages_whose_secret_cannot_be_read_do_not_hold_up_others() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (unreadable, _) = shop.add_webhook(receiver.url(), None).await;
    let (readable, _) = shop.add_webhook(receiver.url(), None).await;
    let new = registrar(shop.folder.path().join("new"), 2);
    new.new_secret(WebhookId(1), true).unwrap();
    let sealed = new.new_secret(readable, false).unwrap().sealed;
    let (_, rotate) = shop
        .webhook(readable)
        .await
        .rotate_secret(sealed, shop.context().now);
    shop.write(rotate).await;
    // No attempt ends before the test does.
    let mut dispatcher = shop.dispatcher_with(&new, 1, Duration::from_mins(5));
    receiver.respond(|_| None);

    // All but one of the attempts that there may be at a time.
    for _ in 0..63 {
        shop.send_test(readable).await;
    }
    shop.until(&mut dispatcher, || receiver.all().len() == 63)
        .await;
    for _ in 0..60 {
        shop.send_test(unreadable).await;
    }
    let test = shop.send_test(readable).await;
    shop.until(&mut dispatcher, || receiver.all().len() == 64)
        .await;
    assert_eq!(receiver.all().pop().unwrap().id, test.message_id);
}
