//! The changes that the script makes, and what is there after them.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::{
    self as domain, Actor, IdempotencyKey, IdempotentRequest, KeyId, Limit, NewPet, PetId, PetName,
    PetStatus, StoredResponse, WriteContext, store_area as area,
    store_area::{
        Command, Decision, IfMatch, NewOrder, OrderId, OrderQuery, OrderTerms, Patch, PetPatch,
        PetQuery, Preconditions, Resource, StorePet, WithdrawalReason,
    },
};
use petstore_store::{CreationOutcome, ExecutionOutcome, Store, StoreError};
use petstore_testing::ledger::{Order, Pet, There};
use serde::{Deserialize, Serialize};

pub(crate) type AnyStore = Arc<dyn Store>;

/// Every fourth name is so long that it needs its own pages.
pub(crate) fn name(number: usize) -> String {
    format!(
        "{number}{}",
        "-".repeat(if number % 4 == 3 { 9_000 } else { 20 })
    )
}

pub(crate) fn pet(name: &str) -> NewPet {
    let name = PetName::new(name.to_owned()).unwrap();
    NewPet {
        name,
        category_id: 1,
        status: PetStatus::Available,
        is_listed: true,
    }
}

/// What the script does with an animal, or with its newest order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    Reserve,
    Sell,
    Complete,
    Cancel,
    Return,
    Reopen,
    Rename,
    Withdraw,
    Restore,
}

impl Act {
    /// `None` without the order that it needs.
    pub(crate) fn command(
        self,
        pet: &Pet,
        order: Option<OrderId>,
        number: usize,
    ) -> Option<Command> {
        let id = PetId::new(pet.id).unwrap();
        let preconditions = Preconditions {
            if_match: Some(IfMatch::Any),
            if_absent: false,
        };
        let place = |terms| NewOrder::new(id, terms);
        let until = "2027-01-01T00:00:00Z".parse().unwrap();
        Some(match self {
            Self::Reserve => Command::PlaceOrder(place(OrderTerms::ReservedUntil(until))),
            Self::Sell => Command::PlaceOrder(place(OrderTerms::Completed)),
            Self::Complete => Command::CompleteOrder {
                id: order?,
                price: Patch::Keep,
                preconditions,
            },
            Self::Cancel => Command::CancelOrder {
                id: order?,
                reason: None,
                preconditions,
            },
            Self::Return => Command::ReturnOrder {
                id: order?,
                reason: None,
                preconditions,
            },
            Self::Reopen => Command::ReopenOrder {
                id: order?,
                expires_at: None,
                default_end: until,
                preconditions,
            },
            Self::Rename => {
                let name = PetName::new(name(number));
                Command::PatchPet {
                    id,
                    patch: PetPatch {
                        name,
                        ..PetPatch::default()
                    },
                    preconditions,
                }
            }
            Self::Withdraw => {
                let reason = WithdrawalReason::Other;
                Command::WithdrawPet {
                    id,
                    reason,
                    note: None,
                    preconditions,
                }
            }
            Self::Restore => Command::RestorePet { id, preconditions },
        })
    }
}

/// A change with its number, which is its idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) number: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// Adds an animal with this name.
    Create(String),
    /// Changes this animal or one of its orders.
    Command(i64, Command),
}

impl Change {
    /// Returns the response, and whether it is an earlier one; `None` if the change is refused.
    pub(crate) async fn carry_out(
        &self,
        store: &AnyStore,
    ) -> Result<Option<(Vec<u8>, bool)>, StoreError> {
        let request = IdempotentRequest {
            caller: KeyId(1).into(),
            lineage: KeyId(1).into(),
            operation: "change",
            key: IdempotencyKey::new(self.number.to_string()).unwrap(),
            fingerprint: [0; 32],
        };
        let context = WriteContext {
            idempotency: Some(request),
            ..act()
        };
        match &self.what {
            What::Create(name) => {
                match store
                    .create_pet(pet(name), context, respond_to_create)
                    .await?
                {
                    CreationOutcome::New(pet) => Ok(Some((respond_to_create(&pet).body, false))),
                    CreationOutcome::Replayed(response) => Ok(Some((response.body, true))),
                    CreationOutcome::Conflict => panic!("it was the same animal"),
                }
            }
            What::Command(_, command) => {
                match store
                    .execute(vec![command.clone()], context, respond)
                    .await?
                {
                    ExecutionOutcome::Done { response, .. } => Ok(Some((response.body, false))),
                    ExecutionOutcome::Replayed(response) => Ok(Some((response.body, true))),
                    ExecutionOutcome::Refused { .. } => Ok(None),
                    ExecutionOutcome::IdempotencyConflict => panic!("it was the same command"),
                }
            }
        }
    }

