//! What webhooks leave in the audit trail.

use petstore::domain::{
    Actor,
    store_area::{Act, ActType, AuditEntry, AuditQuery},
};

use super::{
    receiver::Receiver,
    shop::{STEP, Shop},
};

#[tokio::test]
async fn a_webhook_that_the_service_disables_leaves_one_act_with_the_reason() {
    let shop = Shop::open().await;
    let receiver = Receiver::start().await;
    let (id, _) = shop.add_webhook(receiver.url(), None).await;
    let mut dispatcher = shop.dispatcher(1);
    receiver.respond_with(410);
    shop.add_pet().await;
    shop.until(&mut dispatcher, || receiver.all().len() == 1).await;
    shop.work(&mut dispatcher, 10 * STEP).await;
    let all = AuditQuery { limit: 100, ..AuditQuery::default() };
    let (entries, _) = shop.store.list_audit(&all).await.unwrap();
    let acts: Vec<_> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            AuditEntry::Act { act, actor, .. } => Some((act, actor.actor)),
            AuditEntry::Change(_) => None,
        })
        .collect();
    let details = vec![("reason".into(), "gone".to_owned())];
    let act = Act { details, ..Act::on_webhook(ActType::WebhookDisabled, id) };
    assert_eq!(acts, [(act, Actor::Clock)]);
}
