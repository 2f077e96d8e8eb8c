//! The checker itself: it accepts good histories and rejects bad ones.

use super::{
    checker::{self, Order},
    history::{Animal, Done, Event, Moment, Operation, Patch},
};

const STATUSES: [&str; 2] = ["available", "sold"];

fn check(history: &[Event]) -> Result<(), String> {
    checker::check(history, Order::OfIds)
}

fn status(id: i64) -> &'static str {
    if id % 2 == 1 { STATUSES[0] } else { STATUSES[1] }
}

/// The animal with this id, as it was added. Odd ones are available, even ones
/// sold.
fn animal(id: i64) -> Animal {
    Animal { id, name: format!("n{id}"), category_id: id, status: status(id).to_owned() }
}

fn event((called, returned): (Moment, Moment), operation: Operation) -> Event {
    Event { called, returned, operation }
}

fn create(called: Moment, returned: Moment, id: i64) -> Event {
    let response = (returned < Moment::MAX).then(|| animal(id));
    let name = format!("n{id}");
    let create = Operation::Create { name, category_id: id, status: status(id), response };
    event((called, returned), create)
}

fn get(called: Moment, returned: Moment, id: i64, found: Option<Animal>) -> Event {
    event((called, returned), Operation::Get { id, found })
}

/// A page of two at most.
fn list(called: Moment, returned: Moment, after: i64, ids: &[i64], more: bool) -> Event {
    let page = ids.iter().copied().map(animal).collect();
    event((called, returned), Operation::List { status: None, limit: 2, after, page, more })
}

/// A page of the animals with this status.
fn list_of(called: Moment, returned: Moment, status: &'static str, page: Vec<Animal>) -> Event {
    let status = Some(status);
    let page = Operation::List { status, limit: 9, after: 0, page, more: false };
    event((called, returned), page)
}

/// Gives an animal the name `to`, and the other status.
fn change(called: Moment, returned: Moment, id: i64, to: &str, done: Done) -> Event {
    let patch =
        Patch { name: Some(to.to_owned()), category_id: None, status: Some(status(id + 1)) };
    let change = Operation::Change { id, patch, expected: None, done };
    event((called, returned), change)
}

/// The animal after such a change.
fn changed(id: i64, to: &str) -> Animal {
    Animal { name: to.to_owned(), status: status(id + 1).to_owned(), ..animal(id) }
}

fn remove(called: Moment, returned: Moment, id: i64, done: Done) -> Event {
    event((called, returned), Operation::Remove { id, done })
}

fn restore(called: Moment, returned: Moment, id: i64, done: Done) -> Event {
    event((called, returned), Operation::Restore { id, done })
}

/// Each of the events is good after `history`, if `is_good`, or else bad.
#[track_caller]
fn expect_of_each(history: &[Event], is_good: bool, events: impl IntoIterator<Item = Event>) {
    for event in events {
        let checked = check(&[history, std::slice::from_ref(&event)].concat());
        assert_eq!(checked.is_ok(), is_good, "{event:?}: {checked:?}");
    }
}

