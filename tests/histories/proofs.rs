//! The checker itself: it objects to the bad histories below, and agrees with
//! the exhaustive search on every small one.

use proptest::prelude::*;

use super::{
    checker::{self, Order},
    history::{Animal, Event, Moment, Operation},
};

const STATUSES: [&str; 2] = ["available", "sold"];

fn check(history: &[Event]) -> Result<(), String> {
    checker::check(history, Order::OfIds)
}

/// The animal with this id. Odd ones are on offer, even ones sold.
fn animal(id: i64) -> Animal {
    let status = if id % 2 == 1 { STATUSES[0] } else { STATUSES[1] };
    Animal { id, name: format!("n{id}"), category_id: id, status: status.to_owned() }
}

fn create(called: Moment, returned: Moment, id: i64) -> Event {
    let status = if id % 2 == 1 { STATUSES[0] } else { STATUSES[1] };
    let answered = (returned < Moment::MAX).then(|| animal(id));
    let name = format!("n{id}");
    let operation = Operation::Create { name, category_id: id, status, answered };
    Event { called, returned, operation }
}

fn get(called: Moment, returned: Moment, id: i64, found: bool) -> Event {
    let operation = Operation::Get { id, found: found.then(|| animal(id)) };
    Event { called, returned, operation }
}

/// A page of two at most.
fn list(called: Moment, returned: Moment, after: i64, ids: &[i64], more: bool) -> Event {
    let page = ids.iter().copied().map(animal).collect();
    let operation = Operation::List { status: None, limit: 2, after, page, more };
    Event { called, returned, operation }
}

#[track_caller]
fn expect_objection(history: &[Event], words: &str) {
    let violation = check(history).unwrap_err();
    assert!(violation.contains(words), "{violation}");
}

#[test]
fn a_good_history_passes() {
    check(&[
        create(0, 9, 1),
        // While the create is in flight, both may be seen, in this order.
        get(1, 2, 1, false),
        get(3, 4, 1, true),
        create(5, 8, 2),
        list(6, 7, 0, &[1], false),
        list(10, 11, 0, &[1, 2], false),
        // Its client went away, and it came nevertheless; asked for again, it
        // is the same.
        create(12, Moment::MAX, 3),
        list(13, 14, 0, &[1, 2], true),
        create(15, 16, 4),
        list(17, 18, 2, &[3, 4], false),
        create(19, 20, 3),
    ])
    .unwrap();
}

#[test]
fn a_stale_page_is_recognised() {
    let stale = list(2, 3, 0, &[], false);
    expect_objection(&[create(0, 1, 1), stale], "1 was there when this returned");
}

#[test]
fn a_page_by_status_is_checked_against_that_status_alone() {
    let sold = |page: Vec<Animal>| Event {
        called: 4,
        returned: 5,
        operation: Operation::List { status: Some("sold"), limit: 2, after: 0, page, more: false },
    };
    let mut history = vec![create(0, 1, 1), create(2, 3, 2), sold(vec![animal(2)])];
    check(&history).unwrap();
    history[2] = sold(vec![animal(1), animal(2)]);
    expect_objection(&history, "1 is not the next one");
    history[2] = sold(vec![]);
    expect_objection(&history, "2 was there when this returned");
}

#[test]
fn an_animal_that_was_seen_and_is_gone_is_recognised() {
    // Not acknowledged yet, but shown to somebody.
    let history = [create(0, 9, 1), get(1, 2, 1, true), get(3, 4, 1, false)];
    expect_objection(&history, "1 was there when this returned");
}

#[test]
fn a_create_that_is_acknowledged_before_it_can_be_seen_is_recognised() {
    let history = [create(0, 1, 1), get(2, 3, 1, false), get(4, 5, 1, true)];
    expect_objection(&history, "1 was there when this returned");
}

#[test]
fn an_id_for_two_animals_is_recognised() {
    let mut second = create(2, 3, 2);
    let Operation::Create { answered: Some(animal), .. } = &mut second.operation else {
        unreachable!()
    };
    animal.id = 1;
    expect_objection(&[create(0, 1, 1), second], "one id for two animals");
}

#[test]
fn a_create_that_gave_two_animals_is_recognised() {
    let mut doubled = animal(1);
    doubled.id = 2;
    let mut page = list(2, 3, 0, &[1], false);
    let Operation::List { page: animals, .. } = &mut page.operation else { unreachable!() };
    animals.push(doubled);
    expect_objection(&[create(0, 1, 1), page], "one create gave two animals");
}

