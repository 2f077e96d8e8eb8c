//! Tests of the log of changes. Part of the suite.

use std::sync::Arc;

use futures_util::future::join_all;
use petstore_domain::{
    Actor, KeyId, NamedActor,
    PetStatus::{Available, Pending},
    WriteContext,
    store_area::{
        Act, ActType, AuditQuery, AuditType, ChangePage, ChangeType, Command, JournalEntry,
        JournalState, JournalSubject, OrderPatch, Patch, Preconditions, Reference, SubjectKind,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{
        add, any, cancel, change, complete, execute, give_back, label, now, order_id, pet_id,
        place, refused, reserve, respond, restore, sell, to_status, withdraw,
    },
    stores::{AnyStore, act, at, create, new_pet},
};
use serde_json::{Value, json};

use crate::retries::{self, named};

/// Makes a test of every function, as [`crate::suite::suite`] does.
macro_rules! journal_suite {
    ($open:expr) => {
        $crate::journal::journal_suite!(
            $open,
            the_log_of_a_new_store_is_empty_and_has_its_own_epoch,
            each_change_of_an_animal_leaves_its_row,
            each_change_of_an_order_leaves_its_row_before_that_of_the_animal,
            each_change_of_a_category_leaves_its_row,
            a_row_has_the_time_the_actor_with_its_name_and_the_request,
            what_changes_nothing_leaves_no_row_and_no_gap,
            a_repeated_request_leaves_its_rows_once,
            concurrent_creates_leave_one_row_each_without_a_gap,
            the_log_is_read_in_parts_by_type,
            a_page_of_changes_with_very_long_texts_ends_early,
            the_history_of_an_animal_has_its_changes_and_those_of_its_orders_the_newest_first,
            old_changes_are_forgotten_from_the_oldest_on_but_never_the_newest,
            a_time_of_a_wrong_clock_does_not_decide_what_is_forgotten,
            a_page_begins_and_ends_at_any_change_also_between_an_order_and_its_animal,
            the_audit_trail_has_the_acts_between_the_changes,
            the_audit_trail_is_searched_by_subject_actor_type_and_time,
            a_clock_that_was_set_back_hides_nothing_from_a_search_by_time,
            a_clock_that_was_set_back_hides_nothing_behind_a_page_that_is_too_new,
            old_acts_are_forgotten_with_the_changes
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::journal::$test(store).await;
        })*
    };
}
pub(crate) use crate::audit::*;
pub(crate) use journal_suite;

/// Everything in the log. Checks that its numbers have no gaps.
pub(crate) async fn log(store: &AnyStore) -> Vec<JournalEntry> {
    let JournalState { first, last, .. } = store.journal_state().await.unwrap();
    let ChangePage { changes, read_to } = store.changes_after(0, None, 10_000).await.unwrap();
    assert_eq!(read_to, last);
    let numbers: Vec<i64> = changes.iter().map(|change| change.seq).collect();
    assert_eq!(numbers, (first..=last).collect::<Vec<_>>());
    changes
}

/// The rows since `after`: type, subject, version, and the values of `members` before and after.
async fn rows(store: &AnyStore, after: usize, members: &[&str]) -> Vec<Value> {
    let shown = |text: &Option<Box<str>>| {
        let Some(text) = text else { return Value::Null };
        let value: Value = serde_json::from_str(text).unwrap();
        members.iter().map(|member| value[member].clone()).collect()
    };
    let row = |change: &JournalEntry| {
        let JournalEntry {
            kind,
            subject,
            version,
            before,
            after,
            ..
        } = change;
        json!([
            kind.as_str(),
            subject.to_string(),
            version,
            shown(before),
            shown(after)
        ])
    };
    log(store).await[after..].iter().map(row).collect()
}

pub(crate) async fn the_log_of_a_new_store_is_empty_and_has_its_own_epoch(store: AnyStore) {
    let state = store.journal_state().await.unwrap();
    assert_eq!((state.first, state.last), (1, 0));
    assert_ne!(state.epoch.0, [0; 16]);
    assert_eq!(store.journal_state().await.unwrap().epoch, state.epoch);
    assert_eq!(
        store.changes_after(0, None, 10).await.unwrap(),
        ChangePage::default()
    );
}

