//! The checker with changes: it accepts good histories and rejects bad ones.

use super::{
    history::{Animal, Event, Moment, Operation, Patch},
    proofs::{STATUSES, animal, check, create, event, expect_of_each, get, list, list_of, status},
    store_area::{Command, Order as Sale, Outcome, Shown, StorePet, Withdrawal, values},
};

/// A command without `If-Match`, and the animal that the response shows.
fn store(called: Moment, returned: Moment, command: Command, pet: StorePet) -> Event {
    let shown = Shown::Pet(Box::new(pet));
    let outcome = Outcome {
        status: 200,
        code: String::new(),
        shown,
    };
    let outcome = (returned < Moment::MAX).then_some(outcome);
    event(
        (called, returned),
        Operation::Store {
            command,
            key: None,
            outcome,
        },
    )
}

/// The animal as the store area shows it.
fn shown(animal: Animal, version: i64) -> StorePet {
    let Animal {
        id,
        name,
        category_id,
        status,
    } = animal;
    let fields = values(&format!("n{id}"), &name);
    StorePet {
        id,
        name,
        category_id,
        status,
        version,
        created_at: None,
        updated_at: None,
        order_id: None,
        withdrawn: None,
        fields,
        photos: Vec::new(),
        listed: true,
    }
}

/// Gives an animal the name `to` and the other status, which makes it this version.
fn change(called: Moment, returned: Moment, id: i64, to: &str, version: i64) -> Event {
    let patch = Patch {
        name: Some(to.to_owned()),
        category_id: None,
        status: Some(status(id + 1)),
    };
    let change = Command::PatchPet {
        id,
        version: None,
        patch,
    };
    store(called, returned, change, shown(changed(id, to), version))
}

/// The animal after such a change.
fn changed(id: i64, to: &str) -> Animal {
    Animal {
        name: to.to_owned(),
        status: status(id + 1).to_owned(),
        ..animal(id)
    }
}

fn withdraw(called: Moment, returned: Moment, version: i64, animal: Animal) -> Event {
    let withdrawn = Withdrawal {
        at: String::new(),
        reason: "died".to_owned(),
        note: None,
    };
    let command = Command::Withdraw {
        id: animal.id,
        version: None,
        reason: "died",
    };
    let pet = StorePet {
        withdrawn: Some(withdrawn),
        ..shown(animal, version)
    };
    store(called, returned, command, pet)
}

#[test]
fn an_objection_shows_the_response_and_the_catalogue_that_it_contradicts() {
    let history = [create(0, 1, 1), change(2, 3, 1, "new", 2), create(4, 9, 2)];
    let stale = get(5, 6, 1, Some(animal(1)));
    let objection = check(&[&history[..], std::slice::from_ref(&stale)].concat()).unwrap_err();
    for part in [
        format!("{stale:?}"),
        "1: new, 1, sold, version 2".to_owned(),
        format!("{:?}", history[2]),
    ] {
        assert!(objection.contains(&part), "{objection}");
    }
}

#[test]
fn a_read_after_a_change_shows_the_change_in_one_piece() {
    let [available, sold] = STATUSES;
    let history = [create(0, 1, 1), change(2, 3, 1, "new", 2)];
    let torn = Animal {
        status: status(1).to_owned(),
        ..changed(1, "new")
    };
    expect_of_each(
        &history,
        true,
        [
            get(4, 5, 1, Some(changed(1, "new"))),
            list_of(4, 5, available, vec![]),
            list_of(4, 5, sold, vec![changed(1, "new")]),
            // The response to a create that is repeated is still the first.
            create(4, 5, 1),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            get(4, 5, 1, Some(animal(1))),
            get(4, 5, 1, Some(torn.clone())),
            get(4, 5, 1, None),
            list(4, 5, 0, &[1], false),
            list_of(4, 5, available, vec![animal(1)]),
            list_of(4, 5, available, vec![torn]),
            list_of(4, 5, available, vec![changed(1, "new")]),
            list_of(4, 5, sold, vec![]),
        ],
    );
}

#[test]
fn changes_in_progress_are_seen_in_one_order_by_all() {
    let sees = |at: Moment, name: &str| get(at, at + 1, 1, Some(changed(1, name)));
    for (names, [a, b], is_good) in [
        (["a", "b", "b"], [2, 3], true),
        (["b", "a", "a"], [3, 2], true),
        (["b", "a", "a"], [2, 3], false),
        (["a", "b", "a"], [2, 3], false),
        (["a", "b", "a"], [3, 2], false),
        (["a", "b", "b"], [2, 2], false),
    ] {
        let both = [
            create(0, 1, 1),
            change(2, 20, 1, "a", a),
            change(3, 21, 1, "b", b),
        ];
        let reads = names
            .iter()
            .zip([4, 6, 30])
            .map(|(name, at)| sees(at, name));
        let history: Vec<Event> = both.into_iter().chain(reads).collect();
        assert_eq!(
            check(&history).is_ok(),
            is_good,
            "{names:?}, versions {a} and {b}"
        );
    }
}

#[test]
fn a_change_to_what_is_there_already_may_come_after_another_change() {
    let patch = Patch {
        status: Some(STATUSES[0]),
        ..Patch::default()
    };
    let back = Command::PatchPet {
        id: 1,
        version: None,
        patch,
    };
    let history = [
        create(0, 1, 1),
        store(2, Moment::MAX, back, shown(animal(1), 1)),
        change(3, 21, 1, "new", 2),
        get(4, 5, 1, Some(changed(1, "new"))),
    ];
    // Both orders are possible.
    let back = Animal {
        status: STATUSES[0].to_owned(),
        ..changed(1, "new")
    };
    expect_of_each(
        &history,
        true,
        [
            get(30, 31, 1, Some(back)),
            get(30, 31, 1, Some(changed(1, "new"))),
        ],
    );
    expect_of_each(&history, false, [get(30, 31, 1, Some(animal(1)))]);
}

