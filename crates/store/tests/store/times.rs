//! Tests of times at both ends of their range. Part of the suite.

use jiff::{SignedDuration, Timestamp};
use petstore_domain::{
    Actor, PetStatus, WriteContext,
    clock::{EARLIEST, LATEST, truncate_to_milliseconds},
    store_area::{
        AuditQuery, Command, NewOrder, Order, OrderQuery, OrderTerms, PetQuery, Resource,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{complete, order, pet, reserve, respond, withdraw},
    stores::{AnyStore, new_pet},
};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Carries out a command at this time, and returns what it changed first.
async fn change_at(store: &AnyStore, now: Timestamp, command: Command) -> Resource {
    let context = WriteContext::new(Actor::Command, now);
    match store
        .execute(vec![command], context, respond)
        .await
        .unwrap()
    {
        ExecutionOutcome::Done { mut changes, .. } => changes.swap_remove(0).after.unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn the_times_of_any_clock_are_stored_listed_and_changed_again(store: AnyStore) {
    for now in [Timestamp::MIN, EARLIEST, LATEST, Timestamp::MAX] {
        let new = new_pet("Max", 1, PetStatus::Available);
        let added = change_at(&store, now, Command::add(new)).await;
        let Resource::Pet(added) = added else {
            panic!("{added:?}")
        };
        let kept = truncate_to_milliseconds(now);
        assert_eq!(
            (added.created_at, added.updated_at),
            (Some(kept), Some(kept))
        );
        assert_eq!(pet(&store, added.id).await, added);

        // No reservation ends after the last time.
        let before = now.checked_sub(HOUR).unwrap_or(now);
        let terms = OrderTerms::ReservedUntil(truncate_to_milliseconds(
            truncate_to_milliseconds(before) + HOUR,
        ));
        let reservation = NewOrder {
            terms,
            ..reserve(added.id)
        };
        let placed = change_at(&store, before, Command::PlaceOrder(reservation)).await;
        let Resource::Order(Order { id, .. }) = placed else {
            panic!("{placed:?}")
        };
        assert_eq!(Resource::Order(order(&store, id).await), placed);
        assert_eq!(store.due_orders(None, LATEST, 10).await.unwrap().len(), 1);
        let closed = change_at(&store, now, complete(id)).await;
        assert_eq!(Resource::Order(order(&store, id).await), closed);
        change_at(&store, now, withdraw(added.id)).await;
        assert_eq!(pet(&store, added.id).await.withdrawal.unwrap().at, kept);

        let query = PetQuery {
            is_withdrawn: true,
            ..PetQuery::default()
        };
        let (pets, _) = store.list_store_pets(&query).await.unwrap();
        assert_eq!(pets.last().unwrap().updated_at, Some(kept));
        let (orders, _) = store.list_orders(&OrderQuery::default()).await.unwrap();
        assert_eq!(orders.last().unwrap().closed_at, Some(kept));
        let query = AuditQuery {
            since: Some(now),
            until: Some(now),
            limit: 100,
            ..AuditQuery::default()
        };
        store.list_audit(&query).await.unwrap();
    }
    let (changes, _) = store
        .list_audit(&AuditQuery {
            limit: 100,
            ..AuditQuery::default()
        })
        .await
        .unwrap();
    assert_eq!(changes.len(), 4 * (1 + 2 + 2 + 1));
}
