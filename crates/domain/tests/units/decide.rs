//! Every command in every state.

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{
        Category, ChangeType, Command, Conflict, FieldValues, IfMatch, Label, NewOrder, Order,
        OrderId, OrderStatus, OrderTerms, PetPatch, Photos, Preconditions, PresentState, Refusal,
        Resource, StorePet, Withdrawal, WithdrawalReason, decide,
    },
};

/// The states of an animal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Animal {
    Available,
    PendingWithoutOrder,
    Reserved,
    SoldWithoutOrder,
    SoldByOrder,
    Withdrawn,
    Unknown,
}

pub(super) use Animal::{
    Available, PendingWithoutOrder, Reserved, SoldByOrder, SoldWithoutOrder, Unknown, Withdrawn,
};

pub(super) const ANIMALS: [Animal; 7] = [
    Available,
    PendingWithoutOrder,
    Reserved,
    SoldWithoutOrder,
    SoldByOrder,
    Withdrawn,
    Unknown,
];

pub(super) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(super) const NOW: i64 = 1_800_000_000;

pub(super) fn order(status: OrderStatus, holds: bool) -> Order {
    Order {
        id: OrderId::new(5).unwrap(),
        pet_id: PetId::new(7).unwrap(),
        status,
        reference: None,
        note: None,
        reason: None,
        expires_at: Some(second(NOW + 60)),
        created_at: second(NOW - 60),
        closed_at: (status != OrderStatus::Reserved).then_some(second(NOW - 30)),
        version: 3,
        price: None,
        contact: None,
        holds,
    }
}

pub(super) fn present(animal: Animal) -> PresentState {
    let status = match animal {
        PendingWithoutOrder | Reserved => PetStatus::Pending,
        SoldWithoutOrder | SoldByOrder => PetStatus::Sold,
        _ => PetStatus::Available,
    };
    let holder = match animal {
        Reserved => Some(order(OrderStatus::Reserved, true)),
        SoldByOrder => Some(order(OrderStatus::Completed, true)),
        _ => None,
    };
    let withdrawal = Withdrawal {
        at: second(NOW - 10),
        reason: WithdrawalReason::Other,
        note: None,
    };
    let pet = StorePet {
        id: PetId::new(7).unwrap(),
        name: PetName::new("Rex".to_owned()).unwrap(),
        category_id: 1,
        status,
        is_listed: true,
        version: 4,
        created_at: None,
        updated_at: None,
        order_id: (animal == Reserved).then(|| OrderId::new(5).unwrap()),
        withdrawal: (animal == Withdrawn).then_some(withdrawal),
        fields: FieldValues::NONE,
        photos: Photos::NONE,
    };
    PresentState {
        pet: (animal != Unknown).then_some(pet),
        holding_order: holder,
        next_order: OrderId::new(6),
        next_pet: PetId::new(8),
        ..PresentState::default()
    }
}