#[test]
fn a_create_that_is_sent_again_and_gives_another_animal_is_recognised() {
    let mut again = create(2, 3, 1);
    let Operation::Create { answered: Some(animal), .. } = &mut again.operation else {
        unreachable!()
    };
    animal.id = 2;
    expect_objection(&[create(0, 1, 1), again], "one create gave two animals");
}

#[test]
fn an_animal_that_is_half_there_or_was_never_asked_for_is_recognised() {
    let mut half = animal(1);
    half.category_id = 0;
    let found = Operation::Get { id: 1, found: Some(half) };
    let read = Event { called: 1, returned: 2, operation: found };
    expect_objection(&[create(0, Moment::MAX, 1), read], "nobody asked for");
    expect_objection(&[get(1, 2, 1, true)], "nobody asked for");
}

#[test]
fn the_animal_of_another_is_recognised() {
    let found = Operation::Get { id: 1, found: Some(animal(2)) };
    let read = Event { called: 4, returned: 5, operation: found };
    let history = [create(0, 1, 1), create(2, 3, 2), read];
    expect_objection(&history, "another animal than the one asked for");
}

#[test]
fn ids_against_the_order_of_creation_are_recognised() {
    let history = [create(0, 1, 2), create(2, 3, 1)];
    expect_objection(&history, "2 was there when this returned");
}

#[test]
fn an_id_that_becomes_visible_after_a_higher_one_is_recognised() {
    let history = [create(0, 9, 1), create(1, 8, 2), get(2, 3, 2, true), get(4, 5, 1, false)];
    expect_objection(&history, "2 was there when this returned");
    let page = [create(0, 9, 1), create(1, 8, 2), list(2, 3, 0, &[2], false), get(10, 11, 1, true)];
    expect_objection(&page, "2 is not the next one");
}

#[test]
fn where_animals_come_in_any_order_each_is_still_checked() {
    let check = |history: &[Event]| checker::check(history, Order::Any);
    let [one, two] = [create(0, 9, 1), create(1, 8, 2)];
    let both = [one, two, list(2, 3, 0, &[2], false)];
    let then = |event: Event| [&both[..], &[event]].concat();
    check(&then(list(10, 11, 0, &[1, 2], false))).unwrap();
    check(&then(list(6, 7, 0, &[2], false))).unwrap();
    for (event, words) in [
        (list(10, 11, 0, &[2], false), "1 was there when this returned"),
        (list(4, 5, 0, &[1], false), "2 was there when this returned"),
        (get(4, 5, 2, false), "2 was there when this returned"),
        (list(10, 11, 0, &[2, 1], false), "out of order"),
        (list(10, 11, 1, &[1, 2], false), "out of order"),
        (list(10, 11, 0, &[1], true), "a wrong link"),
        (list(10, 11, 0, &[1, 2], true), "a wrong link"),
    ] {
        let violation = check(&then(event)).unwrap_err();
        assert!(violation.contains(words), "{violation}");
    }
}

#[test]
fn a_walk_that_skips_doubles_or_disorders_is_recognised() {
    let five: Vec<Event> = (1..=5).map(|id| create(0, 1, id)).collect();
    for (pages, words) in [
        ([list(2, 3, 0, &[1, 2], true), list(4, 5, 2, &[4, 5], false)], "4 is not the next one"),
        ([list(2, 3, 0, &[1, 2], true), list(4, 5, 2, &[2, 3], true)], "2 is not the next one"),
        ([list(2, 3, 0, &[2, 1], true), list(4, 5, 2, &[3, 4], true)], "2 is not the next one"),
        ([list(2, 3, 0, &[1, 2], true), list(4, 5, 2, &[3, 3], true)], "3 is not the next one"),
    ] {
        expect_objection(&[&five[..], &pages].concat(), words);
    }
}