pub(crate) async fn each_change_of_an_animal_leaves_its_row(store: AnyStore) {
    let id = create(&store, new_pet("Zoë \"\u{1}", 7, Available))
        .await
        .id;
    let added = json!({
        "id": 1, "name": "Zoë \"\u{1}", "categoryId": 7, "status": "available", "version": 1,
        "createdAt": "1970-01-01T00:00:00.000Z", "updatedAt": "1970-01-01T00:00:00.000Z",
        "orderId": null, "withdrawn": null, "fields": {}, "photos": [], "listed": true,
    });
    let first = log(&store).await.remove(0);
    assert_eq!(first.kind, ChangeType::PetAdded);
    assert_eq!((first.pet, &first.before), (Some(1), &None));
    assert_eq!(
        serde_json::from_str::<Value>(&first.after.unwrap()).unwrap(),
        added
    );

    change(&store, Command::add(new_pet("", 1, Pending))).await;
    change(&store, to_status(id, Pending)).await;
    change(&store, withdraw(id)).await;
    change(&store, restore(id)).await;
    let members = ["version", "status", "withdrawn"];
    let withdrawn =
        json!({"at": "1970-01-12T13:46:40.123Z", "reason": "transferred", "note": null});
    let expected = json!([
        ["pet.added", "pet:2", 1, null, [1, "pending", null]],
        [
            "pet.changed",
            "pet:1",
            2,
            [1, "available", null],
            [2, "pending", null]
        ],
        [
            "pet.withdrawn",
            "pet:1",
            3,
            [2, "pending", null],
            [3, "pending", withdrawn]
        ],
        [
            "pet.restored",
            "pet:1",
            4,
            [3, "pending", withdrawn],
            [4, "pending", null]
        ],
    ]);
    assert_eq!(Value::from(rows(&store, 1, &members).await), expected);
}

pub(crate) async fn each_change_of_an_order_leaves_its_row_before_that_of_the_animal(
    store: AnyStore,
) {
    let id = add(&store, new_pet("", 1, Available)).await;
    let reserved = place(&store, reserve(id)).await;
    let patch = OrderPatch {
        reference: Patch::Set(Reference::new("A-1".to_owned()).unwrap()),
        ..OrderPatch::default()
    };
    change(
        &store,
        Command::PatchOrder {
            id: reserved,
            patch,
            preconditions: any(),
        },
    )
    .await;
    change(&store, cancel(reserved)).await;
    let sold = place(&store, sell(id)).await;
    change(&store, give_back(sold)).await;
    let second = place(&store, reserve(id)).await;
    change(&store, complete(second)).await;
    let changed = |version, before: Value, after: Value| {
        json!(["pet.changed", "pet:1", version, before, after])
    };
    let (free, held) = (json!([1, "available"]), json!([1, "pending"]));
    let sold = json!([1, "sold"]);
    let expected = json!([
        ["order.placed", "order:1", 1, null, [1, "reserved"]],
        changed(2, free.clone(), held.clone()),
        [
            "order.changed",
            "order:1",
            2,
            [1, "reserved"],
            [1, "reserved"]
        ],
        [
            "order.cancelled",
            "order:1",
            3,
            [1, "reserved"],
            [1, "cancelled"]
        ],
        changed(3, held.clone(), free.clone()),
        ["order.completed", "order:2", 1, null, [2, "completed"]],
        changed(4, free.clone(), sold.clone()),
        [
            "order.returned",
            "order:2",
            2,
            [2, "completed"],
            [2, "returned"]
        ],
        changed(5, sold.clone(), free.clone()),
        ["order.placed", "order:3", 1, null, [3, "reserved"]],
        changed(6, free, held.clone()),
        [
            "order.completed",
            "order:3",
            2,
            [3, "reserved"],
            [3, "completed"]
        ],
        changed(7, held, sold),
    ]);
    assert_eq!(
        Value::from(rows(&store, 1, &["id", "status"]).await),
        expected
    );
    assert!(log(&store).await.iter().all(|change| change.pet == Some(1)));
}

pub(crate) async fn each_change_of_a_category_leaves_its_row(store: AnyStore) {
    let put = |text, preconditions| Command::PutCategory {
        id: -3,
        label: label(text),
        preconditions,
    };
    let absent = Preconditions {
        if_absent: true,
        ..Preconditions::default()
    };
    change(&store, put("Cats", absent)).await;
    change(&store, put("Dogs", any())).await;
    change(
        &store,
        Command::DeleteCategory {
            id: -3,
            preconditions: any(),
        },
    )
    .await;
    let expected = json!([
        ["category.changed", "category:-3", 1, null, ["Cats"]],
        ["category.changed", "category:-3", 2, ["Cats"], ["Dogs"]],
        ["category.deleted", "category:-3", 2, ["Dogs"], null],
    ]);
    assert_eq!(Value::from(rows(&store, 0, &["label"]).await), expected);
    assert!(log(&store).await.iter().all(|change| change.pet.is_none()));
}

