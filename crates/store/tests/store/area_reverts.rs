//! Reverts of acts in the log. Part of the suite.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use jiff::SignedDuration;
use petstore_domain::{
    Actor, Limit, PetId, PetName,
    PetStatus::{Available, Pending},
    WriteContext,
    store_area::{
        AltText, Command, Contact, Decimal, FieldValue, JournalEntry, NewOrder, Order, OrderId,
        OrderPatch, Patch, PetPatch, PhotoId, PhotoPatch, Preconditions, Refusal, RequestedValue,
        Resource, Reversal, StorePet, WithdrawalReason,
    },
};
use petstore_formats::json;
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{
        add, any, cancel, complete, execute, give_back, kept, label, now, order, order_id, patch,
        pet, reopen, reserve, respond, restore, sell, to_status, withdraw,
    },
    stores::{AnyStore, at, new_pet},
};

use crate::area_photos::with_photo;

/// The circumstances of a request of its own.
fn request(name: &str) -> WriteContext {
    WriteContext {
        request_id: Some(name.to_owned()),
        ..WriteContext::new(Actor::Command, now())
    }
}

/// Carries out commands in one request, and returns the number of its last change.
async fn act(store: &AnyStore, name: &str, commands: Vec<Command>) -> i64 {
    let executed = store.execute(commands, request(name), respond).await;
    match executed.unwrap() {
        ExecutionOutcome::Done { changes, .. } if !changes.is_empty() => {}
        other => panic!("{name}: {other:?}"),
    }
    store.journal_state().await.unwrap().last
}

/// The commands that revert an act.
fn reverting(act: &[JournalEntry]) -> Vec<Command> {
    let changes: Vec<_> = act
        .iter()
        .map(|entry| json::read_change(entry).unwrap())
        .collect();
    let default_end = kept() + SignedDuration::from_hours(2);
    let reversals = Reversal::from_act(&changes, act[0].at, default_end).unwrap();
    reversals.into_iter().map(Command::Revert).collect()
}

/// Reverts the act of the change with this number.
async fn revert(store: &AnyStore, seq: i64) -> ExecutionOutcome {
    let commands = reverting(&store.changes_of_act(seq).await.unwrap());
    execute(store, commands).await
}

fn is_done(executed: &ExecutionOutcome) -> bool {
    matches!(executed, ExecutionOutcome::Done { .. })
}

/// The animal without what each change of it changes.
async fn timeless_pet(store: &AnyStore, id: PetId) -> StorePet {
    StorePet {
        version: 0,
        updated_at: None,
        ..pet(store, id).await
    }
}

/// The order without what each change of it changes.
async fn timeless_order(store: &AnyStore, id: OrderId) -> Order {
    Order {
        version: 0,
        closed_at: None,
        ..order(store, id).await
    }
}

fn with_values(id: PetId, values: &[(&str, &str)]) -> Command {
    patch(id, patch_of(values))
}

fn patch_of(values: &[(&str, &str)]) -> PetPatch {
    let given = values.iter().map(|(name, value)| {
        let value = RequestedValue::Set(FieldValue::Text((*value).to_owned()));
        ((*name).to_owned(), value)
    });
    PetPatch {
        fields: given.collect(),
        ..PetPatch::default()
    }
}

