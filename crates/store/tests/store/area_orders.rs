//! Tests of what commands of orders change. Part of the suite.

use std::sync::Arc;

use futures_util::future::join_all;
use jiff::SignedDuration;
use petstore_domain::{
    PetStatus::{Available, Pending, Sold},
    WriteContext,
    store_area::{
        Command, Contact, Decimal, NewOrder, Note, Order, OrderPatch, OrderStatus, OrderTerms,
        Patch, Preconditions, Reason, Reference, Refusal, Resource,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{
        add, any, cancel, change, complete, execute, give_back, kept, order, order_id, pet, pet_id,
        place, refused, reopen, reserve, respond, sell, to_status, withdraw,
    },
    stores::{AnyStore, act, new_pet},
};

use crate::area::{check, expect_stored};

pub(crate) async fn each_end_of_an_order_is_stored_with_its_animal(store: AnyStore) {
    let until = |order| Command::ExpireOrder { id: order };
    let mut completed = None;
    for (end, status, of_pet) in [
        (complete as fn(_) -> _, OrderStatus::Completed, Sold),
        (cancel, OrderStatus::Cancelled, Available),
        (until, OrderStatus::Expired, Available),
    ] {
        let id = add(&store, new_pet("", 1, Available)).await;
        let placed = check(&store, Command::PlaceOrder(reserve(id))).await;
        assert_eq!(placed.len(), 2);
        let Some(Resource::Order(Order { id: order_id, .. })) = placed[0].after else {
            panic!("{placed:?}")
        };
        let reserved = pet(&store, id).await;
        assert_eq!(
            (reserved.status, reserved.order_id),
            (Pending, Some(order_id))
        );
        assert!(refused(&store, Command::PlaceOrder(sell(id))).await != Refusal::NoIdentifierLeft);
        let context = WriteContext {
            now: kept() + SignedDuration::from_hours(1),
            ..act(0)
        };
        let ended = store
            .execute(vec![end(order_id)], context, respond)
            .await
            .unwrap();
        let ExecutionOutcome::Done { changes, .. } = ended else {
            panic!("{ended:?}")
        };
        expect_stored(&store, &changes).await;
        assert_eq!(order(&store, order_id).await.status, status);
        completed = completed.or(Some(order_id));
        let after = pet(&store, id).await;
        assert_eq!(
            (after.status, after.order_id, after.version),
            (of_pet, None, 3)
        );
    }
    let id = completed.unwrap();
    check(&store, give_back(id)).await;
    assert_eq!(order(&store, id).await.status, OrderStatus::Returned);
    assert_eq!(pet(&store, pet_id(1)).await.status, Available);
    // Free again, for another order.
    let sold = check(&store, Command::PlaceOrder(sell(pet_id(1)))).await;
    assert_eq!(sold.len(), 2);
    assert_eq!(store.get_order(order_id(99)).await.unwrap(), None);
}

pub(crate) async fn a_reopened_order_is_stored_with_its_animal(store: AnyStore) {
    let contact = Contact::new("Anna".to_owned());
    let expire = |id| Command::ExpireOrder { id };
    let ends: [fn(_) -> _; 3] = [complete, cancel, expire];
    for end in ends {
        let animal = add(&store, new_pet("", 1, Available)).await;
        let new = NewOrder {
            contact: contact.clone(),
            ..reserve(animal)
        };
        let (placed, id) = (new.clone(), place(&store, new).await);
        let context = WriteContext {
            now: kept() + SignedDuration::from_hours(1),
            ..act(0)
        };
        store
            .execute(vec![end(id)], context, respond)
            .await
            .unwrap();
        check(&store, reopen(id)).await;
        let open = order(&store, id).await;
        assert_eq!(
            (open.status, open.closed_at, open.version),
            (OrderStatus::Reserved, None, 3)
        );
        let end = open.expires_at.unwrap();
        assert_eq!((open.reason, open.contact), (None, contact.clone()));
        assert_eq!(OrderTerms::ReservedUntil(end), placed.terms);
        let reserved = pet(&store, animal).await;
        assert_eq!((reserved.status, reserved.order_id), (Pending, Some(id)));
        // As any reservation, it holds the animal and has an end.
        refused(&store, Command::PlaceOrder(reserve(animal))).await;
        let due = store.due_orders(None, end, 9).await.unwrap();
        assert!(due.iter().any(|(due, _)| *due == id), "{due:?}");
        // The time of the contact counts from when it closes again.
        let erasable = store.orders_with_contact(end, None, 9).await.unwrap();
        assert!(!erasable.contains(&id), "{erasable:?}");
        check(&store, complete(id)).await;
        check(&store, give_back(id)).await;
    }
    let stale = Preconditions::version(4);
    let again = Command::CancelOrder {
        id: order_id(1),
        reason: None,
        preconditions: stale,
    };
    assert_eq!(
        refused(&store, again).await,
        Refusal::PreconditionFailed(Some(Box::new(order(&store, order_id(1)).await.into())))
    );
}

pub(crate) async fn in_one_request_the_animal_of_a_newer_order_can_go_to_an_older_one(
    store: AnyStore,
) {
    let animal = add(&store, new_pet("", 1, Available)).await;
    let older = place(&store, reserve(animal)).await;
    change(&store, cancel(older)).await;
    let newer = place(&store, reserve(animal)).await;
    let done = execute(&store, vec![cancel(newer), reopen(older)]).await;
    let ExecutionOutcome::Done { changes, .. } = done else {
        panic!("{done:?}")
    };
    expect_stored(&store, &[&changes[..1], &changes[2..]].concat()).await;
    assert_eq!(pet(&store, animal).await.order_id, Some(older));
    // Also where the newer one lets go of the animal without a change of its own.
    change(&store, cancel(older)).await;
    change(&store, Command::PlaceOrder(sell(animal))).await;
    execute(&store, vec![to_status(animal, Available), reopen(older)]).await;
    assert_eq!(pet(&store, animal).await.order_id, Some(older));
}

pub(crate) async fn of_many_orders_reopened_for_one_animal_one_is_open(store: AnyStore) {
    let animal = add(&store, new_pet("", 1, Available)).await;
    let mut closed = Vec::new();
    for _ in 0..10 {
        let id = place(&store, reserve(animal)).await;
        change(&store, cancel(id)).await;
        closed.push(id);
    }
    for _ in 0..5 {
        let reopening = closed.iter().map(|&id| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { execute(&store, vec![reopen(id)]).await })
        });
        let ended = join_all(reopening).await.into_iter().map(Result::unwrap);
        assert_eq!(
            ended
                .filter(|one| matches!(one, ExecutionOutcome::Done { .. }))
                .count(),
            1
        );
        let open = pet(&store, animal).await.order_id.unwrap();
        assert!(order(&store, open).await.holds);
        change(&store, cancel(open)).await;
    }
}

