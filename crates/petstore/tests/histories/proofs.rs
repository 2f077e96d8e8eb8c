//! The checker itself: it accepts good histories and rejects bad ones.

use super::{
    checker::{self, Order},
    history::{Animal, Event, Moment, Operation},
};

pub(super) const STATUSES: [&str; 2] = ["available", "sold"];

pub(super) fn check(history: &[Event]) -> Result<(), String> {
    checker::check(history, Order::OfIds)
}

pub(super) fn status(id: i64) -> &'static str {
    if id % 2 == 1 {
        STATUSES[0]
    } else {
        STATUSES[1]
    }
}

/// The animal with this id, as it was added. Odd ones are available, even ones
/// sold.
pub(super) fn animal(id: i64) -> Animal {
    Animal {
        id,
        name: format!("n{id}"),
        category_id: id,
        status: status(id).to_owned(),
    }
}

pub(super) fn event((called, returned): (Moment, Moment), operation: Operation) -> Event {
    Event {
        called,
        returned,
        operation,
    }
}

pub(super) fn create(called: Moment, returned: Moment, id: i64) -> Event {
    let response = (returned < Moment::MAX).then(|| animal(id));
    let name = format!("n{id}");
    let create = Operation::Create {
        name,
        category_id: id,
        status: status(id),
        response,
    };
    event((called, returned), create)
}

pub(super) fn get(called: Moment, returned: Moment, id: i64, found: Option<Animal>) -> Event {
    event((called, returned), Operation::Get { id, found })
}

/// A page of two at most.
pub(super) fn list(called: Moment, returned: Moment, after: i64, ids: &[i64], more: bool) -> Event {
    let page = ids.iter().copied().map(animal).collect();
    event(
        (called, returned),
        Operation::List {
            status: None,
            limit: 2,
            after,
            page,
            more,
        },
    )
}

/// A page of the animals with this status.
pub(super) fn list_of(
    called: Moment,
    returned: Moment,
    status: &'static str,
    page: Vec<Animal>,
) -> Event {
    let status = Some(status);
    let page = Operation::List {
        status,
        limit: 9,
        after: 0,
        page,
        more: false,
    };
    event((called, returned), page)
}

/// Each of the events is good after `history`, if `is_good`, or else bad.
#[track_caller]
pub(super) fn expect_of_each(
    history: &[Event],
    is_good: bool,
    events: impl IntoIterator<Item = Event>,
) {
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
fn what_is_stale_half_there_of_another_or_gone_is_recognized() {
    let [one, two] = [create(0, 1, 1), create(2, 3, 2)];
    let history = [one, two, list(4, 5, 0, &[1, 2], false)];
    let half = Animal {
        category_id: 0,
        ..animal(1)
    };
    let never = Animal {
        name: "never".to_owned(),
        ..animal(1)
    };
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
    let acknowledged = [
        create(0, 1, 1),
        get(2, 3, 1, None),
        get(4, 5, 1, Some(animal(1))),
    ];
    check(&acknowledged).unwrap_err();
}

#[test]
fn an_id_for_two_animals_and_two_animals_of_one_create_are_recognized() {
    let under = |id: i64, mut create: Event| {
        let Operation::Create {
            response: Some(animal),
            ..
        } = &mut create.operation
        else {
            unreachable!()
        };
        animal.id = id;
        create
    };
    let history = [create(0, 1, 1)];
    expect_of_each(&history, true, [create(2, 3, 1), create(2, 3, 2)]);
    expect_of_each(
        &history,
        false,
        [under(1, create(2, 3, 2)), under(2, create(2, 3, 1))],
    );
    let doubled = Animal { id: 2, ..animal(1) };
    expect_of_each(
        &history,
        false,
        [list_of(2, 3, STATUSES[0], vec![animal(1), doubled])],
    );
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
    let five: Vec<Event> = (1..=5)
        .zip((2..).step_by(2))
        .map(|(id, at)| create(at, at + 1, id))
        .collect();
    let page = |ids: &[i64], more| list(20, 21, 2, ids, more);
    expect_of_each(
        &five,
        true,
        [page(&[3, 4], true), list(20, 21, 3, &[4, 5], false)],
    );
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