pub(crate) async fn each_kind_of_act_is_reverted_once_and_not_again(store: AnyStore) {
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    act(
        &store,
        "values",
        vec![with_values(id, &[("microchip", "1"), ("colour", "red")])],
    )
    .await;
    let edited = PetPatch {
        name: PetName::new("Max".to_owned()),
        category_id: Some(2),
        ..patch_of(&[("microchip", "2"), ("breed", "Collie")])
    };
    let first = PhotoPatch {
        position: Some(0),
        alt: Patch::Clear,
        ..PhotoPatch::default()
    };
    let move_photo = Command::PatchPhoto {
        id,
        photo: PhotoId(2),
        patch: first,
        preconditions: any(),
    };
    let delete_photo = Command::DeletePhoto {
        id,
        photo: PhotoId(1),
        preconditions: any(),
    };
    let sale = Command::PlaceOrder(sell(id));
    let without_order = [
        vec![patch(id, edited)],
        vec![withdraw(id)],
        vec![to_status(id, Pending)],
        vec![Command::PlaceOrder(reserve(id))],
        vec![to_status(id, Pending), sale.clone()],
        vec![sale],
        vec![with_photo(id, 3)],
        vec![move_photo],
        vec![delete_photo],
    ];
    for photo in [1, 2] {
        act(&store, "photos", vec![with_photo(id, photo)]).await;
    }
    for (number, commands) in without_order.into_iter().enumerate() {
        let before = timeless_pet(&store, id).await;
        let seq = act(&store, &format!("act {number}"), commands.clone()).await;
        assert_ne!(timeless_pet(&store, id).await, before, "{commands:?}");
        assert!(is_done(&revert(&store, seq).await), "{commands:?}");
        assert_eq!(timeless_pet(&store, id).await, before, "{commands:?}");
        let again = revert(&store, seq).await;
        assert!(
            matches!(&again, ExecutionOutcome::Refused { refusal: Refusal::MovedOn(Some(current)), .. }
                if **current == Resource::Pet(pet(&store, id).await)),
            "{commands:?}: {again:?}"
        );
    }
    assert_eq!(store.photos_in(0).await.unwrap(), [PhotoId(1), PhotoId(2)]);
}

pub(crate) async fn each_end_of_an_order_is_reverted_with_its_animal(store: AnyStore) {
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let new = NewOrder {
        price: Patch::Set(Decimal::new("80").unwrap()),
        ..reserve(id)
    };
    act(&store, "reservation", vec![Command::PlaceOrder(new)]).await;
    let repriced = Command::PatchOrder {
        id: order_id(1),
        patch: OrderPatch {
            price: Patch::Set(Decimal::new("70").unwrap()),
            ..OrderPatch::default()
        },
        preconditions: any(),
    };
    let withdrawn = Command::WithdrawPet {
        id,
        reason: WithdrawalReason::Died,
        note: None,
        preconditions: any(),
    };
    // The sale stays, and what follows begins with it.
    let acts = [
        (vec![repriced.clone()], true),
        (vec![cancel(order_id(1))], true),
        (vec![cancel(order_id(1)), withdrawn], true),
        (vec![repriced, complete(order_id(1))], true),
        (vec![complete(order_id(1))], false),
        (vec![give_back(order_id(1))], true),
        (vec![reopen(order_id(1))], true),
    ];
    for (number, (commands, is_reverted)) in acts.into_iter().enumerate() {
        let before = (
            timeless_pet(&store, id).await,
            timeless_order(&store, order_id(1)).await,
        );
        let seq = act(&store, &format!("act {number}"), commands.clone()).await;
        if !is_reverted {
            continue;
        }
        assert!(is_done(&revert(&store, seq).await), "{commands:?}");
        let after = (
            timeless_pet(&store, id).await,
            timeless_order(&store, order_id(1)).await,
        );
        assert_eq!(after, before, "{commands:?}");
        let again = revert(&store, seq).await;
        assert!(
            matches!(
                &again,
                ExecutionOutcome::Refused {
                    refusal: Refusal::MovedOn(Some(_)),
                    ..
                }
            ),
            "{commands:?}: {again:?}"
        );
    }
    // The contact is not in the log.
    let contact = OrderPatch {
        contact: Patch::Set(Contact::new("Bo".to_owned()).unwrap()),
        ..OrderPatch::default()
    };
    let preconditions = any();
    let contact = Command::PatchOrder {
        id: order_id(1),
        patch: contact,
        preconditions,
    };
    let seq = act(&store, "contact", vec![contact]).await;
    let refused = revert(&store, seq).await;
    assert!(
        matches!(
            &refused,
            ExecutionOutcome::Refused {
                refusal: Refusal::NotRevertible(_),
                ..
            }
        ),
        "{refused:?}"
    );
}

