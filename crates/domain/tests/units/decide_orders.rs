//! Every command of an order in every state.

use petstore_domain::store_area::{
    ChangeType, Command, Contact, Decimal, NewOrder, Note, Order, OrderId, OrderPatch, OrderStatus,
    OrderTerms, Patch, Preconditions, PresentState, Reason, Resource, decide,
};

use super::decide::{
    ANIMALS, Animal, Available, NOW, Reserved, SoldByOrder, SoldWithoutOrder, Unknown, Withdrawn,
    order, outcome, pet_id, present, second,
};

/// The states of an order, with its animal.
fn orders() -> [(Order, Animal); 7] {
    [
        (order(OrderStatus::Reserved, true), Reserved),
        (order(OrderStatus::Completed, true), SoldByOrder),
        (order(OrderStatus::Completed, false), SoldWithoutOrder),
        (order(OrderStatus::Completed, true), Withdrawn),
        (order(OrderStatus::Cancelled, false), Available),
        (order(OrderStatus::Expired, false), Available),
        (order(OrderStatus::Returned, false), Available),
    ]
}

fn expect_of_orders(command: &Command, expected: [&str; 7]) {
    for ((order, animal), expected) in orders().into_iter().zip(expected) {
        let context = format!("{command:?} of {} with {animal:?}", order.status);
        let present = PresentState {
            order: Some(order),
            ..present(animal)
        };
        assert_eq!(outcome(command, &present), expected, "{context}");
    }
    assert_eq!(outcome(command, &PresentState::default()), "404");
}

const IT_ORDER: &str = "transition, shows order";

#[test]
fn every_order_command_in_every_state() {
    let id = OrderId::new(5).unwrap();
    let (it, again) = (IT_ORDER, "reserved pending");
    for preconditions in [Preconditions::default(), Preconditions::version(3)] {
        let commands = commands(&preconditions);
        let expected = [
            ["completed sold", "same", "same", "same", it, it, it],
            ["cancelled available", it, it, it, "same", it, it],
            [it, "returned available", it, it, it, it, "same"],
            [it, "reserved pending", it, it, again, again, again],
        ];
        for (command, expected) in commands.iter().zip(expected) {
            expect_of_orders(command, expected);
        }
    }
    // Also where the command alone would change nothing.
    for stale in commands(&Preconditions::version(2)) {
        expect_of_orders(&stale, ["412"; 7]);
    }
    expect_of_orders(&Command::ExpireOrder { id }, ["same"; 7]);
}

/// What closes an order or opens it again.
fn commands(preconditions: &Preconditions) -> [Command; 4] {
    let (id, preconditions) = (OrderId::new(5).unwrap(), || preconditions.clone());
    [
        Command::CompleteOrder {
            id,
            price: Patch::Keep,
            preconditions: preconditions(),
        },
        Command::CancelOrder {
            id,
            reason: None,
            preconditions: preconditions(),
        },
        Command::ReturnOrder {
            id,
            reason: None,
            preconditions: preconditions(),
        },
        reopen(None, preconditions()),
    ]
}

fn reopen(end: Option<i64>, preconditions: Preconditions) -> Command {
    let (id, default_end) = (OrderId::new(5).unwrap(), second(NOW + 1_000));
    Command::ReopenOrder {
        id,
        expires_at: end.map(second),
        default_end,
        preconditions,
    }
}

#[test]
fn a_cancelled_order_is_reopened_only_while_its_animal_is_available() {
    for status in [
        OrderStatus::Cancelled,
        OrderStatus::Expired,
        OrderStatus::Returned,
    ] {
        let order = Some(order(status, false));
        for animal in ANIMALS {
            let present = PresentState {
                order: order.clone(),
                ..present(animal)
            };
            let expected = match animal {
                Available => "reserved pending",
                Unknown => "404",
                _ => IT_ORDER,
            };
            let found = outcome(&reopen(None, Preconditions::default()), &present);
            assert_eq!(found, expected, "{status} with {animal:?}");
        }
    }
}

#[test]
fn a_reopened_order_has_the_end_that_is_given_or_its_old_one_or_the_default() {
    let any = Preconditions::default;
    for (old, given, expected) in [
        (Some(NOW + 60), None, NOW + 60),
        (Some(NOW + 60), Some(NOW + 30), NOW + 30),
        (Some(NOW), None, NOW + 1_000),
        (None, None, NOW + 1_000),
        (None, Some(NOW + 1), NOW + 1),
    ] {
        let contact = Contact::new("Anna".to_owned());
        let closed = Order {
            expires_at: old.map(second),
            reason: Reason::new("too far".to_owned()),
            price: Decimal::new("249.00"),
            contact: contact.clone(),
            ..order(OrderStatus::Cancelled, false)
        };
        let present = PresentState {
            order: Some(closed.clone()),
            ..present(Available)
        };
        let decision = decide(&reopen(given, any()), &present, second(NOW)).unwrap();
        let open = Order {
            status: OrderStatus::Reserved,
            expires_at: Some(second(expected)),
            reason: None,
            closed_at: None,
            version: 4,
            holds: true,
            ..closed
        };
        assert_eq!(decision.changes[0].kind, ChangeType::OrderReopened);
        assert_eq!(decision.changes[1].kind, ChangeType::PetChanged);
        assert_eq!(decision.result, Some(Resource::Order(open)));
        let Some(Resource::Pet(pet)) = &decision.changes[1].after else {
            panic!()
        };
        assert_eq!(pet.order_id, OrderId::new(5));
    }
    let closed = Some(order(OrderStatus::Cancelled, false));
    let present = PresentState {
        order: closed,
        ..present(Available)
    };
    for end in [NOW, NOW + 401 * 24 * 3600] {
        assert_eq!(outcome(&reopen(Some(end), any()), &present), "400");
    }
}