pub(crate) async fn a_row_has_the_time_the_actor_with_its_name_and_the_request(store: AnyStore) {
    let till = NamedActor {
        actor: Actor::Key(KeyId(3)),
        name: Some("till".into()),
    };
    let context = WriteContext {
        request_id: Some("till-7".to_owned()),
        ..WriteContext::new(till.clone(), now())
    };
    let pet = new_pet("", 1, Available);
    store
        .create_pet(pet.clone(), context.clone(), retries::respond)
        .await
        .unwrap();
    let idempotency = named(1, "a", &pet, 0).idempotency;
    let repeatable = WriteContext {
        idempotency,
        ..context.clone()
    };
    store
        .create_pet(pet, repeatable, retries::respond)
        .await
        .unwrap();
    store
        .execute(vec![to_status(pet_id(1), Pending)], context, respond)
        .await
        .unwrap();
    for change in log(&store).await {
        assert_eq!(change.at.as_millisecond(), now().as_millisecond());
        assert_eq!(
            (change.actor, change.request_id),
            (till.clone(), Some("till-7".into()))
        );
    }
    let clock = WriteContext::new(Actor::Clock, at(1));
    store
        .execute(vec![to_status(pet_id(2), Pending)], clock, respond)
        .await
        .unwrap();
    let last = log(&store).await.pop().unwrap();
    assert_eq!(
        (last.actor, last.request_id, last.seq),
        (Actor::Clock.into(), None, 4)
    );
    // In the order of the changes, although this clock is behind.
    assert_eq!(last.at, at(1));
}

pub(crate) async fn what_changes_nothing_leaves_no_row_and_no_gap(store: AnyStore) {
    let id = add(&store, new_pet("", 1, Available)).await;
    change(&store, to_status(id, Available)).await;
    refused(&store, complete(order_id(7))).await;
    // The second command of each request is refused, which undoes the first.
    for _ in 0..3 {
        let commands = vec![to_status(id, Pending), complete(order_id(7))];
        assert!(matches!(
            execute(&store, commands).await,
            ExecutionOutcome::Refused { index: 1, .. }
        ));
    }
    add(&store, new_pet("", 1, Available)).await;
    let kinds: Vec<_> = log(&store)
        .await
        .into_iter()
        .map(|change| (change.seq, change.kind))
        .collect();
    let added = ChangeType::PetAdded;
    assert_eq!(kinds, [(1, added.into()), (2, added.into())]);
}

pub(crate) async fn a_repeated_request_leaves_its_rows_once(store: AnyStore) {
    let pet = new_pet("Frank", 1, Available);
    for _ in 0..2 {
        let context = named(1, "create", &pet, 0);
        store
            .create_pet(pet.clone(), context, retries::respond)
            .await
            .unwrap();
        let context = named(1, "place", &pet, 0);
        let place = vec![Command::PlaceOrder(reserve(pet_id(1)))];
        store
            .execute(
                place,
                WriteContext {
                    now: now(),
                    ..context
                },
                respond,
            )
            .await
            .unwrap();
    }
    let log = log(&store).await;
    let kinds: Vec<_> = log.iter().map(|change| change.kind.as_str()).collect();
    assert_eq!(kinds, ["pet.added", "order.placed", "pet.changed"]);
}

pub(crate) async fn concurrent_creates_leave_one_row_each_without_a_gap(store: AnyStore) {
    let creates = (0..64).map(|number| {
        let store = Arc::clone(&store);
        async move {
            let pet = new_pet("", number, Available);
            if number % 2 == 0 {
                create(&store, pet).await;
            } else {
                let context = named(1, &number.to_string(), &pet, 0);
                store
                    .create_pet(pet, context, retries::respond)
                    .await
                    .unwrap();
            }
            store.journal_state().await.unwrap();
        }
    });
    join_all(creates).await;
    let mut pets: Vec<_> = log(&store)
        .await
        .iter()
        .map(|change| change.pet.unwrap())
        .collect();
    pets.sort_unstable();
    assert_eq!(pets.len(), 64);
    pets.dedup();
    assert_eq!(pets.len(), 64);
}

pub(crate) async fn the_log_is_read_in_parts_by_type(store: AnyStore) {
    let id = add(&store, new_pet("", 1, Available)).await;
    for _ in 0..3 {
        change(&store, to_status(id, Pending)).await;
        change(&store, Command::add(new_pet("", 1, Available))).await;
        change(&store, to_status(id, Available)).await;
    }
    store.journal_state().await.unwrap();
    let read = async |after, kind, limit| {
        let page = store.changes_after(after, kind, limit).await.unwrap();
        (
            page.changes
                .iter()
                .map(|change| change.seq)
                .collect::<Vec<_>>(),
            page.read_to,
        )
    };
    let added = Some(ChangeType::PetAdded);
    assert_eq!(read(0, None, 4).await, (vec![1, 2, 3, 4], 4));
    assert_eq!(read(8, None, 4).await, (vec![9, 10], 10));
    assert_eq!(read(10, None, 4).await, (vec![], 10));
    assert_eq!(read(0, added, 2).await, (vec![1, 3], 3));
    assert_eq!(read(3, added, 9).await, (vec![6, 9], 10));
    assert_eq!(read(9, added, 9).await, (vec![], 10));
    assert_eq!(read(12, added, 9).await, (vec![], 12));
}