pub(crate) async fn of_many_reverts_of_one_act_one_is_made(store: AnyStore) {
    for number in 0..5 {
        let id = add(&store, new_pet("Rex", 1, Available)).await;
        let place = Command::PlaceOrder(sell(id));
        let seq = act(&store, &format!("sale {number}"), vec![place]).await;
        let reverts = join_all((0..8).map(|_| revert(&store, seq))).await;
        let done = reverts.iter().filter(|revert| is_done(revert)).count();
        assert_eq!(done, 1);
        let present = pet(&store, id).await;
        assert_eq!((present.status, present.version), (Available, 4));
        for refused in reverts.iter().filter(|revert| !is_done(revert)) {
            assert!(
                matches!(refused, ExecutionOutcome::Refused { refusal: Refusal::MovedOn(Some(current)), .. }
                    if **current == Resource::Pet(present.clone())),
                "{refused:?}"
            );
        }
    }
}

pub(crate) async fn an_act_about_many_animals_is_reverted_as_a_whole_or_not_at_all(
    store: AnyStore,
) {
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(add(&store, new_pet("Rex", 1, Available)).await);
    }
    let all = async |command: fn(PetId) -> Command, name: &str| {
        act(&store, name, ids.iter().map(|id| command(*id)).collect()).await
    };
    let seq = all(|id| Command::PlaceOrder(reserve(id)), "reservations").await;
    let changes = store.changes_of_act(seq).await.unwrap();
    assert_eq!(changes.len(), 200);
    assert!(changes.is_sorted_by_key(|change| change.seq));
    // By whichever of its changes.
    assert_eq!(store.changes_of_act(changes[0].seq).await.unwrap(), changes);
    assert_eq!(
        store.changes_of_act(changes[77].seq).await.unwrap(),
        changes
    );
    assert!(is_done(&revert(&store, seq).await));
    for id in &ids {
        assert_eq!(pet(&store, *id).await.status, Available);
    }

    let seq = all(withdraw, "withdrawals").await;
    act(&store, "one", vec![restore(ids[41])]).await;
    let refused = revert(&store, seq).await;
    assert!(
        matches!(
            &refused,
            ExecutionOutcome::Refused {
                index: 41,
                refusal: Refusal::MovedOn(Some(_))
            }
        ),
        "{refused:?}"
    );
    assert!(pet(&store, ids[0]).await.withdrawal.is_some());
}

pub(crate) async fn acts_at_the_same_time_are_told_apart(store: AnyStore) {
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(add(&store, new_pet("Rex", 1, Available)).await);
    }
    let acts = join_all(ids.chunks(2).enumerate().map(async |(number, pair)| {
        let commands = pair
            .iter()
            .map(|id| Command::PlaceOrder(sell(*id)))
            .collect();
        let name = format!("request {number}");
        store
            .execute(commands, request(&name), respond)
            .await
            .unwrap()
    }));
    assert!(acts.await.iter().all(is_done));
    // The clock has no request, and acts on each animal by itself.
    for id in &ids {
        let context = WriteContext::new(Actor::Clock, now());
        let command = vec![to_status(*id, Available)];
        store.execute(command, context, respond).await.unwrap();
    }
    let last = store.journal_state().await.unwrap().last;
    for seq in 21..=last {
        let changes = store.changes_of_act(seq).await.unwrap();
        let of_clock = changes[0].actor.actor == Actor::Clock;
        assert_eq!(
            changes.len(),
            if of_clock { 1 } else { 4 },
            "{seq}: {changes:?}"
        );
        assert!(changes.iter().any(|change| change.seq == seq));
        let requests: BTreeSet<_> = changes.iter().map(|change| &change.request_id).collect();
        assert_eq!(requests.len(), 1, "{seq}");
    }
    for unknown in [0, -1, last + 1, i64::MAX, i64::MIN] {
        assert_eq!(
            store.changes_of_act(unknown).await.unwrap(),
            [],
            "{unknown}"
        );
    }
}

