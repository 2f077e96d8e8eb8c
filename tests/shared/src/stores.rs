//! What the tests of stores share.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::{
    Actor, ApiKey, Deployment, NewKey, NewPet, Pet, PetName,
    PetStatus::{self},
    Scope, StoredResponse, WriteContext,
};
use petstore_store::{CreationOutcome, Store};
use rand::{SeedableRng, rngs::StdRng};

pub type AnyStore = Arc<dyn Store>;

/// Adds an animal without an idempotency key.
pub async fn create(store: &AnyStore, new: NewPet) -> Pet {
    match store.create_pet(new, act(0), respond).await.unwrap() {
        CreationOutcome::New(pet) => pet,
        other => panic!("{other:?}"),
    }
}

pub fn new_pet(name: &str, category_id: i64, status: PetStatus) -> NewPet {
    NewPet {
        name: PetName::new(name.to_owned()).unwrap(),
        category_id,
        status,
        is_listed: true,
    }
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// An act of an operator at this time.
pub fn act(second: i64) -> WriteContext {
    WriteContext::new(Actor::Command, at(second))
}

pub fn new_key(seed: u64, expires_at: Option<i64>) -> NewKey {
    let key = ApiKey::generate(Deployment::Staging, &mut StdRng::seed_from_u64(seed));
    NewKey {
        digest: key.digest(),
        name: format!("key \"{seed}\""),
        scope: Scope::Read,
        deployment: Deployment::Staging,
        expires_at: expires_at.map(at),
        rate_limit: Some("60/min".parse().unwrap()),
    }
}

/// The response that the contract has for this animal.
pub fn respond(pet: &Pet) -> StoredResponse {
    let Pet {
        id,
        name,
        category_id,
        status,
    } = pet;
    let (id, name) = (id.get(), serde_json::to_string(name.as_str()).unwrap());
    StoredResponse {
        status: 201,
        location: Some(format!("/pets/{id}")),
        etag: None,
        body: format!(
            r#"{{"id":{id},"name":{name},"categoryId":{category_id},"status":"{status}"}}"#
        )
        .into_bytes(),
    }
}
