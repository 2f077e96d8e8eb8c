//! The checker agrees with an exhaustive search on small histories. The search
//! here shares nothing with the checker: it has its own catalogue, and tries
//! every order of the operations.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    checker::{self, Order},
    history::{Animal, Event, Moment, Operation, Patch},
    number,
};

const STATUSES: [&str; 2] = ["available", "sold"];
/// The most operations of a history, and the highest id.
const OPERATIONS: usize = 7;
const IDS: i64 = 8;

/// An animal that was added, as it was then, as it is now, and whether it is there.
type Row = (Animal, Animal, bool);

fn row(rows: &[Row], id: i64) -> Option<usize> {
    rows.iter().position(|row| row.0.id == id)
}

fn there(rows: &[Row], id: i64) -> Option<usize> {
    row(rows, id).filter(|&at| rows[at].2)
}

/// The page, and whether another one follows.
fn page_of(rows: &[Row], status: Option<&str>, limit: usize, after: i64) -> (Vec<Animal>, bool) {
    let mut due: Vec<Animal> = rows.iter().filter(|row| row.2).map(|row| row.1.clone()).collect();
    due.retain(|animal| animal.id > after && status.is_none_or(|status| status == animal.status));
    due.sort_by_key(|animal| animal.id);
    let more = due.len() > limit;
    due.truncate(limit);
    (due, more)
}

/// Does the operation, with `id` for an animal that it adds, and returns it with
/// the response.
fn execute(rows: &mut Vec<Row>, operation: &Operation, id: i64) -> Operation {
    let mut executed = operation.clone();
    match &mut executed {
        Operation::Create { name, category_id, status, response } => {
            let known = rows.iter().find(|row| row.0.name == *name).map(|row| row.0.clone());
            *response = Some(known.unwrap_or_else(|| {
                let (name, status) = (name.clone(), (*status).to_owned());
                let animal = Animal { id, name, category_id: *category_id, status };
                rows.push((animal.clone(), animal.clone(), true));
                animal
            }));
        }
        Operation::Get { id, found } => *found = there(rows, *id).map(|at| rows[at].1.clone()),
        Operation::List { status, limit, after, page, more } => {
            (*page, *more) = page_of(rows, *status, *limit, *after);
        }
        Operation::Change { id, patch, expected, done } => {
            let at = there(rows, *id);
            let at = at.filter(|&at| expected.as_ref().is_none_or(|name| *name == rows[at].1.name));
            if let Some(at) = at {
                let animal = &mut rows[at].1;
                animal.name = patch.name.clone().unwrap_or(animal.name.clone());
                animal.category_id = patch.category_id.unwrap_or(animal.category_id);
                animal.status = patch.status.map_or(animal.status.clone(), str::to_owned);
            }
            *done = Some(at.is_some());
        }
        Operation::Remove { id, done } => {
            let at = there(rows, *id);
            at.inspect(|&at| rows[at].2 = false);
            *done = Some(at.is_some());
        }
        Operation::Restore { id, done } => {
            let at = row(rows, *id).filter(|&at| !rows[at].2);
            at.inspect(|&at| rows[at].2 = true);
            *done = Some(at.is_some());
        }
        other => unreachable!("{other:?}"),
    }
    executed
}

fn is_unknown(event: &Event) -> bool {
    event.returned == Moment::MAX
}

/// Whether the operations can stand one after the other, each between its call
/// and its return, with these responses: tries all orders, and all ids.
fn exists_order(left: &[&Event], rows: &[Row], order: Order) -> bool {
    if left.iter().all(|event| is_unknown(event)) {
        return true;
    }
    let first_return = left.iter().map(|event| event.returned).min().unwrap();
    (0..left.len()).filter(|&at| left[at].called < first_return).any(|at| {
        let mut rest = left.to_vec();
        let event = rest.remove(at);
        let adds = matches!(&event.operation, Operation::Create { name, .. }
            if rows.iter().all(|row| row.0.name != *name));
        let highest = rows.iter().map(|row| row.0.id).max().unwrap_or(0);
        let is_free = |id: i64| id > highest || order == Order::Any && row(rows, id).is_none();
        let ids = 1..=if adds { IDS } else { 1 };
        ids.filter(|&id| !adds || is_free(id)).any(|id| {
            let mut rows = rows.to_vec();
            let executed = execute(&mut rows, &event.operation, id);
            let has_response = is_unknown(event) || executed == event.operation;
            has_response && exists_order(&rest, &rows, order)
        })
    })
}