    pub(crate) fn is_about(&self, pet: &Pet) -> bool {
        match &self.what {
            What::Create(name) => pet.text.starts_with(name),
            What::Command(id, _) => *id == pet.id,
        }
    }
}

/// How many of these changes are about an animal.
pub(crate) fn about(changes: &[Change], pet: &Pet) -> i64 {
    changes
        .iter()
        .filter(|change| change.is_about(pet))
        .count()
        .try_into()
        .unwrap()
}

pub(crate) fn act() -> WriteContext {
    WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH)
}

/// What the responses of these tests show.
#[derive(Serialize, Deserialize)]
pub(crate) enum Shown {
    Pet(Pet),
    Order(Order),
}

pub(crate) fn respond_to_create(pet: &domain::Pet) -> StoredResponse {
    let text = format!("{}, {}", pet.name.as_str(), pet.status.as_str());
    let pet = Pet {
        id: pet.id.get(),
        version: 1,
        order: None,
        text,
    };
    stored(&Shown::Pet(pet))
}

fn respond(decisions: &[Decision]) -> StoredResponse {
    stored(&match decisions[0].result.as_ref().unwrap() {
        Resource::Pet(pet) => Shown::Pet(shown_pet(pet)),
        Resource::Order(order) => Shown::Order(shown_order(order)),
        Resource::Category(_) | Resource::Note(_) => unreachable!("the script has none"),
    })
}

fn stored(shown: &Shown) -> StoredResponse {
    let body = serde_json::to_vec(shown).unwrap();
    StoredResponse {
        status: 201,
        location: None,
        etag: None,
        body,
    }
}

fn shown_pet(pet: &StorePet) -> Pet {
    let text = format!("{}, {}", pet.name.as_str(), pet.status.as_str());
    let order = pet.order_id.map(OrderId::get);
    Pet {
        id: pet.id.get(),
        version: pet.version,
        order,
        text,
    }
}

fn shown_order(order: &area::Order) -> Order {
    Order {
        id: order.id.get(),
        version: order.version,
        pet: order.pet_id.get(),
        status: order.status.as_str().to_owned(),
        text: format!("{order:?}"),
    }
}

/// Everything in the store, read page by page.
pub(crate) async fn there(store: &AnyStore) -> Result<There, StoreError> {
    let mut there = There::default();
    let limit = Limit::new(10).unwrap();
    for withdrawn in [false, true] {
        let mut query = PetQuery {
            is_withdrawn: withdrawn,
            limit,
            ..PetQuery::default()
        };
        loop {
            let (pets, next) = store.list_store_pets(&query).await?;
            there
                .pets
                .extend(pets.iter().map(|pet| (pet.id.get(), shown_pet(pet))));
            let Some(next) = next else { break };
            assert!(
                query.after.is_none_or(|after| after < next),
                "the walk does not advance"
            );
            query.after = Some(next);
        }
    }
    let mut query = OrderQuery {
        limit,
        ..OrderQuery::default()
    };
    loop {
        let (orders, next) = store.list_orders(&query).await?;
        there.orders.extend(
            orders
                .iter()
                .map(|order| (order.id.get(), shown_order(order))),
        );
        if next.is_none() {
            break;
        }
        assert!(query.after < next, "the walk does not advance");
        query.after = next;
    }
    Ok(there)
}