pub(crate) async fn a_changed_order_is_read_as_changed(store: AnyStore) {
    let animal = add(&store, new_pet("", 1, Available)).await;
    let id = place(&store, reserve(animal)).await;
    let longest = |length| "ü".repeat(length);
    let later = OrderPatch {
        reference: Patch::Set(Reference::new(longest(255)).unwrap()),
        note: Patch::Set(Note::new(longest(2_000)).unwrap()),
        expires_at: Some(kept() + SignedDuration::from_hours(48)),
        price: Patch::Set(Decimal::new("999999999999.9999").unwrap()),
        contact: Patch::Set(Contact::new(longest(500)).unwrap()),
    };
    let no_reference = OrderPatch {
        reference: Patch::Clear,
        ..OrderPatch::default()
    };
    let other_contact = OrderPatch {
        contact: Patch::Set(Contact::new("Anna".to_owned()).unwrap()),
        ..OrderPatch::default()
    };
    let no_contact = OrderPatch {
        contact: Patch::Clear,
        ..OrderPatch::default()
    };
    for (version, new) in (2..).zip([later, no_reference, other_contact, no_contact]) {
        check(
            &store,
            Command::PatchOrder {
                id,
                patch: new,
                preconditions: any(),
            },
        )
        .await;
        assert_eq!(order(&store, id).await.version, version);
    }
    let reason = Reason::new(longest(255));
    check(
        &store,
        Command::CancelOrder {
            id,
            reason: reason.clone(),
            preconditions: any(),
        },
    )
    .await;
    let cancelled = order(&store, id).await;
    assert_eq!(
        (cancelled.reason, cancelled.closed_at),
        (reason, Some(kept()))
    );
    assert_eq!(
        (cancelled.reference, cancelled.contact, cancelled.version),
        (None, None, 6)
    );
}

pub(crate) async fn a_status_set_by_hand_ends_the_hold_of_the_order(store: AnyStore) {
    let animal = add(&store, new_pet("", 1, Available)).await;
    let id = place(&store, sell(animal)).await;
    assert!(order(&store, id).await.holds);
    check(&store, to_status(animal, Available)).await;
    let released = order(&store, id).await;
    assert_eq!(
        (released.status, released.holds),
        (OrderStatus::Completed, false)
    );
    let refusal = refused(&store, give_back(id)).await;
    assert!(
        matches!(refusal, Refusal::InvalidTransition(_)),
        "{refusal:?}"
    );
    let again = place(&store, sell(animal)).await;
    check(&store, give_back(again)).await;
}

pub(crate) async fn the_newest_orders_have_the_names_of_their_animals(store: AnyStore) {
    for name in ["Max", "Moe"] {
        let pet = add(&store, new_pet(name, 1, Available)).await;
        place(&store, reserve(pet)).await;
    }
    let names = async |status, limit| {
        let names = store.names_of_orders(status, limit).await.unwrap();
        names
            .into_iter()
            .map(|(id, name)| (id.get(), name.as_str().to_owned()))
            .collect::<Vec<_>>()
    };
    let [max, moe] = [(1, "Max".to_owned()), (2, "Moe".to_owned())];
    assert_eq!(names(None, 9).await, [moe.clone(), max.clone()]);
    assert_eq!(names(None, 1).await, std::slice::from_ref(&moe));
    change(&store, cancel(order_id(1))).await;
    change(&store, withdraw(pet_id(1))).await;
    assert_eq!(names(Some(OrderStatus::Reserved), 9).await, [moe]);
    assert_eq!(names(Some(OrderStatus::Cancelled), 9).await, [max]);
}
