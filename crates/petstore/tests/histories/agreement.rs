//! The checker is compared with an exhaustive search on small histories. The search
//! here shares nothing with the checker: it has its own catalogue, whose orders obey
//! the rules of the service, and it tries every order of the operations.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    checker::{self, Order},
    history::{Event, Moment, Operation, Patch},
    number,
    second_catalogue::World,
    store_area::{Command, Filter, Shown},
};

const STATUSES: [&str; 2] = ["available", "sold"];
const TIMES: [&str; 2] = ["2027-01-01T00:00:00.000Z", "2027-02-01T00:00:00.000Z"];
/// The most operations of a history, and the highest id.
const OPERATIONS: usize = 7;
const IDS: i64 = 8;

fn is_unknown(event: &Event) -> bool {
    event.returned == Moment::MAX
}

/// Whether the operations can stand one after the other, each between its call
/// and its return, with these responses: tries all orders, and all ids.
fn exists_order(left: &[&Event], world: &World, order: Order) -> bool {
    if left.iter().all(|event| is_unknown(event)) {
        return true;
    }
    let first_return = left.iter().map(|event| event.returned).min().unwrap();
    (0..left.len())
        .filter(|&at| left[at].called < first_return)
        .any(|at| {
            let mut rest = left.to_vec();
            let event = rest.remove(at);
            let known = world.ids_like(&event.operation);
            let highest = known.iter().max().copied().unwrap_or(0);
            let is_free = |id: i64| id > highest || order == Order::Any && !known.contains(&id);
            let adds = world.can_add(&event.operation);
            let ids = 1..=if adds { IDS } else { 1 };
            ids.filter(|&id| !adds || is_free(id)).any(|id| {
                let mut world = world.clone();
                let executed = world.execute(&event.operation, id);
                let has_response = is_unknown(event) || executed == event.operation;
                has_response && exists_order(&rest, &world, order)
            })
        })
}

/// A command. The same `number` gives no two requests the same name.
fn any_command(random: &mut StdRng, number: usize) -> Command {
    // Most are about one animal, and one order.
    let id = if random.random_bool(0.8) { 1 } else { 2 };
    let version = random.random_bool(0.4).then(|| random.random_range(1..=3));
    let status = *STATUSES.choose(random).unwrap();
    let [until, at] = [0; 2].map(|_| (*TIMES.choose(random).unwrap()).to_owned());
    match random.random_range(0..17) {
        0..3 => {
            let name = random.random_bool(0.3).then(|| format!("changed {number}"));
            let patch = Patch {
                name,
                category_id: None,
                status: Some(status),
            };
            Command::PatchPet { id, version, patch }
        }
        3 => Command::Withdraw {
            id,
            version,
            reason: "other",
        },
        4 => Command::Restore { id, version },
        5..8 => {
            let until = random.random_bool(0.6).then_some(until);
            Command::Place {
                pet_id: id,
                note: format!("order {number}"),
                until,
            }
        }
        8 => {
            let reference = random
                .random_bool(0.5)
                .then(|| format!("reference {number}"));
            Command::PatchOrder {
                id,
                version,
                reference,
                until: Some(until),
            }
        }
        9 => Command::Complete { id, version },
        10 => Command::Cancel { id, version },
        11 | 12 => Command::Return { id, version },
        13 | 14 => Command::Reopen { id, version, until },
        15 => Command::Expire { id, at },
        _ if number.is_multiple_of(2) => Command::ReadPet { id },
        _ => Command::ReadOrder { id },
    }
}