pub(crate) async fn an_act_whose_beginning_may_be_forgotten_is_unknown(store: AnyStore) {
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let commands = vec![Command::PlaceOrder(sell(id))];
    let later = WriteContext {
        now: now() + SignedDuration::from_hours(1),
        ..request("sale")
    };
    store.execute(commands, later, respond).await.unwrap();
    assert_eq!(store.changes_of_act(2).await.unwrap().len(), 2);
    let kept_from = kept() + SignedDuration::from_mins(1);
    let forgotten = store.forget_changes(kept_from..=at(2_000_000), 10).await;
    assert_eq!(forgotten.unwrap(), 1);
    assert_eq!(store.changes_of_act(2).await.unwrap(), []);
    assert_eq!(store.changes_of_act(1).await.unwrap(), []);
}

pub(crate) async fn a_value_that_another_animal_has_meanwhile_is_not_given_back(store: AnyStore) {
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let other = add(&store, new_pet("Max", 1, Available)).await;
    act(&store, "chip", vec![with_values(id, &[("microchip", "9")])]).await;
    for (name, command) in [
        ("withdrawal", withdraw(id)),
        ("other chip", with_values(id, &[("microchip", "8")])),
    ] {
        let seq = act(&store, name, vec![command]).await;
        act(
            &store,
            "taken",
            vec![with_values(other, &[("microchip", "9")])],
        )
        .await;
        let refused = revert(&store, seq).await;
        assert!(
            matches!(&refused, ExecutionOutcome::Refused { refusal: Refusal::DuplicateValue { other: owner, .. }, .. }
                if *owner == other),
            "{name}: {refused:?}"
        );
        act(
            &store,
            "freed",
            vec![with_values(other, &[("microchip", name)])],
        )
        .await;
        assert!(is_done(&revert(&store, seq).await), "{name}");
        // The log of the revert is one of ordinary changes.
        let last = store.journal_state().await.unwrap().last;
        assert!(
            store
                .changes_of_act(last)
                .await
                .unwrap()
                .iter()
                .all(|change| change.kind.value().is_some())
        );
    }
}

pub(crate) async fn a_category_and_a_photo_come_back_with_all_that_they_had(store: AnyStore) {
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    act(&store, "photo", vec![with_photo(id, 7)]).await;
    let before = pet(&store, id).await.photos;
    let delete_photo = Command::DeletePhoto {
        id,
        photo: PhotoId(7),
        preconditions: any(),
    };
    let seq = act(&store, "deletion", vec![delete_photo]).await;
    // Other changes of the animal do not matter.
    act(&store, "move", vec![to_status(id, Pending)]).await;
    assert!(is_done(&revert(&store, seq).await));
    assert_eq!(pet(&store, id).await.photos, before);
    let described = before.all()[0].alt.as_ref().map(AltText::as_str);
    assert_eq!(described, Some("Luna \"on a chair\" \u{1}"));
    assert!(!is_done(&revert(&store, seq).await));

    let put = |text: &str, preconditions: Preconditions| Command::PutCategory {
        id: 5,
        label: label(text),
        preconditions,
    };
    act(&store, "category", vec![put("Dogs", Preconditions::ABSENT)]).await;
    let seq = act(&store, "name", vec![put("Cats", Preconditions::version(1))]).await;
    assert!(is_done(&revert(&store, seq).await));
    assert!(!is_done(&revert(&store, seq).await));
    let delete = Command::DeleteCategory {
        id: 5,
        preconditions: any(),
    };
    let seq = act(&store, "end of the category", vec![delete]).await;
    assert!(is_done(&revert(&store, seq).await));
    let (categories, _) = store.list_categories(None, Limit::default()).await.unwrap();
    assert_eq!(categories[0].label.as_str(), "Dogs");
}