#[test]
fn a_dishonest_link_to_the_next_page_is_recognised() {
    let [one, two] = [create(0, 1, 1), create(2, 3, 2)];
    let page = |ids: &[i64], more| [one.clone(), two.clone(), list(4, 5, 0, ids, more)];
    check(&page(&[1, 2], false)).unwrap();
    expect_objection(&page(&[1, 2], true), "a next page, and no animal for it");
    expect_objection(&page(&[1], true), "a next page after a short one");
    let [last, missing] = [create(0, 1, 3), list(4, 5, 0, &[1, 2], false)];
    expect_objection(&[one.clone(), two.clone(), last, missing], "3 was there when this returned");
    let large = list(6, 7, 0, &[1, 2, 3], false);
    let third = create(4, 5, 3);
    expect_objection(&[one, two, third, large], "more than the limit");
}

/// Whether the operations can stand one after the other, each between its call
/// and its return, with these answers: tries all orders. `catalogue` holds the
/// ids so far.
fn exists_order(left: &[Event], catalogue: &[i64]) -> bool {
    let unanswered = |event: &Event| event.returned == Moment::MAX;
    if left.iter().all(unanswered) {
        return true;
    }
    let first_return = left.iter().map(|event| event.returned).min().unwrap();
    (0..left.len()).filter(|&at| left[at].called < first_return).any(|at| {
        let mut rest = left.to_vec();
        let mut catalogue = catalogue.to_vec();
        let possible = match rest.remove(at).operation {
            Operation::Create { category_id: id, .. } => {
                let is_new = !catalogue.contains(&id);
                let ascends = catalogue.last().is_none_or(|&last| last < id);
                if is_new {
                    catalogue.push(id);
                }
                ascends || !is_new
            }
            Operation::Get { id, found } => catalogue.contains(&id) == found.is_some(),
            Operation::List { status, limit, after, page, more } => {
                let due = page_of(&catalogue, status, after);
                let shown = &due[..due.len().min(limit)];
                shown == page && more == (due.len() > limit)
            }
        };
        possible && exists_order(&rest, &catalogue)
    })
}

fn page_of(catalogue: &[i64], status: Option<&str>, after: i64) -> Vec<Animal> {
    let due = catalogue.iter().filter(|&&id| id > after).map(|&id| animal(id));
    due.filter(|animal| status.is_none_or(|status| status == animal.status)).collect()
}

/// Answers of a catalogue at some states, given at any moments: some histories
/// are linearizable, and some are not. The last event reads everything.
fn any_history() -> impl Strategy<Value = Vec<Event>> {
    let read =
        (0..=4_usize, 0..4_i64, 1..=2_usize, proptest::option::of(0..2_usize), any::<bool>());
    let again = proptest::collection::vec(1..=4_i64, 0..=2);
    let moments = Just((0..20).collect::<Vec<Moment>>()).prop_shuffle();
    let abandoned = proptest::collection::vec(proptest::bool::weighted(0.2), 4);
    (1..=4_usize, proptest::collection::vec(read, 1..=4), moments, abandoned, again).prop_map(
        |(creates, reads, moments, abandoned, again)| {
            let all: Vec<i64> = (1..).take(creates).collect();
            let mut moments = moments.chunks(2).map(|two| (two[0].min(two[1]), two[0].max(two[1])));
            let mut history = Vec::new();
            for (&id, abandoned) in all.iter().zip(abandoned) {
                let (called, returned) = moments.next().unwrap();
                history.push(create(called, if abandoned { Moment::MAX } else { returned }, id));
            }
            // Some are asked for again.
            for id in again.into_iter().filter(|id| all.contains(id)) {
                let (called, returned) = moments.next().unwrap();
                history.push(create(called, returned, id));
            }
            for (state, after, limit, status, by_id) in reads {
                let (called, returned) = moments.next().unwrap();
                let state = &all[..state.min(creates)];
                history.push(if by_id {
                    get(called, returned, after + 1, state.contains(&(after + 1)))
                } else {
                    let status = status.map(|at| STATUSES[at]);
                    let mut page = page_of(state, status, after);
                    let more = page.len() > limit;
                    page.truncate(limit);
                    let operation = Operation::List { status, limit, after, page, more };
                    Event { called, returned, operation }
                });
            }
            let page = page_of(&all, None, 0);
            let operation =
                Operation::List { status: None, limit: 100, after: 0, page, more: false };
            history.push(Event { called: 100, returned: 101, operation });
            history
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_checker_agrees_with_the_exhaustive_search(history in any_history()) {
        prop_assert_eq!(check(&history).is_ok(), exists_order(&history, &[]));
    }
}
