//! Tests of the audit trail. Part of the suite.

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    Actor, KeyId,
    PetStatus::{Available, Pending},
    WriteContext,
    store_area::{
        ActType, AuditEntry, AuditQuery, AuditType, Category, ChangeType, Command, FieldPatch,
        FieldValues, JournalEntry, JournalSubject, Label, Resource, SubjectKind,
    },
};
use petstore_store::{
    OpenMode,
    bulk::{IdSource, LastIds},
};
use petstore_testing::{
    area::{cancel, change, pet_id, place, reserve, respond, to_status},
    stores::{AnyStore, act, at, create, new_key, new_pet},
};

use crate::{journal::log, retries};

/// All entries that are selected, in pages of this many.
async fn walk(store: &AnyStore, limit: u32, query: &AuditQuery) -> Vec<AuditEntry> {
    let mut query = AuditQuery {
        limit,
        ..query.clone()
    };
    let mut all = Vec::new();
    loop {
        let (entries, next) = store.list_audit(&query).await.unwrap();
        assert!(entries.len() <= limit as usize);
        all.extend(entries);
        let Some(next) = next else { return all };
        assert!(
            query
                .after
                .is_none_or(|after| (after > next) == query.newest_first)
        );
        query.after = Some(next);
    }
}

/// An entry as a line.
fn line(entry: &AuditEntry) -> String {
    match entry {
        AuditEntry::Change(change) => {
            format!(
                "{} {} {}",
                change.at.as_second(),
                change.kind.as_str(),
                change.subject
            )
        }
        AuditEntry::Act { at, act, .. } => {
            let details: Vec<_> = act
                .details
                .iter()
                .map(|(name, value)| format!(" {name}={value}"))
                .collect();
            let (second, kind) = (at.as_second(), act.kind.as_str());
            format!("{second} {kind} {}{}", act.subject, details.concat())
        }
    }
}

async fn lines(store: &AnyStore, query: &AuditQuery) -> Vec<String> {
    let all: Vec<_> = walk(store, 100, query).await.iter().map(line).collect();
    for limit in 1..4 {
        let in_pages: Vec<_> = walk(store, limit, query).await.iter().map(line).collect();
        assert_eq!(in_pages, all, "in pages of {limit}");
        let query = AuditQuery {
            newest_first: true,
            ..query.clone()
        };
        let mut in_pages: Vec<_> = walk(store, limit, &query).await.iter().map(line).collect();
        in_pages.reverse();
        assert_eq!(in_pages, all, "in pages of {limit}, the newest first");
    }
    all
}

/// Two keys, of which one is rotated and revoked, between changes of two animals.
async fn fill(store: &AnyStore) {
    let by_key = WriteContext::new(Actor::Key(KeyId(1)), at(3));
    store.create_key(new_key(1, None), act(1)).await.unwrap();
    store
        .create_pet(new_pet("", 1, Available), act(2), retries::respond)
        .await
        .unwrap();
    store
        .create_pet(new_pet("", 1, Available), by_key, retries::respond)
        .await
        .unwrap();
    store
        .rotate_key(KeyId(1), new_key(2, None), at(9), act(4))
        .await
        .unwrap()
        .unwrap();
    store
        .execute(vec![to_status(pet_id(1), Pending)], act(5), respond)
        .await
        .unwrap();
    for _ in 0..2 {
        store.revoke_key(KeyId(1), act(6)).await.unwrap().unwrap();
    }
}

const EVERYTHING: [&str; 6] = [
    "1 key.created key:1 name=key \"1\" scope=read",
    "2 pet.added pet:1",
    "3 pet.added pet:2",
    "4 key.rotated key:1 successor=2",
    "5 pet.changed pet:1",
    "6 key.revoked key:1",
];