/// An operation without its response. A create or a command may repeat an earlier
/// one.
#[expect(clippy::too_many_lines, reason = "one arm for each operation")]
fn any_operation(random: &mut StdRng, number: usize, earlier: &[(i64, Event)]) -> Operation {
    let id = random.random_range(1..=2);
    let status = *STATUSES.choose(random).unwrap();
    // Something is there from the beginning.
    let kind = if number == 0 {
        0
    } else {
        random.random_range(0..18)
    };
    match kind {
        0..3 => {
            let number = if random.random_bool(0.8) {
                number
            } else {
                number / 2
            };
            let name = format!("created {number}");
            let status = STATUSES[number % 2];
            Operation::Create {
                name,
                category_id: 1,
                status,
                response: None,
            }
        }
        3 => Operation::Get { id, found: None },
        4..6 => {
            let status = random.random_bool(0.6).then_some(status);
            let (limit, after) = (random.random_range(1..=2), random.random_range(0..=1));
            Operation::List {
                status,
                limit,
                after,
                page: vec![],
                more: false,
            }
        }
        6 => {
            let filter = Filter {
                withdrawn: random.random_bool(0.5),
                ..Filter::default()
            };
            Operation::StorePets {
                filter,
                limit: 2,
                after: 0,
                page: vec![],
                more: false,
            }
        }
        7 => {
            let pet_id = random.random_bool(0.5).then_some(id);
            let (limit, after) = (random.random_range(1..=2), random.random_range(0..=1));
            Operation::Orders {
                status: None,
                pet_id,
                limit,
                after,
                page: vec![],
                more: false,
            }
        }
        8 => {
            let earlier: Vec<&Operation> = earlier.iter().map(|(_, one)| &one.operation).collect();
            let repeated = earlier
                .choose(random)
                .copied()
                .filter(|earlier| match earlier {
                    Operation::Store { key, .. } => key.is_some(),
                    Operation::Batch { .. } => true,
                    _ => false,
                });
            repeated
                .cloned()
                .unwrap_or(Operation::Get { id, found: None })
        }
        9..11 => {
            let commands = vec![any_command(random, number), any_command(random, number)];
            let commands = Command::batch_of(commands);
            Operation::Batch {
                commands,
                key: format!("key {number}"),
                outcome: None,
            }
        }
        11 | 12 => {
            let label = random.random_bool(0.7).then(|| format!("label {number}"));
            let version = random.random_range(i64::from(label.is_none())..=2);
            Operation::Label {
                id: 1,
                version,
                label,
                outcome: None,
            }
        }
        13 => Operation::Categories { page: vec![] },
        _ => {
            let command = any_command(random, number);
            let has_key = command.is_write() && random.random_bool(0.4);
            let key = has_key.then(|| format!("key {number}"));
            Operation::Store {
                command,
                key,
                outcome: None,
            }
        }
    }
}

/// Makes a response wrong, perhaps.
fn spoil(operation: &mut Operation, random: &mut StdRng) {
    let kind = random.random_range(0..3);
    match operation {
        Operation::Get {
            found: Some(animal),
            ..
        } => animal.status = STATUSES[0].to_owned(),
        Operation::List { page, more, .. } => match kind {
            0 => *more = !*more,
            1 => drop(page.pop()),
            _ => page
                .iter_mut()
                .for_each(|animal| animal.status = STATUSES[1].to_owned()),
        },
        Operation::Store {
            outcome: Some(outcome),
            ..
        } => match (&mut outcome.shown, kind) {
            (Shown::Pet(pet), 0) => pet.version += 1,
            (Shown::Pet(pet), 1) => pet.status = STATUSES[0].to_owned(),
            (Shown::Order(order), 0) => order.version += 1,
            (Shown::Order(order), 1) => order.status = "completed".to_owned(),
            (Shown::Nothing, _) => outcome.status = 200,
            _ => outcome.code = "invalid_transition".to_owned(),
        },
        Operation::Batch {
            outcome: Some(outcome),
            ..
        } => match outcome {
            Ok(shown) => drop(shown.pop()),
            Err((index, _)) => *index += 1,
        },
        Operation::Label {
            outcome: Some((status, _)),
            ..
        } => *status = 200,
        Operation::Categories { page } => drop(page.pop()),
        Operation::StorePets { page, .. } => drop(page.pop()),
        Operation::Orders { page, .. } => drop(page.pop()),
        _ => {}
    }
}

