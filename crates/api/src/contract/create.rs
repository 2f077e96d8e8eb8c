//! `createPet`: `POST /v1/pets`.

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use petstore_domain::{
    NewPet, Pet, PetName, PetStatus, Problem, StoredResponse, WriteContext,
    idempotency::fingerprint,
};
use petstore_formats::json;
use petstore_store::CreationOutcome;
use petstore_web::edge::{
    ApiError, Reservation, Response,
    body::{self, Accepted},
    response,
};

use super::{Contract, deprecation, wire};
use crate::{access::auth, context::Call, idempotency, query};

/// The number of bytes by which the response can be longer than the body: for the id, an omitted status, and
/// a number in a shorter spelling. A rendered name is never longer than the shortest JSON for it.
const MAX_GROWTH: usize = 128;

/// Adds an animal, and responds when it is on disk. A retry with the same `Idempotency-Key` gets
/// the first response again.
pub(crate) async fn create(
    contract: &Contract,
    Call {
        request,
        request_id,
        body,
        caller,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let app = &contract.app;
    let [] = query::parameters(request.uri.query(), [])?;
    let key = idempotency::key(&request.headers)?;
    // Reserved now, because a create cannot be rejected after the animal is added.
    let room = contract
        .http
        .memory
        .reserve(body::max_length(&body) + MAX_GROWTH)?;
    let text = body::read(
        &request.headers,
        body,
        Accepted::Json,
        contract.http.body_timeout,
    )
    .await?;
    let new = parse(&text)?;
    let caller = caller.ok_or_else(auth::missing_key)?;
    let idempotency = match key {
        Some(key) => {
            let fingerprint = fingerprint(&new);
            let request = app
                .requests
                .of_key(caller.key_id(), "createPet", key, fingerprint);
            Some(request.await?)
        }
        None => None,
    };
    let context = WriteContext {
        actor: caller.actor(),
        now: app.clock.now(),
        request_id: request_id.to_str().ok().map(str::to_owned),
        idempotency,
    };
    let _entered = app.requests.enter(&context)?;
    let stored = match app.store.create_pet(new, context, respond).await? {
        CreationOutcome::New(pet) => respond(&pet),
        CreationOutcome::Replayed(stored) => stored,
        CreationOutcome::Conflict => {
            return Err(ApiError::new(
                Problem::IdempotencyConflict,
                "This Idempotency-Key was used for another animal. Choose a new one for each animal.",
            ));
        }
    };
    Ok(send(contract, stored, room))
}

/// Sends a response as the store has it, with the address of the animal while it can be read by its id.
fn send(contract: &Contract, stored: StoredResponse, room: Reservation) -> Response {
    let status = StatusCode::from_u16(stored.status).unwrap_or(StatusCode::CREATED);
    let mut response = response::json(status, room.fill(stored.body));
    if let Some(path) = stored.location
        && !deprecation::is_removed_at(contract.app.clock.now())
        && let Ok(location) = HeaderValue::try_from(format!("{}{path}", contract.http.base_path))
    {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Returns the response to the request that added an animal.
fn respond(pet: &Pet) -> StoredResponse {
    StoredResponse {
        status: StatusCode::CREATED.as_u16(),
        location: Some(format!("/pets/{}", pet.id.get())),
        etag: None,
        body: wire::pet(pet.as_pet_ref()),
    }
}

/// Parses a `NewPet` of the contract. Unknown members and `id` are ignored.
fn parse(text: &[u8]) -> Result<NewPet, ApiError> {
    let [name, category_id, status] = json::object_members(text, ["name", "categoryId", "status"])?;
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidBody, message);

    let name = name.ok_or_else(|| invalid("name is missing; it must be a string."))?;
    let name =
        json::string(name).ok_or_else(|| invalid("name must be a string of Unicode text."))?;
    let name = PetName::new(name).ok_or_else(|| invalid("name must not contain U+0000."))?;

    let category_id =
        category_id.ok_or_else(|| invalid("categoryId is missing; it must be an integer."))?;
    let category_id = json::integer(category_id).ok_or_else(|| {
        invalid("categoryId must be an integer from -9223372036854775808 to 9223372036854775807.")
    })?;

    let status = match status {
        None => PetStatus::default(),
        Some(status) => json::string(status)
            .and_then(|status| status.parse().ok())
            .ok_or_else(|| invalid("status must be one of available, pending and sold."))?,
    };
    Ok(NewPet {
        name,
        category_id,
        status,
        is_listed: true,
    })
}