pub(crate) async fn a_page_begins_and_ends_at_any_change_also_between_an_order_and_its_animal(
    store: AnyStore,
) {
    let id = create(&store, new_pet("", 1, Available)).await.id;
    for _ in 0..2 {
        let order = place(&store, reserve(id)).await;
        change(&store, cancel(order)).await;
        change(&store, to_status(id, Pending)).await;
        change(&store, to_status(id, Available)).await;
    }
    let all = log(&store).await;
    let last = all.last().unwrap().seq;
    let kinds = [
        None,
        Some(ChangeType::OrderPlaced),
        Some(ChangeType::PetChanged),
    ];
    for (kind, after) in kinds
        .into_iter()
        .flat_map(|kind| (0..=last).map(move |after| (kind, after)))
    {
        let selected = |change: &&JournalEntry| {
            change.seq > after && kind.is_none_or(|kind| change.kind == kind)
        };
        let expected: Vec<_> = all.iter().filter(selected).cloned().collect();
        for limit in 1..5 {
            let (mut from, mut found) = (after, Vec::new());
            while from < last {
                let page = store.changes_after(from, kind, limit).await.unwrap();
                assert!(page.read_to > from && page.changes.len() <= limit as usize);
                found.extend(page.changes);
                from = page.read_to;
            }
            assert_eq!(found, expected, "above {after}, {limit} of {kind:?}");
        }
    }
    for before in 1..=last + 1 {
        for limit in [1, 2, 3, 20] {
            let older = all.iter().rev().filter(|change| change.seq < before);
            let expected: Vec<_> = older.take(limit as usize).cloned().collect();
            assert_eq!(
                store.history(id, before, limit).await.unwrap(),
                expected,
                "before {before}"
            );
        }
    }
    let whole: Vec<_> = all
        .iter()
        .map(|change| {
            format!(
                "{} {} {}",
                change.at.as_second(),
                change.kind.as_str(),
                change.subject
            )
        })
        .collect();
    assert_eq!(lines(&store, &AuditQuery::default()).await, whole);
    let order = JournalSubject {
        kind: SubjectKind::Order.into(),
        id: Some(2),
    };
    let of_order = AuditQuery {
        subject: Some(order),
        ..AuditQuery::default()
    };
    let expected: Vec<_> = whole
        .into_iter()
        .filter(|line| line.ends_with("order:2"))
        .collect();
    assert_eq!(lines(&store, &of_order).await, expected);
}

pub(crate) async fn the_audit_trail_has_the_acts_between_the_changes(store: AnyStore) {
    assert_eq!(lines(&store, &AuditQuery::default()).await, [""; 0]);
    fill(&store).await;
    assert_eq!(lines(&store, &AuditQuery::default()).await, EVERYTHING);
    for entry in walk(&store, 100, &AuditQuery::default()).await {
        let actor = match entry {
            AuditEntry::Change(change) if change.seq == 2 => {
                assert_eq!(change.actor, Actor::Key(KeyId(1)).into());
                continue;
            }
            AuditEntry::Change(change) => change.actor,
            AuditEntry::Act { actor, .. } => actor,
        };
        assert_eq!(actor, Actor::Command.into());
    }
}

pub(crate) async fn the_audit_trail_is_searched_by_subject_actor_type_and_time(store: AnyStore) {
    fill(&store).await;
    let any = AuditQuery::default();
    let about = |kind: SubjectKind, id| AuditQuery {
        subject: Some(JournalSubject {
            kind: kind.into(),
            id,
        }),
        ..any.clone()
    };
    let selects = async |query: AuditQuery, expected: &[usize]| {
        let expected: Vec<_> = expected.iter().map(|&index| EVERYTHING[index]).collect();
        assert_eq!(lines(&store, &query).await, expected, "{query:?}");
    };
    selects(about(SubjectKind::Pet, Some(1)), &[1, 4]).await;
    selects(about(SubjectKind::Pets, None), &[]).await;
    selects(about(SubjectKind::Order, Some(1)), &[]).await;
    selects(about(SubjectKind::Key, Some(1)), &[0, 3, 5]).await;
    let by_key = AuditQuery {
        actor: Some(Actor::Key(KeyId(1))),
        ..any.clone()
    };
    selects(by_key, &[2]).await;
    let by_other = AuditQuery {
        actor: Some(Actor::Key(KeyId(2))),
        ..any.clone()
    };
    selects(by_other, &[]).await;
    let by_command = AuditQuery {
        actor: Some(Actor::Command),
        ..any.clone()
    };
    selects(by_command.clone(), &[0, 1, 3, 4, 5]).await;
    let of = |kind| AuditQuery {
        kind: Some(kind),
        ..any.clone()
    };
    selects(of(AuditType::Change(ChangeType::PetAdded)), &[1, 2]).await;
    selects(of(AuditType::Act(ActType::KeyRotated)), &[3]).await;
    for from in 0..8_i64 {
        for to in from..8 {
            let query = AuditQuery {
                since: Some(at(from)),
                until: Some(at(to)),
                ..any.clone()
            };
            let within: Vec<_> = (1..=6)
                .filter(|&second| from <= second && second < to)
                .map(|second| usize::try_from(second - 1).unwrap())
                .collect();
            selects(query, &within).await;
        }
    }
}

pub(crate) async fn a_clock_that_was_set_back_hides_nothing_from_a_search_by_time(store: AnyStore) {
    for second in [10, 20, 3, 4, 30, 5, 40] {
        store
            .create_pet(new_pet("", 1, Available), act(second), retries::respond)
            .await
            .unwrap();
    }
    for (since, expected) in [
        (0, 7),
        (4, 6),
        (5, 5),
        (10, 4),
        (20, 3),
        (21, 2),
        (40, 1),
        (41, 0),
    ] {
        let query = AuditQuery {
            since: Some(at(since)),
            ..AuditQuery::default()
        };
        assert_eq!(lines(&store, &query).await.len(), expected, "{since}");
        let query = AuditQuery {
            until: Some(at(since)),
            ..AuditQuery::default()
        };
        assert_eq!(lines(&store, &query).await.len(), 7 - expected, "{since}");
    }
}

