//! The rules of the model: each command in each state, as the store area describes it.

use super::{
    catalogue::Catalogue,
    checker::Order,
    history::{Animal, Operation, Patch},
    rules::Shows,
    store_area::Command,
};

pub(super) const SOON: &str = "2027-01-01T00:00:00.000Z";
pub(super) const LATER: &str = "2027-02-01T00:00:00.000Z";

pub(super) fn create(status: &'static str) -> Operation {
    let animal = Animal {
        id: 1,
        name: "Max".into(),
        category_id: 1,
        status: status.to_owned(),
    };
    Operation::Create {
        name: "Max".into(),
        category_id: 1,
        status,
        response: Some(animal),
    }
}

pub(super) fn reserve(note: &str) -> Command {
    Command::Place {
        pet_id: 1,
        note: note.to_owned(),
        until: Some(SOON.to_owned()),
    }
}

pub(super) fn sell(note: &str) -> Command {
    Command::Place {
        pet_id: 1,
        note: note.to_owned(),
        until: None,
    }
}

pub(super) fn rename(version: i64, name: &str) -> Command {
    let patch = Patch {
        name: Some(name.to_owned()),
        ..Patch::default()
    };
    Command::PatchPet {
        id: 1,
        version: Some(version),
        patch,
    }
}

pub(super) fn set(version: i64, status: &'static str) -> Command {
    let patch = Patch {
        status: Some(status),
        ..Patch::default()
    };
    Command::PatchPet {
        id: 1,
        version: Some(version),
        patch,
    }
}

pub(super) fn withdraw(version: i64) -> Command {
    Command::Withdraw {
        id: 1,
        version: Some(version),
        reason: "died",
    }
}

pub(super) fn refer(version: i64, reference: Option<&str>, until: Option<&str>) -> Command {
    let [reference, until] = [reference, until].map(|text| text.map(str::to_owned));
    Command::PatchOrder {
        id: 1,
        version: Some(version),
        reference,
        until,
    }
}

const CANCEL: Command = Command::Cancel {
    id: 1,
    version: None,
};
const RETURN: Command = Command::Return {
    id: 1,
    version: None,
};

pub(super) fn reopen(version: Option<i64>) -> Command {
    Command::Reopen {
        id: 1,
        version,
        until: LATER.to_owned(),
    }
}

pub(super) fn expire(at: &str) -> Command {
    Command::Expire {
        id: 1,
        at: at.to_owned(),
    }
}

fn store(command: Command) -> Operation {
    Operation::Store {
        command,
        key: None,
        outcome: None,
    }
}

/// The response to `command` after others, and the statuses that it leads to.
fn result(status: &'static str, before: Vec<Command>, command: &Command) -> String {
    let operations: Vec<Operation> = std::iter::once(create(status))
        .chain(before.into_iter().map(store))
        .collect();
    let mut catalogue = Catalogue::default();
    for (id, operation) in [1, 1, 2].into_iter().zip(&operations) {
        catalogue = catalogue.after(operation, Some(id), Order::OfIds).unwrap();
    }
    let (response, effect) = catalogue.decide(command, 1);
    if !response.code.is_empty() {
        assert!(matches!(
            response.shows,
            Shows::Pet(1, _) | Shows::Order(1, _)
        ));
        return format!("{} {}", response.status, response.code);
    }
    let order = effect.order.map(|(_, order)| format!(" {}", order.status));
    let pet = effect.pet.map(|(_, pet)| {
        let withdrawn = pet.withdrawn.map_or("", |_| ", withdrawn");
        format!(", {} {}{withdrawn}", pet.name, pet.status)
    });
    format!(
        "{}{}{}",
        response.status,
        order.unwrap_or_default(),
        pet.unwrap_or_default()
    )
}