pub(crate) async fn a_page_of_changes_with_very_long_texts_ends_early(store: AnyStore) {
    let name = "a".repeat(60_000);
    for _ in 0..80 {
        add(&store, new_pet(&name, 1, Available)).await;
    }
    store.journal_state().await.unwrap();
    let read = async |after, limit| {
        let page = store.changes_after(after, None, limit).await.unwrap();
        let last = page.changes.last().unwrap().seq;
        (
            page.changes.iter().map(JournalEntry::length).sum::<usize>(),
            last,
            page.read_to,
        )
    };
    let (length, last, read_to) = read(0, 100).await;
    assert!((4 << 20..(4 << 20) + 61_000).contains(&length), "{length}");
    assert!(last < 80 && read_to == last, "{last}, {read_to}");
    assert_eq!(read(read_to, 100).await.1, 80);
    assert_eq!(read(0, 3).await.1, 3);
}

pub(crate) async fn the_history_of_an_animal_has_its_changes_and_those_of_its_orders_the_newest_first(
    store: AnyStore,
) {
    let (one, other) = (
        add(&store, new_pet("", 1, Available)).await,
        add(&store, new_pet("", 1, Available)).await,
    );
    let order = place(&store, reserve(one)).await;
    place(&store, sell(other)).await;
    change(&store, cancel(order)).await;
    let history = async |pet, before, limit| {
        let changes = store.history(pet, before, limit).await.unwrap();
        let kind = |change: &JournalEntry| change.kind.value().unwrap().as_str();
        changes
            .iter()
            .map(|change| (change.seq, kind(change)))
            .collect::<Vec<_>>()
    };
    let all = [
        (8, "pet.changed"),
        (7, "order.cancelled"),
        (4, "pet.changed"),
        (3, "order.placed"),
        (1, "pet.added"),
    ];
    assert_eq!(history(one, i64::MAX, 9).await, all);
    assert_eq!(history(one, i64::MAX, 2).await, all[..2]);
    assert_eq!(history(one, 7, 2).await, all[2..4]);
    assert_eq!(history(one, 1, 2).await, []);
    assert_eq!(history(pet_id(3), i64::MAX, 2).await, []);
}

pub(crate) async fn old_changes_are_forgotten_from_the_oldest_on_but_never_the_newest(
    store: AnyStore,
) {
    for second in 0..5 {
        let pet = new_pet("", 1, Available);
        store
            .create_pet(pet, act(second), retries::respond)
            .await
            .unwrap();
    }
    store.journal_state().await.unwrap();
    let kept = async |before, limit| {
        let forgotten = store
            .forget_changes(at(before)..=at(1_000), limit)
            .await
            .unwrap();
        let state = store.journal_state().await.unwrap();
        (forgotten, state.first, state.last)
    };
    assert_eq!(kept(0, 10).await, (0, 1, 5));
    assert_eq!(kept(3, 2).await, (2, 3, 5));
    assert_eq!(kept(3, 10).await, (1, 4, 5));
    assert_eq!(kept(1_000, 10).await, (1, 5, 5));
    assert_eq!(kept(1_000, 10).await, (0, 5, 5));
    create(&store, new_pet("", 1, Available)).await;
    let numbers: Vec<_> = log(&store).await.iter().map(|change| change.seq).collect();
    assert_eq!(numbers, [5, 6]);
}

pub(crate) async fn a_time_of_a_wrong_clock_does_not_decide_what_is_forgotten(store: AnyStore) {
    // The third was made by a clock that was behind, the fifth by one that was ahead.
    for second in [500, 501, 1, 502, 9_000, 503] {
        let pet = new_pet("", 1, Available);
        store
            .create_pet(pet, act(second), retries::respond)
            .await
            .unwrap();
        let subject = JournalSubject {
            kind: SubjectKind::Database.into(),
            id: None,
        };
        let restored = Act {
            kind: ActType::DatabaseRestored.into(),
            subject,
            details: vec![],
        };
        store.record_act(restored, act(second)).await.unwrap();
    }
    let kept = async |before| {
        while store
            .forget_changes(at(before)..=at(1_000), 10)
            .await
            .unwrap()
            > 0
        {}
        let first = store.journal_state().await.unwrap().first;
        let acts = AuditQuery {
            limit: 20,
            kind: Some(AuditType::Act(ActType::DatabaseRestored)),
            ..AuditQuery::default()
        };
        (first, store.list_audit(&acts).await.unwrap().0.len())
    };
    store.journal_state().await.unwrap();
    assert_eq!(kept(400).await, (1, 6));
    assert_eq!(kept(501).await, (2, 5));
    assert_eq!(kept(503).await, (5, 2));
    assert_eq!(kept(504).await, (5, 0));
}