/// A page looks at 10,000 changes.
pub(crate) async fn a_clock_that_was_set_back_hides_nothing_behind_a_page_that_is_too_new(
    store: AnyStore,
) {
    for _ in 0..11 {
        let addition =
            Command::AddPet(new_pet("", 1, Available), FieldPatch::default(), Vec::new());
        let additions = vec![addition; 1_000];
        store
            .execute(additions, act(20_000), respond)
            .await
            .unwrap();
    }
    store
        .create_pet(new_pet("", 1, Available), act(10_000), retries::respond)
        .await
        .unwrap();

    for newest_first in [false, true] {
        let query = AuditQuery {
            until: Some(at(15_000)),
            newest_first,
            ..AuditQuery::default()
        };
        let found: Vec<_> = walk(&store, 10, &query).await.iter().map(line).collect();
        assert_eq!(found, ["10000 pet.added pet:11001"]);
    }
}

pub(crate) async fn old_acts_are_forgotten_with_the_changes(store: AnyStore) {
    fill(&store).await;
    store.journal_state().await.unwrap();
    store.forget_changes(at(5)..=at(1_000), 100).await.unwrap();
    assert_eq!(
        lines(&store, &AuditQuery::default()).await,
        &EVERYTHING[4..]
    );
}

/// Imports at `url`, where `store` is open.
pub(crate) async fn expect_one_row_for_an_import(store: &AnyStore, url: &str) {
    create(store, new_pet("", 1, Available)).await;
    let url: DatabaseUrl = url.parse().unwrap();
    let import = move |ids: Option<[i64; 3]>| {
        let mut load = databases::open_load(&url, OpenMode::AsIs).unwrap();
        load.begin(ids.map_or(IdSource::Next, |_| IdSource::Given), at(7))
            .unwrap();
        for index in 0..3 {
            let id = ids.map(|ids| pet_id(ids[index]));
            load.add_pet(id, &new_pet("", 1, Available), &FieldValues::NONE)
                .unwrap();
        }
        load.log_import().unwrap();
        load.commit().unwrap();
    };
    let importing = tokio::task::spawn_blocking(move || {
        import(None);
        import(Some([90, 70, 80]));
    });
    importing.await.unwrap();
    let log = crate::journal::log(store).await;
    assert_eq!(log.len(), 3);
    for (row, after) in log[1..].iter().zip([
        r#"{"firstId":2,"lastId":4,"count":3}"#,
        r#"{"firstId":70,"lastId":90,"count":3}"#,
    ]) {
        assert_eq!(
            (&row.kind, row.subject.to_string()),
            (&ChangeType::PetsImported.into(), "pets".to_owned())
        );
        assert_eq!(
            (row.after.as_deref(), &row.before, row.version),
            (Some(after), &None, None)
        );
        assert_eq!((&row.actor, row.at), (&Actor::Command.into(), at(7)));
    }
    change(store, to_status(pet_id(3), Pending)).await;
    assert_eq!(crate::journal::log(store).await.len(), 4);
}

/// Imports a category and nothing else at `url`, where `store` is open.
pub(crate) async fn expect_a_row_for_an_import_without_animals(store: &AnyStore, url: &str) {
    let epoch = store.journal_state().await.unwrap().epoch;
    let url: DatabaseUrl = url.parse().unwrap();
    let importing = tokio::task::spawn_blocking(move || {
        let label = Label::new("Goats".to_owned()).unwrap();
        for category in [
            None,
            Some(Category {
                id: 9,
                label,
                version: 3,
            }),
        ] {
            let mut load = databases::open_load(&url, OpenMode::AsIs).unwrap();
            load.begin(IdSource::Given, at(7)).unwrap();
            if let Some(category) = category {
                load.add_resource(&Resource::Category(category)).unwrap();
            }
            load.continue_after(LastIds::default()).unwrap();
            load.log_import().unwrap();
            load.commit().unwrap();
        }
    });
    importing.await.unwrap();
    let log = crate::journal::log(store).await;
    let [import] = &log[..] else {
        panic!("{log:?}")
    };
    assert_eq!(import.kind, ChangeType::PetsImported);
    assert_eq!(
        import.after.as_deref(),
        Some(r#"{"firstId":null,"lastId":null,"count":0}"#)
    );
    // Cursors stay valid.
    assert_eq!(store.journal_state().await.unwrap().epoch, epoch);
}