const NO_TRANSITION: &str = "409 invalid_transition";
const OPEN_ORDER: &str = "409 open_order";

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn each_command_on_an_animal_in_each_state_leads_where_the_store_area_says() {
    let states: [(&'static str, Vec<Command>, i64); 7] = [
        ("available", vec![], 1),
        ("pending", vec![], 1),
        ("available", vec![reserve("a")], 2),
        ("sold", vec![], 1),
        ("available", vec![sell("a")], 2),
        ("available", vec![withdraw(1)], 2),
        ("available", vec![sell("a"), withdraw(2)], 3),
    ];
    let none = NO_TRANSITION;
    let expected = [
        [
            "201 reserved, Max pending",
            none,
            none,
            none,
            none,
            none,
            none,
        ],
        [
            "201 completed, Max sold",
            "201 completed, Max sold",
            none,
            none,
            none,
            none,
            none,
        ],
        [
            "200, New available",
            "200, New pending",
            "200, New pending",
            "200, New sold",
            "200, New sold",
            none,
            none,
        ],
        [
            "200",
            "200, Max available",
            OPEN_ORDER,
            "200, Max available",
            "200, Max available",
            none,
            none,
        ],
        [
            "200, Max pending",
            "200",
            "200",
            "200, Max pending",
            "200, Max pending",
            none,
            none,
        ],
        [
            "200, Max available, withdrawn",
            "200, Max pending, withdrawn",
            OPEN_ORDER,
            "200, Max sold, withdrawn",
            "200, Max sold, withdrawn",
            none,
            none,
        ],
        [
            none,
            none,
            none,
            none,
            none,
            "200, Max available",
            "200, Max sold",
        ],
    ];
    for (state, (status, before, version)) in states.into_iter().enumerate() {
        let commands = [
            reserve("b"),
            sell("b"),
            rename(version, "New"),
            set(version, "available"),
            set(version, "pending"),
            withdraw(version),
            Command::Restore {
                id: 1,
                version: Some(version),
            },
        ];
        for (command, expected) in commands.into_iter().zip(expected) {
            let found = result(status, before.clone(), &command);
            assert_eq!(
                found, expected[state],
                "{status}, {before:?}, then {command:?}"
            );
        }
        for command in [
            rename(0, "New"),
            withdraw(9),
            Command::Restore {
                id: 1,
                version: Some(9),
            },
        ] {
            let found = result(status, before.clone(), &command);
            assert_eq!(found, "412 precondition_failed");
        }
    }
}

#[test]
fn each_command_on_an_order_in_each_state_leads_where_the_store_area_says() {
    let states: [(Vec<Command>, i64); 7] = [
        (vec![reserve("a")], 1),
        (vec![sell("a")], 1),
        (vec![sell("a"), set(2, "available")], 1),
        (vec![sell("a"), withdraw(2)], 1),
        (vec![reserve("a"), CANCEL], 2),
        (vec![reserve("a"), expire(SOON)], 2),
        (vec![sell("a"), RETURN], 2),
    ];
    let (none, again) = (NO_TRANSITION, "200 reserved, Max pending");
    let expected = [
        [
            "200 completed, Max sold",
            "200",
            "200",
            "200",
            none,
            none,
            none,
        ],
        [
            "200 cancelled, Max available",
            none,
            none,
            none,
            "200",
            none,
            none,
        ],
        [
            none,
            "200 returned, Max available",
            none,
            none,
            none,
            none,
            "200",
        ],
        [
            "200 reserved",
            "200 completed",
            "200 completed",
            "200 completed",
            "200 cancelled",
            "200 expired",
            "200 returned",
        ],
        ["200 reserved", none, none, none, none, none, none],
        [none, again, none, none, again, again, again],
        [
            "200 expired, Max available",
            "409",
            "409",
            "409",
            "409",
            "409",
            "409",
        ],
        ["409", "409", "409", "409", "409", "409", "409"],
    ];
    for (state, (before, version)) in states.into_iter().enumerate() {
        let commands = [
            Command::Complete {
                id: 1,
                version: None,
            },
            CANCEL,
            RETURN,
            refer(version, Some("R-1"), None),
            refer(version, None, Some(LATER)),
            reopen(Some(version)),
            expire(SOON),
            expire("2026-12-31T23:59:59.999Z"),
        ];
        for (command, expected) in commands.into_iter().zip(expected) {
            let found = result("available", before.clone(), &command);
            let expected = expected[state];
            let found = if expected == "409" {
                found.trim_end()
            } else {
                &found
            };
            assert_eq!(found, expected, "{before:?}, then {command:?}");
        }
        let version = Some(9);
        for stale in [
            refer(9, Some("R-1"), None),
            Command::Complete { id: 1, version },
            Command::Cancel { id: 1, version },
            Command::Return { id: 1, version },
            reopen(version),
        ] {
            assert_eq!(
                result("available", before.clone(), &stale),
                "412 precondition_failed"
            );
        }
    }
}

#[test]
fn a_sale_cannot_be_returned_after_its_animal_was_sold_again() {
    let mut catalogue = Catalogue::default();
    let operations = [
        create("available"),
        store(sell("a")),
        store(set(2, "available")),
        store(sell("b")),
    ];
    for (id, operation) in [1, 1, 1, 2].into_iter().zip(&operations) {
        catalogue = catalogue.after(operation, Some(id), Order::OfIds).unwrap();
    }
    for (id, status) in [(1, 409), (2, 200), (3, 404)] {
        let command = Command::Return { id, version: None };
        assert_eq!(catalogue.decide(&command, 3).0.status, status, "order {id}");
    }
}
