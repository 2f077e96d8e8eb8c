//! The values of fields. Part of the suite.

use std::collections::HashMap;

use futures_util::future::join_all;
use petstore_domain::{
    PetStatus::Available,
    StoredResponse,
    store_area::{
        Command, FieldChange, FieldDefinition, FieldName, FieldPatch, FieldValue, JournalEntry,
        Label, Refusal, RequestedValue, Resource, StorePet,
    },
};
use petstore_store::{ExecutionOutcome, WriteOutcome};
use petstore_testing::{
    area::{change, execute, refused, restore, withdraw},
    stores::{AnyStore, act, new_pet},
};
use serde_json::Value;

use crate::journal::log;

/// Adds an animal with this value of a field.
pub(crate) fn with_value(field: &str, value: &str) -> Command {
    let value = RequestedValue::Set(FieldValue::Text(value.to_owned()));
    Command::AddPet(
        new_pet("Rex", 1, Available),
        FieldPatch::from([(field.to_owned(), value)]),
        Vec::new(),
    )
}

pub(crate) fn with_chip(chip: &str) -> Command {
    with_value("microchip", chip)
}

pub(crate) async fn expect_taken_chip(store: &AnyStore) {
    let refusal = refused(store, with_chip("1")).await;
    assert!(
        matches!(refusal, Refusal::DuplicateValue { .. }),
        "{refusal:?}"
    );
}

pub(crate) async fn a_value_that_is_written_while_its_field_is_examined_keeps_the_field(
    store: AnyStore,
) {
    let name = FieldName::new("breed").unwrap();
    let delete = |seen: i64| {
        let change = FieldChange {
            seen_version: seen,
            name: name.clone(),
            after: None,
            must_be_unused: true,
        };
        store.write_fields(vec![change], Vec::new(), StoredResponse::default(), act(0))
    };
    for other in ["colour", "breed"] {
        let seen = store.fields().await.unwrap().version;
        assert!(store.examine_field(name.clone(), seen).await.unwrap());
        assert!(!store.examine_field(name.clone(), seen).await.unwrap());
        assert_eq!(delete(seen).await.unwrap(), WriteOutcome::Stale);
        assert!(!store.has_values(&name).await.unwrap());
        change(&store, with_value(other, "red")).await;
        if other == "breed" {
            assert_eq!(delete(seen + 1).await.unwrap(), WriteOutcome::Stale);
            assert!(store.has_values(&name).await.unwrap());
        }
    }
    let seen = store.fields().await.unwrap().version;
    let name = FieldName::new("size").unwrap();
    assert!(store.examine_field(name.clone(), seen).await.unwrap());
    let change = FieldChange {
        seen_version: seen + 1,
        name,
        after: None,
        must_be_unused: true,
    };
    let written = store
        .write_fields(vec![change], Vec::new(), StoredResponse::default(), act(0))
        .await;
    assert_eq!(written.unwrap(), WriteOutcome::Done);
    assert!(store.fields().await.unwrap().find("size").is_none());
    // The command that comes next knows it.
    let refusal = refused(&store, with_value("size", "Small")).await;
    assert!(matches!(refusal, Refusal::Fields(_)), "{refusal:?}");
}

pub(crate) async fn a_command_is_decided_with_the_fields_as_they_are(store: AnyStore) {
    for number in 0..20 {
        change(&store, with_value("breed", "Collie")).await;
        let fields = store.fields().await.unwrap();
        let field = fields.find("colour").unwrap();
        let after = FieldDefinition {
            position: number,
            ..field.clone()
        };
        let (name, after) = (after.name.clone(), Some(after));
        let change = FieldChange {
            seen_version: fields.version,
            name,
            after,
            must_be_unused: false,
        };
        let written =
            store.write_fields(vec![change], Vec::new(), StoredResponse::default(), act(0));
        let added = execute(&store, vec![with_value("colour", "red")]);
        let (written, added) = futures_util::join!(written, added);
        assert_eq!(written.unwrap(), WriteOutcome::Done);
        assert!(matches!(added, ExecutionOutcome::Done { .. }), "{added:?}");
    }
}

