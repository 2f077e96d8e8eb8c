//! The checker with orders: it accepts good histories and rejects bad ones.

use super::{
    checker::{self, Order as Ids},
    history::{Animal, Event, Moment, Operation},
    rules_proofs::{LATER, SOON, create, expire, rename, reserve, sell, withdraw},
    store_area::{Command, Filter, Order, Outcome, Shown, StorePet, Withdrawal, values},
};

fn event(called: Moment, returned: Moment, operation: Operation) -> Event {
    Event {
        called,
        returned,
        operation,
    }
}

fn pet(version: i64, status: &str, order_id: Option<i64>) -> Shown {
    Shown::Pet(Box::new(StorePet {
        id: 1,
        name: "Max".to_owned(),
        category_id: 1,
        status: status.to_owned(),
        version,
        created_at: None,
        updated_at: Some(format!("at {version}")),
        order_id,
        withdrawn: None,
        fields: std::collections::BTreeMap::new(),
        photos: Vec::new(),
        listed: true,
    }))
}

fn withdrawn(version: i64, status: &str) -> StorePet {
    let Shown::Pet(pet) = pet(version, status, None) else {
        unreachable!()
    };
    let (at, reason) = ("then".to_owned(), "died".to_owned());
    StorePet {
        withdrawn: Some(Withdrawal {
            at,
            reason,
            note: None,
        }),
        ..*pet
    }
}

/// An order with the note `note`.
fn one(id: i64, note: &str, version: i64, status: &str) -> Order {
    Order {
        id,
        pet_id: 1,
        status: status.to_owned(),
        reference: None,
        note: Some(note.to_owned()),
        reason: None,
        expires_at: Some(SOON.to_owned()),
        created_at: "then".to_owned(),
        closed_at: (status != "reserved").then(|| "now".to_owned()),
        version,
        price: None,
        contact: None,
    }
}

fn order(version: i64, status: &str) -> Shown {
    Shown::Order(Box::new(one(1, "a", version, status)))
}

/// A command, and its response: a status, or the code of an error.
fn told(called: Moment, returned: Moment, command: Command, status: &str, shown: Shown) -> Event {
    let (status, code) = match status {
        "not_found" => (404, status),
        "precondition_failed" => (412, status),
        "invalid_transition" | "open_order" => (409, status),
        success => (success.parse().unwrap(), ""),
    };
    let outcome = Some(Outcome {
        status,
        code: code.to_owned(),
        shown,
    });
    event(
        called,
        returned,
        Operation::Store {
            command,
            key: None,
            outcome,
        },
    )
}

/// Two moments that follow each other.
fn at(called: Moment, command: Command, status: &str, shown: Shown) -> Event {
    told(called, called + 1, command, status, shown)
}

fn with_key(key: &str, mut event: Event) -> Event {
    if let Operation::Store { key: has, .. } = &mut event.operation {
        *has = Some(key.to_owned());
    }
    event
}

/// The same request, whose client left before the response.
fn left(mut event: Event) -> Event {
    if let Operation::Store { outcome, .. } = &mut event.operation {
        *outcome = None;
    }
    Event {
        returned: Moment::MAX,
        ..event
    }
}

/// What the contract shows of the animal.
fn get(called: Moment, status: Option<&str>) -> Event {
    let animal = |status: &str| Animal {
        id: 1,
        name: "Max".to_owned(),
        category_id: 1,
        status: status.to_owned(),
    };
    event(
        called,
        called + 1,
        Operation::Get {
            id: 1,
            found: status.map(animal),
        },
    )
}

/// The animal 1, created from 0 to 1 and reserved from 2 to 3.
fn reserved() -> Vec<Event> {
    vec![
        event(0, 1, create("available")),
        at(2, reserve("a"), "201", order(1, "reserved")),
    ]
}