/// What clients were told by a catalogue that does some operations before their
/// call or after their return, forgets some whose outcome is unknown, and now
/// and then gives a wrong response. The last events read everything.
fn any_history(random: &mut StdRng, order: Order) -> Vec<Event> {
    let count = random.random_range(4..=OPERATIONS);
    let mut ids: Vec<i64> = (1..=IDS).collect();
    if order == Order::Any && random.random_bool(0.5) {
        ids[..4].reverse();
    }
    let mut events: Vec<(i64, Event)> = Vec::new();
    for number in 0..count {
        let at = i64::try_from(number).unwrap() * 10 + 100;
        let operation = any_operation(random, number, &events);
        let moment =
            |at: i64, part| Moment::try_from(at * 100).unwrap() + 2 * number as Moment + part;
        let called = moment(at - random.random_range(0..35), 0);
        let mut returned = moment(at + random.random_range(0..35), 1);
        if operation.is_write() && random.random_bool(0.2) {
            returned = Moment::MAX;
        }
        let is_done_in_time = random.random_bool(0.8);
        let done_at = if is_done_in_time {
            at
        } else {
            at + random.random_range(-60..60)
        };
        events.push((
            done_at,
            Event {
                called,
                returned,
                operation,
            },
        ));
    }
    events.sort_by_key(|(done_at, _)| *done_at);
    let mut world = World::default();
    let mut history = Vec::new();
    for (_, mut event) in events {
        let id = ids[world.ids_like(&event.operation).len()];
        if !is_unknown(&event) {
            event.operation = world.execute(&event.operation, id);
            if random.random_bool(0.15) {
                spoil(&mut event.operation, random);
            }
        } else if random.random_bool(0.6) {
            world.execute(&event.operation, id);
        }
        history.push(event);
    }
    let (limit, more) = (100, false);
    let store_pets = |withdrawn| {
        let filter = Filter {
            withdrawn,
            ..Filter::default()
        };
        Operation::StorePets {
            filter,
            limit,
            after: 0,
            page: vec![],
            more,
        }
    };
    let everything = [
        Operation::List {
            status: None,
            limit,
            after: 0,
            page: vec![],
            more,
        },
        store_pets(false),
        store_pets(true),
        Operation::Orders {
            status: None,
            pet_id: None,
            limit,
            after: 0,
            page: vec![],
            more,
        },
        Operation::Categories { page: vec![] },
    ];
    for (operation, called) in everything.iter().zip((1_000_000..).step_by(2)) {
        let operation = world.execute(operation, 0);
        history.push(Event {
            called,
            returned: called + 1,
            operation,
        });
    }
    history
}

#[test]
fn the_checker_agrees_with_the_exhaustive_search() {
    let seed = number("HISTORIES_SEED").unwrap_or(1);
    let mut bad = 0;
    for seed in seed..seed + 2_000 {
        let order = if seed % 2 == 0 {
            Order::OfIds
        } else {
            Order::Any
        };
        let history = any_history(&mut StdRng::seed_from_u64(seed), order);
        let checked = checker::check(&history, order);
        let all: Vec<&Event> = history.iter().collect();
        let exists_order = exists_order(&all, &World::default(), order);
        assert_eq!(
            checked.is_ok(),
            exists_order,
            "HISTORIES_SEED={seed}, {order:?}: {checked:?}\n{history:#?}"
        );
        bad += u32::from(!exists_order);
    }
    eprintln!("2000 small histories, from seed {seed}: the searches agree, {bad} are bad");
    assert!(
        (400..1_600).contains(&bad),
        "{bad} of 2,000 histories are bad"
    );
}

#[test]
fn the_rules_of_the_model_are_those_of_the_service() {
    let mut random = StdRng::seed_from_u64(1);
    for _ in 0..300 {
        let mut world = World::default();
        let mut history: Vec<Event> = Vec::new();
        for number in 0..60 {
            let operation = any_operation(&mut random, number, &[]);
            let id = i64::try_from(world.ids_like(&operation).len()).unwrap() + 1;
            let operation = world.execute(&operation, id);
            let called = 2 * number as Moment;
            history.push(Event {
                called,
                returned: called + 1,
                operation,
            });
        }
        checker::check(&history, Order::OfIds).unwrap();
    }
}
