//! Commands of the store area, for tests.

use jiff::Timestamp;
use petstore_domain::{
    NewPet, PetId, PetStatus, StoredResponse, WriteContext,
    store_area::{
        Change, Command, Decision, IfMatch, Label, NewOrder, Order, OrderId, OrderTerms, Patch,
        PetPatch, Preconditions, Reason, Refusal, Resource, StorePet, WithdrawalReason,
    },
};
use petstore_store::ExecutionOutcome;

use crate::stores::{AnyStore, act, at, create};

/// When the commands of the tests come: with more digits than a store keeps.
pub fn now() -> Timestamp {
    at(1_000_000) + jiff::SignedDuration::from_nanos(123_456_789)
}

/// The same as a store keeps it.
pub fn kept() -> Timestamp {
    Timestamp::from_millisecond(now().as_millisecond()).unwrap()
}

pub fn pet_id(id: i64) -> PetId {
    PetId::new(id).unwrap()
}

pub fn order_id(id: i64) -> OrderId {
    OrderId::new(id).unwrap()
}

/// A response that contains everything that was decided.
pub fn respond(decisions: &[Decision]) -> StoredResponse {
    StoredResponse {
        status: 200,
        location: Some("/store/here".to_owned()),
        etag: Some("\"7\"".to_owned()),
        body: format!("{decisions:?}").into_bytes(),
    }
}

pub async fn execute(store: &AnyStore, commands: Vec<Command>) -> ExecutionOutcome {
    let context = WriteContext {
        now: now(),
        ..act(0)
    };
    store.execute(commands, context, respond).await.unwrap()
}

/// Carries out a command, and returns what it changed.
pub async fn change(store: &AnyStore, command: Command) -> Vec<Change> {
    match execute(store, vec![command]).await {
        ExecutionOutcome::Done { changes, .. } => changes,
        other => panic!("{other:?}"),
    }
}

/// Carries out a command that is refused.
pub async fn refused(store: &AnyStore, command: Command) -> Refusal {
    match execute(store, vec![command]).await {
        ExecutionOutcome::Refused { index: 0, refusal } => refusal,
        other => panic!("{other:?}"),
    }
}

pub async fn add(store: &AnyStore, new: NewPet) -> PetId {
    create(store, new).await.id
}

pub async fn pet(store: &AnyStore, id: PetId) -> StorePet {
    store.get_store_pet(id).await.unwrap().unwrap()
}

pub async fn order(store: &AnyStore, id: OrderId) -> Order {
    store.get_order(id).await.unwrap().unwrap()
}

/// Places an order, and returns its identifier.
pub async fn place(store: &AnyStore, order: NewOrder) -> OrderId {
    match change(store, Command::PlaceOrder(order))
        .await
        .swap_remove(0)
        .after
    {
        Some(Resource::Order(order)) => order.id,
        other => panic!("{other:?}"),
    }
}

/// Any version.
pub fn any() -> Preconditions {
    Preconditions {
        if_match: Some(IfMatch::Any),
        if_absent: false,
    }
}

pub fn patch(id: PetId, patch: PetPatch) -> Command {
    Command::PatchPet {
        id,
        patch,
        preconditions: any(),
    }
}

pub fn to_status(id: PetId, status: PetStatus) -> Command {
    patch(
        id,
        PetPatch {
            status: Some(status),
            ..PetPatch::default()
        },
    )
}

pub fn withdraw(id: PetId) -> Command {
    let reason = WithdrawalReason::Transferred;
    Command::WithdrawPet {
        id,
        reason,
        note: None,
        preconditions: any(),
    }
}

pub fn restore(id: PetId) -> Command {
    Command::RestorePet {
        id,
        preconditions: any(),
    }
}

/// A reservation for an hour.
pub fn reserve(pet_id: PetId) -> NewOrder {
    let terms = OrderTerms::ReservedUntil(kept() + jiff::SignedDuration::from_hours(1));
    NewOrder::new(pet_id, terms)
}

pub fn sell(pet_id: PetId) -> NewOrder {
    NewOrder {
        terms: OrderTerms::Completed,
        ..reserve(pet_id)
    }
}

pub fn complete(id: OrderId) -> Command {
    Command::CompleteOrder {
        id,
        price: Patch::Keep,
        preconditions: Preconditions::default(),
    }
}

pub fn cancel(id: OrderId) -> Command {
    let reason = Reason::new("too far".to_owned());
    Command::CancelOrder {
        id,
        reason,
        preconditions: Preconditions::default(),
    }
}

pub fn give_back(id: OrderId) -> Command {
    Command::ReturnOrder {
        id,
        reason: None,
        preconditions: Preconditions::default(),
    }
}

/// By default, for two hours.
pub fn reopen(id: OrderId) -> Command {
    let default_end = kept() + jiff::SignedDuration::from_hours(2);
    let preconditions = Preconditions::default();
    Command::ReopenOrder {
        id,
        expires_at: None,
        default_end,
        preconditions,
    }
}

pub fn label(text: &str) -> Label {
    Label::new(text.to_owned()).unwrap()
}