/// Each of the events is good after `history`, if `is_good`, or else bad.
#[track_caller]
fn expect_of_each(history: &[Event], is_good: bool, events: impl IntoIterator<Item = Event>) {
    for event in events {
        let checked = checker::check(
            &[history, std::slice::from_ref(&event)].concat(),
            Ids::OfIds,
        );
        assert_eq!(checked.is_ok(), is_good, "{event:?}: {checked:?}");
    }
}

const READ_PET: Command = Command::ReadPet { id: 1 };
const READ_ORDER: Command = Command::ReadOrder { id: 1 };
const COMPLETE: Command = Command::Complete {
    id: 1,
    version: None,
};
const CANCEL: Command = Command::Cancel {
    id: 1,
    version: None,
};

#[test]
fn of_two_reservations_of_one_animal_one_is_made() {
    let created = vec![event(0, 1, create("available"))];
    let second = |shown, status| told(3, 9, reserve("b"), status, shown);
    let taken = second(pet(2, "pending", Some(1)), "invalid_transition");
    let both = second(Shown::Order(Box::new(one(2, "b", 1, "reserved"))), "201");
    for called in [2, 10] {
        let first = told(
            called,
            called + 10,
            reserve("a"),
            "201",
            order(1, "reserved"),
        );
        let history = [created.clone(), vec![first]].concat();
        // The one that is rejected must be in progress after the other one began.
        expect_of_each(&history, called == 2, [taken.clone()]);
        expect_of_each(
            &history,
            false,
            [both.clone(), second(pet(1, "available", None), "409")],
        );
    }
    expect_of_each(
        &reserved(),
        false,
        [at(
            4,
            sell("b"),
            "201",
            Shown::Order(Box::new(one(2, "b", 1, "completed"))),
        )],
    );
}

#[test]
fn an_order_and_the_status_of_its_animal_change_at_one_moment() {
    let during = vec![
        event(0, 1, create("available")),
        told(2, 20, reserve("a"), "201", order(1, "reserved")),
    ];
    let sees_order = at(3, READ_ORDER, "200", order(1, "reserved"));
    let sees_pet = at(3, READ_PET, "200", pet(2, "pending", Some(1)));
    let before = [
        at(5, READ_ORDER, "not_found", Shown::Nothing),
        at(5, READ_PET, "200", pet(1, "available", None)),
        get(5, Some("available")),
    ];
    let after = [
        at(5, READ_ORDER, "200", order(1, "reserved")),
        at(5, READ_PET, "200", pet(2, "pending", Some(1))),
        get(5, Some("pending")),
    ];
    expect_of_each(&during, true, before.clone());
    expect_of_each(&during, true, after.clone());
    for sees in [sees_order, sees_pet] {
        let history = [during.clone(), vec![sees]].concat();
        expect_of_each(&history, true, after.clone());
        expect_of_each(&history, false, before.clone());
    }
    expect_of_each(
        &during,
        false,
        [
            at(5, READ_PET, "200", pet(1, "pending", Some(1))),
            at(5, READ_PET, "200", pet(2, "available", None)),
            at(5, READ_PET, "200", pet(2, "pending", None)),
        ],
    );
}

#[test]
fn an_order_that_is_completed_does_not_expire_and_one_that_expired_is_not_completed() {
    let expires = |called| at(called, expire(LATER), "200", Shown::Nothing);
    let completed = at(4, COMPLETE, "200", order(2, "completed"));
    let history = [reserved(), vec![completed]].concat();
    expect_of_each(
        &history,
        true,
        [
            get(6, Some("sold")),
            at(6, COMPLETE, "200", order(2, "completed")),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            expires(6),
            at(6, CANCEL, "200", order(3, "cancelled")),
            at(6, READ_ORDER, "200", order(2, "expired")),
            get(6, Some("available")),
        ],
    );
    // Its time alone changes nothing.
    let during = [
        reserved(),
        vec![told(4, 20, expire(LATER), "200", Shown::Nothing)],
    ]
    .concat();
    let late = at(6, COMPLETE, "invalid_transition", order(2, "expired"));
    expect_of_each(
        &during,
        true,
        [late.clone(), at(6, READ_ORDER, "200", order(1, "reserved"))],
    );
    expect_of_each(&reserved(), false, [late]);
    expect_of_each(
        &during,
        false,
        [at(6, COMPLETE, "200", order(2, "completed"))],
    );
    let early = at(4, expire("2026-01-01T00:00:00.000Z"), "200", Shown::Nothing);
    expect_of_each(&reserved(), false, [early]);
}

