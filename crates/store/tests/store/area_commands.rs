//! Tests of what commands change. Part of the suite.

use std::sync::Arc;

use futures_util::future::join_all;
use petstore_domain::{
    Limit, PetId, PetName,
    PetStatus::{Available, Pending, Sold},
    WriteContext,
    store_area::{
        Category, Change, Command, JournalEntry, Note, OrderStatus, PetPatch, Preconditions,
        Refusal, Resource, Withdrawal, WithdrawalReason,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{
        add, any, change, complete, execute, give_back, kept, label, now, order, order_id, patch,
        pet, pet_id, refused, reserve, respond, restore, sell, to_status, withdraw,
    },
    stores::{AnyStore, act, at, create, new_pet},
};

use crate::suite::count;

/// Checks that the store has what was changed, and that the change began with what it had.
pub(crate) async fn expect_stored(store: &AnyStore, changes: &[Change]) {
    for change in changes {
        match change.after.as_ref().unwrap() {
            Resource::Pet(after) => assert_eq!(pet(store, after.id).await, *after),
            Resource::Order(after) => assert_eq!(order(store, after.id).await, *after),
            Resource::Category(after) => {
                let (found, _) = store.list_categories(None, Limit::default()).await.unwrap();
                assert!(found.contains(after), "{found:?}");
            }
            Resource::Note(after) => {
                let found = store.get_note(after.id).await.unwrap();
                assert_eq!(found.as_ref(), Some(after));
            }
        }
    }
}

/// Carries out a command, and checks that its changes are stored.
pub(crate) async fn check(store: &AnyStore, command: Command) -> Vec<Change> {
    let changes = change(store, command).await;
    expect_stored(store, &changes).await;
    changes
}

pub(crate) async fn what_a_command_changes_is_what_is_read_afterwards(store: AnyStore) {
    let id = add(&store, new_pet("Zoë", i64::MIN, Available)).await;
    let all = PetPatch {
        name: PetName::new("Frank".to_owned()),
        category_id: Some(i64::MAX),
        status: Some(Sold),
        ..PetPatch::default()
    };
    let name = PetPatch {
        name: PetName::new(String::new()),
        ..PetPatch::default()
    };
    let note = Note::new("n".repeat(2_000));
    let withdraw = Command::WithdrawPet {
        id,
        reason: WithdrawalReason::Other,
        note: note.clone(),
        preconditions: any(),
    };
    let commands = [
        patch(id, all),
        patch(id, name),
        to_status(id, Pending),
        withdraw,
        restore(id),
    ];
    for (version, command) in (2..).zip(commands) {
        let changes = check(&store, command).await;
        assert_eq!(changes.len(), 1);
        let after = pet(&store, id).await;
        assert_eq!((after.version, after.updated_at), (version, Some(kept())));
        let withdrawal = Withdrawal {
            at: kept(),
            reason: WithdrawalReason::Other,
            note: note.clone(),
        };
        assert_eq!(after.withdrawal, (version == 5).then_some(withdrawal));
    }
    let same = to_status(id, Pending);
    assert_eq!(change(&store, same).await, []);
    assert_eq!(pet(&store, id).await.version, 6);
}

pub(crate) async fn an_animal_added_by_a_command_is_one_of_the_contract(store: AnyStore) {
    let created = create(&store, new_pet("first", 1, Sold)).await;
    let changes = check(&store, Command::add(new_pet("second", 2, Pending))).await;
    let [
        Change {
            before: None,
            after: Some(Resource::Pet(added)),
            ..
        },
    ] = &changes[..]
    else {
        panic!("{changes:?}")
    };
    assert_eq!(added.id.get(), created.id.get() + 1);
    assert_eq!(
        (added.created_at, added.updated_at),
        (Some(kept()), Some(kept()))
    );
    let shown = store.get_pet(added.id).await.unwrap().unwrap();
    assert_eq!(shown, new_pet("second", 2, Pending).with_id(added.id));
    let next = create(&store, new_pet("third", 3, Sold)).await;
    assert_eq!(next.id.get(), added.id.get() + 1);
}

pub(crate) async fn an_animal_of_the_contract_has_version_1_and_the_time_of_its_creation(
    store: AnyStore,
) {
    let id = add(&store, new_pet("Frank", 7, Sold)).await;
    let found = pet(&store, id).await;
    assert_eq!(
        (found.name.as_str(), found.category_id, found.status),
        ("Frank", 7, Sold)
    );
    assert_eq!(
        (found.version, found.order_id, &found.withdrawal),
        (1, None, &None)
    );
    assert_eq!(
        (found.created_at, found.updated_at),
        (Some(at(0)), Some(at(0)))
    );
    assert_eq!(store.get_store_pet(pet_id(99)).await.unwrap(), None);
}

pub(crate) async fn a_withdrawn_animal_leaves_the_catalogue_and_returns_as_it_was(store: AnyStore) {
    let id = add(&store, new_pet("Frank", 7, Sold)).await;
    let before = store.get_pet(id).await.unwrap();
    check(&store, withdraw(id)).await;
    assert_eq!(store.get_pet(id).await.unwrap(), None);
    assert_eq!(count(&store).await, 0);
    let refusal = refused(&store, withdraw(id)).await;
    assert!(
        matches!(refusal, Refusal::InvalidTransition(_)),
        "{refusal:?}"
    );
    let next = add(&store, new_pet("next", 7, Sold)).await;
    assert!(next > id);
    check(&store, restore(id)).await;
    assert_eq!(store.get_pet(id).await.unwrap(), before);
    assert_eq!(count(&store).await, 2);
    assert!(add(&store, new_pet("later", 7, Sold)).await > next);
}

pub(crate) async fn categories_are_put_deleted_and_made_again(store: AnyStore) {
    let put = |text, preconditions| Command::PutCategory {
        id: -7,
        label: label(text),
        preconditions,
    };
    let absent = Preconditions {
        if_match: None,
        if_absent: true,
    };
    check(&store, put("cats", absent.clone())).await;
    check(&store, put("Cats", Preconditions::version(1))).await;
    let failed = refused(&store, put("dogs", Preconditions::version(1))).await;
    let cats = Category {
        id: -7,
        label: label("Cats"),
        version: 2,
    };
    assert_eq!(
        failed,
        Refusal::PreconditionFailed(Some(Box::new(Resource::Category(cats))))
    );
    let delete = Command::DeleteCategory {
        id: -7,
        preconditions: Preconditions::version(2),
    };
    assert_eq!(change(&store, delete).await.len(), 1);
    check(&store, put("cats", absent)).await;
    let (found, _) = store.list_categories(None, Limit::default()).await.unwrap();
    assert_eq!(
        found,
        [Category {
            id: -7,
            label: label("cats"),
            version: 1
        }]
    );
}

pub(crate) async fn the_commands_of_a_request_see_those_before_them(store: AnyStore) {
    let sees_all = vec![
        Command::add(new_pet("", 1, Available)),
        Command::PlaceOrder(reserve(pet_id(1))),
        complete(order_id(1)),
        give_back(order_id(1)),
        withdraw(pet_id(1)),
        restore(pet_id(1)),
        Command::PlaceOrder(sell(pet_id(1))),
    ];
    let done = execute(&store, sees_all).await;
    let ExecutionOutcome::Done { changes, response } = done else {
        panic!("{done:?}")
    };
    assert_eq!(changes.len(), 11);
    assert!(!response.body.is_empty());
    assert_eq!(pet(&store, pet_id(1)).await.version, 7);
    assert_eq!(
        order(&store, order_id(2)).await.status,
        OrderStatus::Completed
    );
}

pub(crate) async fn a_refused_command_undoes_those_before_it(store: AnyStore) {
    let id = add(&store, new_pet("", 1, Available)).await;
    let before = pet(&store, id).await;
    let fails_last = vec![
        Command::add(new_pet("", 1, Available)),
        Command::PlaceOrder(reserve(id)),
        withdraw(id),
    ];
    let refused = execute(&store, fails_last).await;
    let ExecutionOutcome::Refused {
        index: 2,
        refusal: Refusal::OpenOrder(conflict),
    } = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(pet(&store, id).await, before);
    // What it shows is there, and not what the commands before it made.
    assert_eq!(conflict.current, Resource::Pet(before.clone()));
    let preconditions = Preconditions::version(1);
    let stale = Command::RestorePet { id, preconditions };
    let stale = vec![Command::PlaceOrder(reserve(id)), stale];
    let stale = execute(&store, stale).await;
    let refusal = Refusal::PreconditionFailed(Some(Box::new(Resource::Pet(before.clone()))));
    assert_eq!(stale, ExecutionOutcome::Refused { index: 1, refusal });
    assert_eq!(store.get_order(order_id(1)).await.unwrap(), None);
    assert_eq!(count(&store).await, 1);
}

/// Gives an animal each of these categories in turn.
fn patches(id: PetId, categories: impl IntoIterator<Item = i64>) -> Vec<Command> {
    let to = |category| PetPatch {
        category_id: Some(category),
        ..PetPatch::default()
    };
    categories
        .into_iter()
        .map(|category| patch(id, to(category)))
        .collect()
}

pub(crate) async fn an_animal_that_a_request_adds_or_restores_and_withdraws_is_withdrawn(
    store: AnyStore,
) {
    let last = add(&store, new_pet("", 1, Available)).await;
    // A client can guess the next identifier.
    let id = pet_id(last.get() + 1);
    let add = Command::add(new_pet("Rex", 1, Sold));
    for (first, version) in [(add, 2), (restore(id), 4)] {
        let done = execute(&store, vec![first, withdraw(id)]).await;
        let ExecutionOutcome::Done { changes, .. } = done else {
            panic!("{done:?}")
        };
        expect_stored(&store, &changes[1..]).await;
        assert_eq!(pet(&store, id).await.version, version);
        assert_eq!(store.get_pet(id).await.unwrap(), None);
    }
}

pub(crate) async fn the_representations_of_a_batch_have_2_mib_and_one_byte_more_is_refused(
    store: AnyStore,
) {
    // Each time with new animals. U+0001 takes six bytes in JSON.
    let batch = async |length: usize| {
        let long = add(&store, new_pet(&"n\u{1}".repeat(8_600), 1, Available)).await;
        let short = add(&store, new_pet("x", 1, Available)).await;
        let name = PetPatch {
            name: PetName::new("n".repeat(length)),
            ..PetPatch::default()
        };
        (
            [patches(long, 2..19), vec![patch(short, name)]].concat(),
            long,
        )
    };
    let written = async || -> usize {
        let last = store.journal_state().await.unwrap().last;
        let page = store.changes_after(last - 18, None, 100).await.unwrap();
        page.changes.iter().map(JournalEntry::length).sum()
    };
    let done = execute(&store, batch(1).await.0).await;
    assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
    let rest = (2 << 20) - written().await + 1;
    let (too_long, id) = batch(rest + 1).await;
    let refused = execute(&store, too_long).await;
    assert_eq!(
        refused,
        ExecutionOutcome::Refused {
            index: 17,
            refusal: Refusal::TooLong
        }
    );
    assert_eq!(pet(&store, id).await.version, 1);
    let done = execute(&store, batch(rest).await.0).await;
    assert!(matches!(done, ExecutionOutcome::Done { .. }));
    assert_eq!(written().await, 2 << 20);
}

pub(crate) async fn what_a_batch_leaves_as_it_is_counts_as_if_it_had_changed(store: AnyStore) {
    let id = add(&store, new_pet(&"n".repeat(60_000), 1, Available)).await;
    let refused = execute(&store, patches(id, [1; 100])).await;
    assert_eq!(
        refused,
        ExecutionOutcome::Refused {
            index: 17,
            refusal: Refusal::TooLong
        }
    );
    let done = execute(&store, patches(id, [1; 17])).await;
    assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
}

pub(crate) async fn of_many_orders_for_one_animal_one_is_placed(store: AnyStore) {
    for round in 1..=5 {
        let id = add(&store, new_pet("", 1, Available)).await;
        let placing = (0..20).map(|number| {
            let store = Arc::clone(&store);
            let new = if number % 2 == 0 {
                reserve(id)
            } else {
                sell(id)
            };
            tokio::spawn(async move { execute(&store, vec![Command::PlaceOrder(new)]).await })
        });
        let ended = join_all(placing).await.into_iter().map(Result::unwrap);
        let placed = ended
            .filter(|one| matches!(one, ExecutionOutcome::Done { .. }))
            .count();
        assert_eq!(placed, 1, "{round}");
        assert_eq!(pet(&store, id).await.version, 2);
    }
}

pub(crate) async fn of_many_changes_of_one_version_one_is_made(store: AnyStore) {
    let id = add(&store, new_pet("", 1, Available)).await;
    let patching = (1..=20).map(|category_id| {
        let store = Arc::clone(&store);
        let patch = PetPatch {
            category_id: Some(category_id + 1),
            ..PetPatch::default()
        };
        let command = Command::PatchPet {
            id,
            patch,
            preconditions: Preconditions::version(1),
        };
        tokio::spawn(async move { execute(&store, vec![command]).await })
    });
    let ended = join_all(patching).await.into_iter().map(Result::unwrap);
    let is_done = |one: &ExecutionOutcome| match one {
        ExecutionOutcome::Done { .. } => true,
        ExecutionOutcome::Refused {
            refusal: Refusal::PreconditionFailed(Some(_)),
            ..
        } => false,
        other => panic!("{other:?}"),
    };
    assert_eq!(ended.filter(is_done).count(), 1);
    assert_eq!(pet(&store, id).await.version, 2);
}

pub(crate) async fn opposite_requests_over_the_same_animals_all_end(store: AnyStore) {
    for _ in 0..10 {
        add(&store, new_pet("", 1, Available)).await;
    }
    let toggling = (0..20).map(|number| {
        let store = Arc::clone(&store);
        let status = if number % 4 < 2 { Sold } else { Available };
        let mut commands: Vec<_> = (1..=10).map(|id| to_status(pet_id(id), status)).collect();
        if number % 2 == 0 {
            commands.reverse();
        }
        tokio::spawn(async move { execute(&store, commands).await })
    });
    for ended in join_all(toggling).await {
        let ended = ended.unwrap();
        assert!(matches!(ended, ExecutionOutcome::Done { .. }), "{ended:?}");
    }
    // All animals have the status of the last request.
    let last = pet(&store, pet_id(1)).await.status;
    for id in 2..=10 {
        assert_eq!(pet(&store, pet_id(id)).await.status, last);
    }
}

pub(crate) async fn a_request_whose_future_is_dropped_is_done_completely_or_not_at_all(
    store: AnyStore,
) {
    for _ in 0..50 {
        let id = add(&store, new_pet("", 1, Available)).await;
        let context = WriteContext {
            now: now(),
            ..act(0)
        };
        let mut place = store.execute(vec![Command::PlaceOrder(reserve(id))], context, respond);
        let _ = futures_util::poll!(place.as_mut());
        drop(place);
    }
    // Behind them, at least where one connection writes.
    let last = add(&store, new_pet("", 1, Available)).await;
    for id in 1..last.get() {
        let animal = pet(&store, pet_id(id)).await;
        match animal.order_id {
            None => assert_eq!((animal.status, animal.version), (Available, 1)),
            Some(of) => {
                assert_eq!((animal.status, animal.version), (Pending, 2));
                assert_eq!(order(&store, of).await.pet_id, animal.id);
            }
        }
    }
}