/// What a decision does, in short: the new states, `same`, or the error.
pub(super) fn outcome(command: &Command, present: &PresentState) -> String {
    match decide(command, present, second(NOW)) {
        Ok(decision) if decision.changes.is_empty() => "same".to_owned(),
        Ok(decision) => {
            let mut text: Vec<String> = Vec::new();
            for change in &decision.changes {
                assert_eq!(
                    change.after.as_ref().map(Resource::version),
                    Some(
                        change
                            .before
                            .as_ref()
                            .map_or(1, |before| before.version() + 1)
                    ),
                    "{change:?}"
                );
                match &change.after {
                    Some(Resource::Pet(pet)) if pet.withdrawal.is_some() => {
                        text.push("withdrawn".to_owned());
                    }
                    Some(Resource::Pet(pet)) => {
                        assert_eq!(pet.updated_at, Some(second(NOW)));
                        text.push(pet.status.to_string());
                    }
                    Some(Resource::Order(order)) => text.push(order.status.to_string()),
                    Some(Resource::Category(_) | Resource::Note(_)) | None => {}
                }
            }
            if decision.releases.is_some() {
                text.push("released".to_owned());
            }
            text.join(" ")
        }
        Err(Refusal::Invalid(_) | Refusal::Fields(_)) => "400".to_owned(),
        Err(
            Refusal::DuplicateValue { .. }
            | Refusal::DuplicateLabel(_)
            | Refusal::TooManyPhotos
            | Refusal::TooManyNotes,
        ) => "409".to_owned(),
        Err(Refusal::NotFound(_)) => "404".to_owned(),
        Err(Refusal::PreconditionRequired(_)) => "428".to_owned(),
        Err(Refusal::PreconditionFailed(_)) => "412".to_owned(),
        Err(Refusal::InvalidTransition(conflict)) => {
            let Conflict { message, current } = *conflict;
            let kind = match current {
                Resource::Pet(_) => "animal",
                Resource::Order(_) => "order",
                Resource::Category(_) => "category",
                Resource::Note(_) => "note",
            };
            assert!(
                message.ends_with('.') && message.contains(" is "),
                "{message}"
            );
            format!("transition, shows {kind}")
        }
        Err(Refusal::OpenOrder(conflict)) => {
            assert!(matches!(conflict.current, Resource::Pet(_)));
            "open order".to_owned()
        }
        Err(
            refusal @ (Refusal::NoIdentifierLeft
            | Refusal::TooLong
            | Refusal::NoteOfAnotherAuthor
            | Refusal::MovedOn(_)
            | Refusal::NotRevertible(_)),
        ) => format!("{refusal:?}"),
    }
}

pub(super) fn pet_id() -> PetId {
    PetId::new(7).unwrap()
}

fn place(terms: OrderTerms) -> Command {
    Command::PlaceOrder(NewOrder::new(pet_id(), terms))
}

fn patch(patch: PetPatch, preconditions: Preconditions) -> Command {
    Command::PatchPet {
        id: pet_id(),
        patch,
        preconditions,
    }
}

fn expect(command: &Command, expected: [&str; 7]) {
    for (animal, expected) in ANIMALS.into_iter().zip(expected) {
        assert_eq!(
            outcome(command, &present(animal)),
            expected,
            "{command:?} of {animal:?}"
        );
    }
}

const IT: &str = "transition, shows animal";

#[test]
fn an_available_animal_can_be_reserved() {
    let command = place(OrderTerms::ReservedUntil(second(NOW + 60)));
    expect(&command, ["reserved pending", IT, IT, IT, IT, IT, "404"]);
}

#[test]
fn an_animal_without_an_open_order_can_be_sold() {
    let sold = "completed sold";
    expect(
        &place(OrderTerms::Completed),
        [sold, sold, IT, IT, IT, IT, "404"],
    );
}

#[test]
fn a_reservation_ends_in_the_future_and_within_400_days() {
    let days = 24 * 3600;
    for (end, expected) in [
        (NOW, "400"),
        (NOW - 1, "400"),
        (NOW + 1, "reserved pending"),
        (NOW + 400 * days, "reserved pending"),
        (NOW + 400 * days + 1, "400"),
    ] {
        let command = place(OrderTerms::ReservedUntil(second(end)));
        assert_eq!(outcome(&command, &present(Available)), expected);
    }
    // Also if there is no such animal: the request is invalid in any case.
    let command = place(OrderTerms::ReservedUntil(second(NOW)));
    assert_eq!(outcome(&command, &present(Unknown)), "400");
}

#[test]
fn a_member_of_an_animal_can_change_in_any_state_except_withdrawn() {
    let command = patch(
        PetPatch {
            category_id: Some(2),
            ..PetPatch::default()
        },
        Preconditions::version(4),
    );
    expect(
        &command,
        ["available", "pending", "pending", "sold", "sold", IT, "404"],
    );
}