#[test]
fn a_repeated_request_gets_the_first_response() {
    let placed = || with_key("k", at(2, reserve("a"), "201", order(1, "reserved")));
    let again = |event: Event| {
        with_key(
            "k",
            Event {
                called: 6,
                returned: 7,
                ..event
            },
        )
    };
    let created = event(0, 1, create("available"));
    let completed = at(4, COMPLETE, "200", order(2, "completed"));
    for first in [placed(), left(placed())] {
        let history = [created.clone(), first, completed.clone()];
        expect_of_each(&history, true, [again(placed())]);
        expect_of_each(
            &history,
            false,
            [
                again(at(6, reserve("a"), "201", order(2, "completed"))),
                again(at(
                    6,
                    reserve("a"),
                    "201",
                    Shown::Order(Box::new(one(2, "a", 1, "reserved"))),
                )),
                again(at(
                    6,
                    reserve("a"),
                    "invalid_transition",
                    pet(3, "sold", None),
                )),
            ],
        );
    }
    let other_time = Order {
        created_at: "later".to_owned(),
        ..one(1, "a", 1, "reserved")
    };
    let other_time = again(at(
        6,
        reserve("a"),
        "201",
        Shown::Order(Box::new(other_time)),
    ));
    expect_of_each(&[created.clone(), placed(), completed], false, [other_time]);
    // An error is not remembered.
    let taken = with_key(
        "l",
        at(
            4,
            sell("b"),
            "invalid_transition",
            pet(2, "pending", Some(1)),
        ),
    );
    let history = [
        reserved(),
        vec![taken, at(6, CANCEL, "200", order(2, "cancelled"))],
    ]
    .concat();
    let sold = Order {
        expires_at: None,
        ..one(2, "b", 1, "completed")
    };
    let again = with_key("l", at(8, sell("b"), "201", Shown::Order(Box::new(sold))));
    expect_of_each(&history, true, [again]);
}

#[test]
fn a_change_of_an_old_version_is_rejected_with_the_present_one() {
    let named = |version, name: &str| {
        let Shown::Pet(pet) = pet(version, "available", None) else {
            unreachable!()
        };
        let fields = values("Max", name);
        Shown::Pet(Box::new(StorePet {
            name: name.to_owned(),
            fields,
            ..*pet
        }))
    };
    let Shown::Pet(without_value) = named(2, "A") else {
        unreachable!()
    };
    let without_value = StorePet {
        fields: values("Max", "Max"),
        ..*without_value
    };
    let history = [
        event(0, 1, create("available")),
        told(2, 9, rename(1, "A"), "200", named(2, "A")),
    ];
    let other = |status, shown| told(3, 8, rename(1, "B"), status, shown);
    expect_of_each(
        &history,
        true,
        [other("precondition_failed", named(2, "A"))],
    );
    expect_of_each(
        &history,
        false,
        [
            other("200", named(2, "B")),
            other("200", named(3, "B")),
            other("precondition_failed", named(1, "Max")),
            other("precondition_failed", named(3, "B")),
            other("precondition_failed", Shown::Pet(Box::new(without_value))),
        ],
    );
}

