//! What webhooks leave in the audit trail.

use petstore_domain::{
    Actor,
    store_area::{Act, ActType, AuditEntry, AuditQuery},
};

use super::shop::Shop;

#[tokio::test]
async fn a_webhook_that_the_service_disables_leaves_one_act_with_the_reason() {
    let (shop, receiver, (id, _), mut dispatcher) = Shop::with_webhook().await;
    shop.disable_by_410(id, &receiver, &mut dispatcher).await;
    let all = AuditQuery {
        limit: 100,
        ..AuditQuery::default()
    };
    let (entries, _) = shop.store.list_audit(&all).await.unwrap();
    let acts: Vec<_> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            AuditEntry::Act { act, actor, .. } => Some((act, actor.actor)),
            AuditEntry::Change(_) => None,
        })
        .collect();
    let details = vec![("reason".into(), "gone".to_owned())];
    let act = Act {
        details,
        ..Act::for_webhook(ActType::WebhookDisabled, id)
    };
    assert_eq!(acts, [(act, Actor::Clock)]);
}