#[test]
fn the_status_can_change_while_no_order_is_open_and_releases_a_sale() {
    let to = |status| {
        patch(
            PetPatch {
                status: Some(status),
                ..PetPatch::default()
            },
            Preconditions::version(4),
        )
    };
    expect(
        &to(PetStatus::Available),
        [
            "same",
            "available",
            "open order",
            "available",
            "available released",
            IT,
            "404",
        ],
    );
    expect(
        &to(PetStatus::Pending),
        [
            "pending",
            "same",
            "same",
            "pending",
            "pending released",
            IT,
            "404",
        ],
    );
    expect(
        &to(PetStatus::Sold),
        ["sold", "sold", "open order", "same", "same", IT, "404"],
    );
}

#[test]
fn a_patch_needs_the_present_version() {
    let change = PetPatch {
        category_id: Some(2),
        ..PetPatch::default()
    };
    let of = |preconditions| outcome(&patch(change.clone(), preconditions), &present(Available));
    assert_eq!(of(Preconditions::default()), "428");
    assert_eq!(of(Preconditions::version(3)), "412");
    let any = Preconditions {
        if_match: Some(IfMatch::Any),
        if_absent: false,
    };
    assert_eq!(of(any), "available");
    // The version is compared before the state.
    let stale = patch(change.clone(), Preconditions::version(3));
    assert_eq!(outcome(&stale, &present(Withdrawn)), "412");
    assert_eq!(outcome(&stale, &present(Unknown)), "404");
}

#[test]
fn an_animal_without_an_open_order_can_be_withdrawn_and_restored() {
    let preconditions = Preconditions::version(4);
    let reason = WithdrawalReason::Died;
    let withdraw = Command::WithdrawPet {
        id: pet_id(),
        reason,
        note: None,
        preconditions: preconditions.clone(),
    };
    let w = "withdrawn";
    expect(&withdraw, [w, w, "open order", w, w, IT, "404"]);
    let restore = Command::RestorePet {
        id: pet_id(),
        preconditions,
    };
    expect(&restore, [IT, IT, IT, IT, IT, "available", "404"]);
}

#[test]
fn a_category_is_created_changed_and_deleted_with_preconditions() {
    let label = |text: &str| Label::new(text.to_owned()).unwrap();
    let there = PresentState {
        category: Some(Category {
            id: 1,
            label: label("Dogs"),
            version: 2,
        }),
        ..PresentState::default()
    };
    let nothing = PresentState::default();
    let put = |text, preconditions| Command::PutCategory {
        id: 1,
        label: label(text),
        preconditions,
    };
    let delete = |preconditions| Command::DeleteCategory {
        id: 1,
        preconditions,
    };
    let absent = Preconditions {
        if_match: None,
        if_absent: true,
    };
    let second = Preconditions::version(2);
    let both = Preconditions {
        if_absent: true,
        ..second.clone()
    };

    assert_eq!(outcome(&put("Cats", absent.clone()), &nothing), "");
    assert_eq!(outcome(&put("Cats", absent), &there), "412");
    assert_eq!(outcome(&put("Cats", second.clone()), &there), "");
    assert_eq!(outcome(&put("Dogs", second.clone()), &there), "same");
    assert_eq!(outcome(&put("Cats", second.clone()), &nothing), "412");
    assert_eq!(outcome(&put("Cats", both), &there), "412");
    assert_eq!(
        outcome(&put("Cats", Preconditions::version(1)), &there),
        "412"
    );
    assert_eq!(
        outcome(&put("Cats", Preconditions::default()), &nothing),
        "428"
    );
    assert_eq!(outcome(&delete(Preconditions::default()), &there), "428");
    assert_eq!(outcome(&delete(Preconditions::version(1)), &there), "412");
    assert_eq!(outcome(&delete(second.clone()), &nothing), "404");
    let deleted = decide(&delete(second), &there, self::second(NOW)).unwrap();
    assert_eq!(deleted.result, None);
    assert_eq!(deleted.changes[0].kind, ChangeType::CategoryDeleted);
}