#[test]
fn a_withdrawn_animal_is_only_in_the_store_area() {
    let list = |is_withdrawn, page: Vec<StorePet>| {
        let filter = Filter {
            withdrawn: is_withdrawn,
            ..Filter::default()
        };
        event(
            6,
            7,
            Operation::StorePets {
                filter,
                limit: 9,
                after: 0,
                page,
                more: false,
            },
        )
    };
    let gone = withdrawn(2, "available");
    let shown = || Shown::Pet(Box::new(withdrawn(2, "available")));
    let history = [
        event(0, 1, create("available")),
        at(2, withdraw(1), "200", shown()),
    ];
    expect_of_each(
        &history,
        true,
        [
            get(6, None),
            list(true, vec![gone.clone()]),
            list(false, vec![]),
            at(6, READ_PET, "200", shown()),
            at(6, reserve("a"), "invalid_transition", shown()),
            at(
                6,
                Command::Restore {
                    id: 1,
                    version: Some(2),
                },
                "200",
                pet(3, "available", None),
            ),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            get(6, Some("available")),
            list(true, vec![]),
            list(false, vec![gone]),
            at(6, READ_PET, "not_found", Shown::Nothing),
            at(6, reserve("a"), "201", order(1, "reserved")),
            at(
                6,
                Command::Restore {
                    id: 1,
                    version: Some(2),
                },
                "200",
                pet(3, "sold", None),
            ),
        ],
    );
}

#[test]
fn an_order_whose_client_left_is_placed_at_any_time_or_never() {
    let unknown = left(at(2, reserve("a"), "201", order(1, "reserved")));
    let history = [event(0, 1, create("available")), unknown];
    let orders = |called, page: Vec<Order>| {
        let (status, pet_id) = (Some("reserved"), Some(1));
        let orders = Operation::Orders {
            status,
            pet_id,
            limit: 9,
            after: 0,
            page,
            more: false,
        };
        event(called, called + 1, orders)
    };
    let placed = || one(1, "a", 1, "reserved");
    expect_of_each(
        &history,
        true,
        [
            orders(4, vec![]),
            orders(4, vec![placed()]),
            get(4, Some("available")),
            // Nobody saw its note.
            at(4, READ_PET, "200", pet(2, "pending", Some(1))),
        ],
    );
    let seen = [history.to_vec(), vec![orders(4, vec![placed()])]].concat();
    expect_of_each(&seen, true, [get(6, Some("pending"))]);
    expect_of_each(&seen, false, [orders(6, vec![]), get(6, Some("available"))]);
    expect_of_each(
        &reserved(),
        false,
        [orders(4, vec![one(1, "a", 1, "expired")])],
    );
}

#[test]
fn a_list_by_name_is_in_the_order_of_ids() {
    let named = |id: i64, name: &str| {
        let Shown::Pet(pet) = pet(1, "available", None) else {
            unreachable!()
        };
        StorePet {
            id,
            name: name.to_owned(),
            ..*pet
        }
    };
    let created = |(id, name): (i64, &str)| {
        let animal = Animal {
            id,
            name: name.to_owned(),
            category_id: 1,
            status: "available".into(),
        };
        let (name, status) = (name.to_owned(), "available");
        let create = Operation::Create {
            name,
            category_id: 1,
            status,
            response: Some(animal),
        };
        event(2 * id.unsigned_abs(), 2 * id.unsigned_abs() + 1, create)
    };
    let history: Vec<Event> = [(1, "Maya"), (2, "Max"), (3, "Leo"), (4, "Maxi")]
        .map(created)
        .into();
    let list = |after, page: &[(i64, &str)], more| {
        let filter = Filter {
            name: Some("Ma"),
            ..Filter::default()
        };
        let page = page.iter().map(|(id, name)| named(*id, name)).collect();
        event(
            20,
            21,
            Operation::StorePets {
                filter,
                limit: 2,
                after,
                page,
                more,
            },
        )
    };
    expect_of_each(
        &history,
        true,
        [
            list(0, &[(1, "Maya"), (2, "Max")], true),
            list(2, &[(4, "Maxi")], false),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            list(0, &[(2, "Max"), (4, "Maxi")], true),
            list(0, &[(1, "Maya"), (2, "Max")], false),
            list(0, &[(1, "Maya"), (3, "Leo")], true),
            list(2, &[(4, "Maxi")], true),
            list(4, &[(1, "Maya")], false),
        ],
    );
}