#[test]
fn a_page_shows_all_its_animals_at_one_moment() {
    let [available, sold] = STATUSES;
    let history = [
        create(0, 1, 1),
        create(2, 3, 3),
        change(5, 6, 1, "first", 2),
        change(7, 8, 3, "second", 2),
    ];
    let [first, second] = [changed(1, "first"), changed(3, "second")];
    let during = |status, page: Vec<Animal>| list_of(4, 9, status, page);
    expect_of_each(
        &history,
        true,
        [
            during(available, vec![animal(1), animal(3)]),
            during(available, vec![animal(3)]),
            during(sold, vec![first.clone()]),
            during(sold, vec![first.clone(), second.clone()]),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            during(available, vec![animal(1)]),
            during(sold, vec![second]),
            during(sold, vec![first, animal(3)]),
        ],
    );
}

#[test]
fn a_change_whose_outcome_is_unknown_may_happen_at_any_time_or_never_but_not_twice() {
    let history = [create(0, 1, 1), change(2, Moment::MAX, 1, "late", 2)];
    let read = |at: Moment, animal| get(at, at + 1, 1, Some(animal));
    expect_of_each(
        &history,
        true,
        [read(4, animal(1)), read(4, changed(1, "late"))],
    );
    let seen = [
        &history[..],
        &[read(4, animal(1)), read(6, changed(1, "late"))],
    ]
    .concat();
    check(&seen).unwrap();
    expect_of_each(&seen, false, [read(8, animal(1))]);
    let over = [&seen[..], &[change(8, 9, 1, "last", 3)]].concat();
    expect_of_each(&over, true, [read(10, changed(1, "last"))]);
    expect_of_each(&over, false, [read(10, changed(1, "late"))]);
    // Before it was asked for.
    check(&[
        create(0, 1, 1),
        read(2, changed(1, "late")),
        change(4, Moment::MAX, 1, "late", 2),
    ])
    .unwrap_err();
}

#[test]
fn an_animal_that_is_withdrawn_is_gone_until_it_is_restored_as_it_was() {
    let new = || changed(1, "new");
    let history = [
        create(0, 1, 1),
        change(2, 3, 1, "new", 2),
        withdraw(4, 5, 3, new()),
    ];
    let restored = |animal| {
        store(
            6,
            7,
            Command::Restore {
                id: 1,
                version: None,
            },
            shown(animal, 4),
        )
    };
    expect_of_each(
        &history,
        true,
        [
            get(6, 7, 1, None),
            list(6, 7, 0, &[], false),
            restored(new()),
            // It is not added again.
            create(6, 7, 1),
            create(6, 7, 2),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            get(6, 7, 1, Some(new())),
            list_of(6, 7, STATUSES[1], vec![new()]),
            change(6, 7, 1, "none", 4),
            withdraw(6, 7, 4, new()),
            restored(animal(1)),
        ],
    );
    let again = [&history[..], &[create(6, 7, 1)]].concat();
    expect_of_each(&again, false, [get(8, 9, 1, Some(animal(1)))]);
    let back = [&history[..], &[restored(new())]].concat();
    expect_of_each(&back, true, [get(8, 9, 1, Some(new()))]);
    expect_of_each(
        &back,
        false,
        [get(8, 9, 1, Some(animal(1))), get(8, 9, 1, None)],
    );
}

#[test]
fn a_withdrawal_whose_outcome_is_unknown_may_happen_at_any_time_or_never() {
    let history = [create(0, 1, 1), withdraw(2, Moment::MAX, 2, animal(1))];
    expect_of_each(
        &history,
        true,
        [list(4, 5, 0, &[1], false), list(4, 5, 0, &[], false)],
    );
    let gone = [&history[..], &[list(4, 5, 0, &[], false)]].concat();
    expect_of_each(&gone, false, [list(6, 7, 0, &[1], false)]);
}

#[test]
fn an_animal_that_nobody_saw_before_it_was_changed_or_sold_is_one_of_an_unknown_create() {
    let unknown = [create(0, Moment::MAX, 1)];
    let (note, until) = ("sale".to_owned(), None);
    let command = Command::Place {
        pet_id: 1,
        note,
        until,
    };
    let sale = Sale {
        id: 1,
        pet_id: 1,
        status: "completed".to_owned(),
        reference: None,
        note: Some("sale".to_owned()),
        reason: None,
        expires_at: None,
        created_at: String::new(),
        closed_at: Some(String::new()),
        version: 1,
        price: None,
        contact: None,
    };
    let shown = Shown::Order(Box::new(sale));
    let outcome = Some(Outcome {
        status: 201,
        code: String::new(),
        shown,
    });
    let sold = event(
        (2, 3),
        Operation::Store {
            command,
            key: None,
            outcome,
        },
    );
    let late = change(2, Moment::MAX, 1, "new", 2);
    let seen = get(4, 5, 1, Some(changed(1, "new")));
    expect_of_each(&unknown, true, [sold.clone()]);
    check(&[unknown[0].clone(), late.clone(), seen.clone()]).unwrap();
    check(&[sold]).unwrap_err();
    check(&[late, seen]).unwrap_err();
}
