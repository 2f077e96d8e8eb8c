//! The example of a message in the document of the store area.

use petstore_testing::contract::STORE_AREA;

use super::{receiver::Receiver, shop::Shop};

#[tokio::test]
async fn the_example_of_a_message_is_what_the_service_sends() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    shop.add_webhook(receiver.url(), None).await;
    shop.add_pet().await;
    let mut dispatcher = shop.dispatcher(1);
    shop.until(&mut dispatcher, || receiver.all().len() == 1)
        .await;
    let sent = receiver.all()[0].json();
    let message = &STORE_AREA["webhooks"]["change"]["post"]["requestBody"];
    let examples = message["content"]["application/json"]["examples"]
        .as_object()
        .unwrap();
    let declared: Vec<_> = examples.values().map(|example| &example["value"]).collect();
    assert_eq!(declared, [&sent], "the service sent\n{sent:#}");
}