/// An operation without its response. The same `number` gives no two requests
/// the same name; a create may repeat an earlier one.
fn any_operation(random: &mut StdRng, number: usize) -> Operation {
    let id = random.random_range(1..=2);
    let status = *STATUSES.choose(random).unwrap();
    // Something is there from the beginning.
    let kind = if number == 0 { 0 } else { random.random_range(0..13) };
    match kind {
        0..3 => {
            let number = if random.random_bool(0.8) { number } else { number / 2 };
            let name = format!("created {number}");
            let status = STATUSES[number % 2];
            Operation::Create { name, category_id: 1, status, response: None }
        }
        3 => Operation::Get { id, found: None },
        4..7 => {
            let status = random.random_bool(0.6).then_some(status);
            let (limit, after) = (random.random_range(1..=2), random.random_range(0..=1));
            Operation::List { status, limit, after, page: vec![], more: false }
        }
        7..10 => {
            let name = random.random_bool(0.3).then(|| format!("changed {number}"));
            let patch = Patch { name, category_id: None, status: Some(status) };
            let expected = random.random_range(0..number.max(1));
            let expected = match random.random_range(0..4) {
                0 => Some(format!("created {expected}")),
                1 => Some(format!("changed {expected}")),
                _ => None,
            };
            Operation::Change { id, patch, expected, done: None }
        }
        10..12 => Operation::Remove { id, done: None },
        _ => Operation::Restore { id, done: None },
    }
}

/// Makes a response wrong, perhaps.
fn spoil(operation: &mut Operation, random: &mut StdRng) {
    match operation {
        Operation::Get { found: Some(animal), .. } => animal.status = STATUSES[0].to_owned(),
        Operation::List { page, more, .. } => match random.random_range(0..3) {
            0 => *more = !*more,
            1 => drop(page.pop()),
            _ => page.iter_mut().for_each(|animal| animal.status = STATUSES[1].to_owned()),
        },
        Operation::Change { done: Some(done), .. }
        | Operation::Remove { done: Some(done), .. }
        | Operation::Restore { done: Some(done), .. } => *done = !*done,
        _ => {}
    }
}

/// What clients were told by a catalogue that does some operations before their
/// call or after their return, forgets some whose outcome is unknown, and now
/// and then gives a wrong response. The last event reads everything.
fn any_history(random: &mut StdRng, order: Order) -> Vec<Event> {
    let count = random.random_range(4..=OPERATIONS);
    let mut ids: Vec<i64> = (1..=IDS).collect();
    if order == Order::Any && random.random_bool(0.5) {
        ids[..4].reverse();
    }
    let mut events: Vec<(i64, Event)> = Vec::new();
    for number in 0..count {
        let at = i64::try_from(number).unwrap() * 10 + 100;
        let operation = any_operation(random, number);
        let moment =
            |at: i64, part| Moment::try_from(at * 100).unwrap() + 2 * number as Moment + part;
        let called = moment(at - random.random_range(0..35), 0);
        let mut returned = moment(at + random.random_range(0..35), 1);
        let is_read = matches!(operation, Operation::Get { .. } | Operation::List { .. });
        if !is_read && random.random_bool(0.2) {
            returned = Moment::MAX;
        }
        let is_done_in_time = random.random_bool(0.8);
        let done_at = if is_done_in_time { at } else { at + random.random_range(-60..60) };
        events.push((done_at, Event { called, returned, operation }));
    }
    events.sort_by_key(|(done_at, _)| *done_at);
    let mut rows = Vec::new();
    let mut history = Vec::new();
    for (_, mut event) in events {
        let id = ids[rows.len()];
        if !is_unknown(&event) {
            event.operation = execute(&mut rows, &event.operation, id);
            if random.random_bool(0.15) {
                spoil(&mut event.operation, random);
            }
        } else if random.random_bool(0.6) {
            execute(&mut rows, &event.operation, id);
        }
        history.push(event);
    }
    let (page, more) = page_of(&rows, None, 100, 0);
    let operation = Operation::List { status: None, limit: 100, after: 0, page, more };
    history.push(Event { called: 1_000_000, returned: 1_000_001, operation });
    history
}

#[test]
fn the_checker_agrees_with_the_exhaustive_search() {
    let seed = number("HISTORIES_SEED").unwrap_or(1);
    let mut bad = 0;
    for seed in seed..seed + 2_000 {
        let order = if seed % 2 == 0 { Order::OfIds } else { Order::Any };
        let history = any_history(&mut StdRng::seed_from_u64(seed), order);
        let checked = checker::check(&history, order);
        let exists_order = exists_order(&history.iter().collect::<Vec<_>>(), &[], order);
        assert_eq!(
            checked.is_ok(),
            exists_order,
            "HISTORIES_SEED={seed}, {order:?}: {checked:?}\n{history:#?}"
        );
        bad += u32::from(!exists_order);
    }
    eprintln!("2000 small histories, from seed {seed}: the searches agree, {bad} are bad");
    assert!((400..1_600).contains(&bad), "{bad} of 2,000 histories are bad");
}