#[test]
fn a_good_history_passes() {
    check(&[
        create(0, 9, 1),
        // While the create is in progress, both may be seen, in this order.
        get(1, 2, 1, None),
        get(3, 4, 1, Some(animal(1))),
        create(5, 8, 2),
        list(6, 7, 0, &[1], false),
        list(10, 11, 0, &[1, 2], false),
        // Its client left, and it was added nevertheless; asked for again, it
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
fn an_objection_shows_the_response_and_the_catalogue_that_it_contradicts() {
    let history = [create(0, 1, 1), change(2, 3, 1, "new", Some(true)), create(4, 9, 2)];
    let stale = get(5, 6, 1, Some(animal(1)));
    let objection = check(&[&history[..], std::slice::from_ref(&stale)].concat()).unwrap_err();
    for part in
        [format!("{stale:?}"), "1: new, 1, sold, version 1".to_owned(), format!("{:?}", history[2])]
    {
        assert!(objection.contains(&part), "{objection}");
    }
}

#[test]
fn what_is_stale_half_there_of_another_or_gone_is_recognized() {
    let [one, two] = [create(0, 1, 1), create(2, 3, 2)];
    let history = [one, two, list(4, 5, 0, &[1, 2], false)];
    let half = Animal { category_id: 0, ..animal(1) };
    let never = Animal { name: "never".to_owned(), ..animal(1) };
    expect_of_each(
        &history,
        true,
        [
            get(6, 7, 1, Some(animal(1))),
            list_of(6, 7, STATUSES[1], vec![animal(2)]),
            list(6, 7, 1, &[2], false),
        ],
    );
    expect_of_each(
        &history,
        false,
        [
            get(6, 7, 1, None),
            get(6, 7, 1, Some(half)),
            get(6, 7, 1, Some(never)),
            get(6, 7, 1, Some(animal(2))),
            get(6, 7, 3, Some(animal(3))),
            list(6, 7, 0, &[], false),
            list(6, 7, 0, &[1], false),
            list_of(6, 7, STATUSES[1], vec![animal(1), animal(2)]),
            list_of(6, 7, STATUSES[1], vec![]),
        ],
    );
}

#[test]
fn an_animal_that_was_seen_stays_whether_or_not_it_was_acknowledged() {
    let seen = [create(0, 9, 1), get(1, 2, 1, Some(animal(1)))];
    expect_of_each(&seen, false, [get(3, 4, 1, None)]);
    let acknowledged = [create(0, 1, 1), get(2, 3, 1, None), get(4, 5, 1, Some(animal(1)))];
    check(&acknowledged).unwrap_err();
}

#[test]
fn an_id_for_two_animals_and_two_animals_of_one_create_are_recognized() {
    let under = |id: i64, mut create: Event| {
        let Operation::Create { response: Some(animal), .. } = &mut create.operation else {
            unreachable!()
        };
        animal.id = id;
        create
    };
    let history = [create(0, 1, 1)];
    expect_of_each(&history, true, [create(2, 3, 1), create(2, 3, 2)]);
    expect_of_each(&history, false, [under(1, create(2, 3, 2)), under(2, create(2, 3, 1))]);
    let doubled = Animal { id: 2, ..animal(1) };
    expect_of_each(&history, false, [list_of(2, 3, STATUSES[0], vec![animal(1), doubled])]);
}

#[test]
fn ids_against_the_order_of_creation_are_recognized_where_that_is_the_order() {
    let one_after_the_other = [create(0, 1, 2), create(2, 3, 1)];
    let both_at_once = [create(0, 9, 1), create(1, 8, 2), list(2, 3, 0, &[2], false)];
    for history in [&one_after_the_other[..], &both_at_once] {
        let history = [history, &[list(10, 11, 0, &[1, 2], false)]].concat();
        check(&history).unwrap_err();
        checker::check(&history, Order::Any).unwrap();
    }
    for bad in [
        list(10, 11, 0, &[2], false),
        list(4, 5, 0, &[1], false),
        get(4, 5, 2, None),
        list(10, 11, 0, &[2, 1], false),
        list(10, 11, 1, &[1, 2], false),
        list(10, 11, 0, &[1], true),
        list(10, 11, 0, &[1, 2], true),
    ] {
        checker::check(&[&both_at_once[..], &[bad]].concat(), Order::Any).unwrap_err();
    }
}

#[test]
fn a_page_that_skips_doubles_disorders_or_links_wrongly_is_recognized() {
    let five: Vec<Event> =
        (1..=5).zip((2..).step_by(2)).map(|(id, at)| create(at, at + 1, id)).collect();
    let page = |ids: &[i64], more| list(20, 21, 2, ids, more);
    expect_of_each(&five, true, [page(&[3, 4], true), list(20, 21, 3, &[4, 5], false)]);
    expect_of_each(
        &five,
        false,
        [
            page(&[4, 5], false),
            page(&[2, 3], true),
            page(&[4, 3], true),
            page(&[3, 3], true),
            page(&[3], true),
            page(&[3, 4, 5], false),
            page(&[3, 4], false),
            list(20, 21, 3, &[4, 5], true),
        ],
    );
}

#[test]
fn a_read_after_a_change_shows_the_change_in_one_piece() {
    let [available, sold] = STATUSES;
    let history = [create(0, 1, 1), change(2, 3, 1, "new", Some(true))];
    let torn = Animal { status: status(1).to_owned(), ..changed(1, "new") };
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
    let both =
        [create(0, 1, 1), change(2, 20, 1, "a", Some(true)), change(3, 21, 1, "b", Some(true))];
    let sees = |at: Moment, name: &str| get(at, at + 1, 1, Some(changed(1, name)));
    for (names, is_good) in
        [(["a", "b", "b"], true), (["b", "a", "a"], true), (["a", "b", "a"], false)]
    {
        let reads = names.iter().zip([4, 6, 30]).map(|(name, at)| sees(at, name));
        let history: Vec<Event> = both.iter().cloned().chain(reads).collect();
        assert_eq!(check(&history).is_ok(), is_good, "{names:?}");
    }
}

#[test]
fn a_change_to_what_is_there_already_may_come_after_another_change() {
    let patch = Patch { status: Some(STATUSES[0]), ..Patch::default() };
    let back = Operation::Change { id: 1, patch, expected: None, done: Some(true) };
    let history = [
        create(0, 1, 1),
        event((2, 20), back),
        change(3, 21, 1, "new", Some(true)),
        get(4, 5, 1, Some(changed(1, "new"))),
    ];
    // Both orders are possible.
    let back = Animal { status: STATUSES[0].to_owned(), ..changed(1, "new") };
    expect_of_each(
        &history,
        true,
        [get(30, 31, 1, Some(back)), get(30, 31, 1, Some(changed(1, "new")))],
    );
    expect_of_each(&history, false, [get(30, 31, 1, Some(animal(1)))]);
}

#[test]
fn a_page_shows_all_its_animals_at_one_moment() {
    let [available, sold] = STATUSES;
    let history = [
        create(0, 1, 1),
        create(2, 3, 3),
        change(5, 6, 1, "first", Some(true)),
        change(7, 8, 3, "second", Some(true)),
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
    let history = [create(0, 1, 1), change(2, Moment::MAX, 1, "late", None)];
    let read = |at: Moment, animal| get(at, at + 1, 1, Some(animal));
    expect_of_each(&history, true, [read(4, animal(1)), read(4, changed(1, "late"))]);
    let seen = [&history[..], &[read(4, animal(1)), read(6, changed(1, "late"))]].concat();
    check(&seen).unwrap();
    expect_of_each(&seen, false, [read(8, animal(1))]);
    let over = [&seen[..], &[change(8, 9, 1, "last", Some(true))]].concat();
    expect_of_each(&over, true, [read(10, changed(1, "last"))]);
    expect_of_each(&over, false, [read(10, changed(1, "late"))]);
    // Before it was asked for.
    check(&[create(0, 1, 1), read(2, changed(1, "late")), change(4, Moment::MAX, 1, "late", None)])
        .unwrap_err();
}

#[test]
fn a_change_of_an_old_version_is_not_made() {
    let over = |name: &str, done| {
        let patch = Patch { name: Some("last".to_owned()), ..Patch::default() };
        let expected = Some(name.to_owned());
        event((4, 5), Operation::Change { id: 1, patch, expected, done: Some(done) })
    };
    let history = [create(0, 1, 1), change(2, 3, 1, "new", Some(true))];
    expect_of_each(&history, true, [over("new", true), over("n1", false)]);
    expect_of_each(&history, false, [over("new", false), over("n1", true)]);
}

#[test]
fn an_animal_that_is_removed_is_gone_until_it_is_restored_as_it_was() {
    let new = || changed(1, "new");
    let history =
        [create(0, 1, 1), change(2, 3, 1, "new", Some(true)), remove(4, 5, 1, Some(true))];
    expect_of_each(
        &history,
        true,
        [
            get(6, 7, 1, None),
            list(6, 7, 0, &[], false),
            change(6, 7, 1, "none", Some(false)),
            remove(6, 7, 1, Some(false)),
            restore(6, 7, 1, Some(true)),
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
            change(6, 7, 1, "none", Some(true)),
            remove(6, 7, 1, Some(true)),
            restore(6, 7, 1, Some(false)),
        ],
    );
    let again = [&history[..], &[create(6, 7, 1)]].concat();
    expect_of_each(&again, false, [get(8, 9, 1, Some(animal(1)))]);
    let restored = [&history[..], &[restore(6, 7, 1, Some(true))]].concat();
    expect_of_each(&restored, true, [get(8, 9, 1, Some(new())), restore(8, 9, 1, Some(false))]);
    expect_of_each(&restored, false, [get(8, 9, 1, Some(animal(1))), get(8, 9, 1, None)]);
}

#[test]
fn a_removal_whose_outcome_is_unknown_may_happen_at_any_time_or_never() {
    let history = [create(0, 1, 1), remove(2, Moment::MAX, 1, None)];
    expect_of_each(&history, true, [list(4, 5, 0, &[1], false), list(4, 5, 0, &[], false)]);
    let gone = [&history[..], &[list(4, 5, 0, &[], false)]].concat();
    expect_of_each(&gone, false, [list(6, 7, 0, &[1], false)]);
}

#[test]
fn an_animal_that_nobody_saw_before_it_was_changed_or_removed_is_one_of_an_unknown_create() {
    let unknown = [create(0, Moment::MAX, 1)];
    let removed = remove(2, 3, 1, Some(true));
    let seen = get(4, 5, 1, Some(changed(1, "new")));
    expect_of_each(&unknown, true, [removed.clone()]);
    check(&[unknown[0].clone(), change(2, 3, 1, "new", Some(true)), seen.clone()]).unwrap();
    check(&[removed]).unwrap_err();
    check(&[change(2, 3, 1, "new", Some(true)), seen]).unwrap_err();
}