pub(crate) async fn several_changes_of_fields_are_made_together_or_not_at_all(store: AnyStore) {
    let seen = store.fields().await.unwrap().version;
    let labelled = async |name: &str, seen: i64| {
        let fields = store.fields().await.unwrap();
        let field = fields.find(name).unwrap();
        let label = Label::new(format!("{name} of {seen}")).unwrap();
        let after = Some(FieldDefinition {
            label,
            ..field.clone()
        });
        FieldChange {
            seen_version: seen,
            name: field.name.clone(),
            after,
            must_be_unused: false,
        }
    };
    let label_of = async |name: &str| {
        store
            .fields()
            .await
            .unwrap()
            .find(name)
            .unwrap()
            .label
            .as_str()
            .to_owned()
    };
    let before = label_of("breed").await;

    // The second change was decided with other fields.
    let changes = vec![
        labelled("breed", seen).await,
        labelled("colour", seen).await,
    ];
    let written = store
        .write_fields(changes, Vec::new(), StoredResponse::default(), act(0))
        .await;
    assert_eq!(written.unwrap(), WriteOutcome::Stale);
    assert_eq!(label_of("breed").await, before);
    assert_eq!(store.fields().await.unwrap().version, seen);

    let changes = vec![
        labelled("breed", seen).await,
        labelled("colour", seen + 1).await,
    ];
    let written = store
        .write_fields(changes, Vec::new(), StoredResponse::default(), act(0))
        .await;
    assert_eq!(written.unwrap(), WriteOutcome::Done);
    assert_eq!(label_of("breed").await, format!("breed of {seen}"));
    assert_eq!(label_of("colour").await, format!("colour of {}", seen + 1));
}

pub(crate) async fn of_many_animals_with_one_unique_value_one_is_added(store: AnyStore) {
    expect_one_with_each_chip(&[&store]).await;
    change(&store, with_chip("1")).await;
    expect_taken_chip(&store).await;
}

/// Adds animals with the same values at the same time, over several stores.
pub(crate) async fn expect_one_with_each_chip(stores: &[&AnyStore]) {
    for chip in ["1", "2", "3"] {
        let adds = (0..24).map(|at| {
            let store = stores[at % stores.len()];
            // Some are compared as equal.
            let chip = if at % 3 == 0 {
                format!("{chip}Á")
            } else {
                format!("{chip}a")
            };
            execute(store, vec![with_chip(&chip)])
        });
        let done = join_all(adds).await;
        let is_duplicate = |done: &&ExecutionOutcome| {
            matches!(
                done,
                ExecutionOutcome::Refused {
                    refusal: Refusal::DuplicateValue { .. },
                    ..
                }
            )
        };
        let added = done
            .iter()
            .filter(|done| matches!(done, ExecutionOutcome::Done { .. }))
            .count();
        assert_eq!(
            (added, done.iter().filter(is_duplicate).count()),
            (1, 23),
            "{done:?}"
        );
    }
}

pub(crate) async fn no_two_animals_have_one_chip_while_many_add_withdraw_and_restore(
    store: AnyStore,
) {
    expect_one_owner_of_each_chip(&[&store]).await;
}

/// Adds, withdraws and restores animals with three chips by 64 clients, over several stores, and
/// follows who had each chip through the log.
pub(crate) async fn expect_one_owner_of_each_chip(stores: &[&AnyStore]) {
    let clients = (0..64).map(|number| async move {
        let store = stores[number % stores.len()];
        let (mut done, mut refused) = (0, 0);
        for round in 0..4 {
            let chip = (1 + (number + round) % 3).to_string();
            let mut commands = vec![with_chip(&chip)];
            while let Some(command) = commands.pop() {
                let is_new = matches!(command, Command::AddPet(..));
                match execute(store, vec![command]).await {
                    ExecutionOutcome::Done { changes, .. } => {
                        done += 1;
                        if is_new && let Some(Resource::Pet(StorePet { id, .. })) = changes[0].after
                        {
                            commands = vec![withdraw(id), restore(id), withdraw(id)];
                        }
                    }
                    ExecutionOutcome::Refused {
                        refusal: Refusal::DuplicateValue { .. },
                        ..
                    } => {
                        refused += 1;
                    }
                    // It could not be restored, so it cannot be withdrawn.
                    ExecutionOutcome::Refused {
                        refusal: Refusal::InvalidTransition(_),
                        ..
                    } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        (done, refused)
    });
    let (done, refused): (Vec<u32>, Vec<u32>) = join_all(clients).await.into_iter().unzip();
    let [done, refused] = [done, refused].map(|counts| counts.iter().sum::<u32>());
    assert!(done > 10 && refused > 10, "{done} done, {refused} refused");
    let mut owners = HashMap::new();
    for JournalEntry {
        seq,
        pet,
        before,
        after,
        ..
    } in log(stores[0]).await
    {
        let chip = |shown: Option<Box<str>>| {
            let shown: Value = serde_json::from_str(&shown?).unwrap();
            let chip = shown["fields"]["microchip"].as_str()?.to_owned();
            shown["withdrawn"].is_null().then_some(chip)
        };
        if let Some(chip) = chip(before) {
            assert_eq!(owners.remove(&chip), pet, "change {seq}");
        }
        if let Some(chip) = chip(after) {
            assert_eq!(owners.insert(chip, pet.unwrap()), None, "change {seq}");
        }
    }
}