#[test]
fn the_contact_of_a_reopened_order_is_due_after_it_closed_again() {
    let erase = Command::EraseContact {
        id: OrderId::new(5).unwrap(),
        closed_until: second(NOW),
    };
    let contact = Contact::new("Anna".to_owned());
    let closed = Order {
        contact: contact.clone(),
        ..order(OrderStatus::Cancelled, false)
    };
    let mut present = PresentState {
        order: Some(closed),
        ..present(Available)
    };
    assert_eq!(outcome(&erase, &present), "cancelled");
    let decision = decide(
        &reopen(None, Preconditions::default()),
        &present,
        second(NOW),
    )
    .unwrap();
    let Some(Resource::Order(open)) = decision.result else {
        panic!()
    };
    present.order = Some(open);
    assert_eq!(outcome(&erase, &present), "same");
}

#[test]
fn the_price_of_a_sale_is_given_kept_or_cleared_and_corrected_later() {
    let any = Preconditions::default;
    let id = OrderId::new(5).unwrap();
    let price = |text| Patch::Set(Decimal::new(text).unwrap());
    let complete = |price| Command::CompleteOrder {
        id,
        price,
        preconditions: any(),
    };
    let patch = |price| {
        let patch = OrderPatch {
            price,
            ..OrderPatch::default()
        };
        Command::PatchOrder {
            id,
            patch,
            preconditions: Preconditions::version(3),
        }
    };
    let with = |status, animal, price: &str| {
        let order = Order {
            price: Decimal::new(price),
            ..order(status, animal != Available)
        };
        PresentState {
            order: Some(order),
            ..present(animal)
        }
    };
    let reserved = with(OrderStatus::Reserved, Reserved, "95");
    for (given, expected) in [
        (Patch::Keep, Some("95")),
        (Patch::Clear, None),
        (price("80.5"), Some("80.5")),
    ] {
        let decision = decide(&complete(given), &reserved, second(NOW)).unwrap();
        let Some(Resource::Order(sold)) = decision.result else {
            panic!()
        };
        assert_eq!(sold.price.as_ref().map(Decimal::as_str), expected);
    }
    let sold = with(OrderStatus::Completed, SoldByOrder, "95");
    assert_eq!(outcome(&complete(price("80")), &sold), "same");
    assert_eq!(outcome(&patch(price("80")), &sold), "completed");
    assert_eq!(outcome(&patch(Patch::Clear), &sold), "completed");
    let cancelled = with(OrderStatus::Cancelled, Available, "95");
    assert_eq!(outcome(&patch(price("80")), &cancelled), IT_ORDER);
    // A minus only stays.
    let negative = with(OrderStatus::Reserved, Reserved, "-95");
    for new in ["-80", "-0", "-95.0"].map(price) {
        assert_eq!(outcome(&complete(new.clone()), &negative), "400");
        assert_eq!(outcome(&patch(new), &negative), "400");
    }
    assert_eq!(
        outcome(&complete(price("-95")), &negative),
        "completed sold"
    );
    assert_eq!(outcome(&patch(price("-95")), &negative), "same");
    let terms = OrderTerms::Completed;
    let new = NewOrder {
        price: price("-1"),
        ..NewOrder::new(pet_id(), terms)
    };
    assert_eq!(
        outcome(&Command::PlaceOrder(new), &present(Available)),
        "400"
    );
}

#[test]
fn the_clock_expires_an_order_at_its_end() {
    let command = Command::ExpireOrder {
        id: OrderId::new(5).unwrap(),
    };
    let mut due = present(Reserved);
    let order = Order {
        expires_at: Some(second(NOW)),
        ..order(OrderStatus::Reserved, true)
    };
    due.order = Some(order.clone());
    assert_eq!(outcome(&command, &due), "expired available");
    // A client that completes it before the clock looks has bought the animal.
    let [complete, ..] = commands(&Preconditions::default());
    assert_eq!(outcome(&complete, &due), "completed sold");
}

#[test]
fn an_order_patch_changes_its_texts_always_and_its_end_while_it_is_reserved() {
    let id = OrderId::new(5).unwrap();
    let of = |patch| Command::PatchOrder {
        id,
        patch,
        preconditions: Preconditions::version(3),
    };
    let note = Patch::Set(Note::new("n".to_owned()).unwrap());
    let note = of(OrderPatch {
        note,
        ..OrderPatch::default()
    });
    expect_of_orders(
        &note,
        [
            "reserved",
            "completed",
            "completed",
            "completed",
            "cancelled",
            "expired",
            "returned",
        ],
    );
    let clear = of(OrderPatch {
        note: Patch::Clear,
        ..OrderPatch::default()
    });
    expect_of_orders(&clear, ["same"; 7]);
    let end = |end| {
        of(OrderPatch {
            expires_at: Some(second(end)),
            ..OrderPatch::default()
        })
    };
    let it = IT_ORDER;
    expect_of_orders(&end(NOW + 600), ["reserved", it, it, it, it, it, it]);
    expect_of_orders(&end(NOW + 60), ["same"; 7]);
    let present = PresentState {
        order: Some(order(OrderStatus::Reserved, true)),
        ..present(Reserved)
    };
    assert_eq!(outcome(&end(NOW - 1), &present), "400");
}
