//! `createPet`: `POST /v1/pets`.

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use petstore_app::{App, Caller};
use petstore_domain::{
    IdempotencyKey, NewPet, Pet, PetName, PetStatus, Problem, StoredResponse, WriteContext,
    idempotency::fingerprint as idempotency_fingerprint,
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

/// The maximum number of bytes by which the response is longer than the request body: for the id, for a
/// status that the request omits, and for a number in a shorter form. A rendered name is never longer than
/// in the request.
const MAX_GROWTH: usize = 128;

/// Adds an animal, and responds once it is durably stored. A retry with the same `Idempotency-Key` gets the
/// first response again.
pub(crate) async fn create_pet(
    contract: &Contract,
    Call {
        request,
        request_id,
        body,
        caller,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let idempotency_key = idempotency::parse_key(&request.headers)?;
    // Reserve memory for the response first: after the animal is added, it is too late to reject the request.
    let reserved_memory = contract
        .http
        .memory
        .reserve(body::max_length(&body) + MAX_GROWTH)?;
    let pet_json = body::read_json(
        &request.headers,
        body,
        Accepted::Json,
        contract.http.body_timeout,
    )
    .await?;
    let new_pet = parse_new_pet(&pet_json)?;
    let caller = caller.ok_or_else(auth::missing_key)?;
    let app = &contract.app;
    let context = make_context(app, caller, request_id, idempotency_key, &new_pet).await?;
    let _in_flight = app.requests.enter(&context)?;
    let outcome = app
        .store
        .create_pet(new_pet, context, render_response)
        .await?;
    let stored_response = match outcome {
        CreationOutcome::New(pet) => render_response(&pet),
        CreationOutcome::Replayed(stored_response) => stored_response,
        CreationOutcome::Conflict => return Err(idempotency_conflict()),
    };
    Ok(into_http_response(
        contract,
        stored_response,
        reserved_memory,
    ))
}

/// Returns the error for an idempotency key that was used for a different animal.
fn idempotency_conflict() -> ApiError {
    let message =
        "This Idempotency-Key was used for another animal. Choose a new one for each animal.";
    ApiError::new(Problem::IdempotencyConflict, message)
}

/// Returns the context of the change: who makes it, when, and with which idempotency key.
async fn make_context(
    app: &App,
    caller: &Caller,
    request_id: &HeaderValue,
    idempotency_key: Option<IdempotencyKey>,
    new_pet: &NewPet,
) -> Result<WriteContext, ApiError> {
    let idempotency = match idempotency_key {
        Some(key) => {
            let fingerprint = idempotency_fingerprint(new_pet);
            let request =
                app.requests
                    .describe_request(caller.key_id(), "createPet", key, fingerprint);
            Some(request.await?)
        }
        None => None,
    };
    Ok(WriteContext {
        actor: caller.actor(),
        now: app.clock.now(),
        // A request id is ASCII, so it is never left out.
        request_id: request_id.to_str().ok().map(str::to_owned),
        idempotency,
    })
}

/// Converts a stored response into an HTTP response. Adds the `Location` of the animal, which leads to
/// `getPet`, unless that operation has been removed.
fn into_http_response(
    contract: &Contract,
    stored_response: StoredResponse,
    reserved_memory: Reservation,
) -> Response {
    // The service made the status and the path, so both are valid.
    let status = StatusCode::from_u16(stored_response.status).unwrap_or(StatusCode::CREATED);
    let mut response = response::json(status, reserved_memory.fill(stored_response.body));
    if let Some(path) = stored_response.location
        && !deprecation::is_removed_at(contract.app.clock.now())
        && let Ok(location) = HeaderValue::try_from(format!("{}{path}", contract.http.base_path))
    {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Renders the response to a request that added an animal. The store keeps it if the request has an
/// `Idempotency-Key`.
fn render_response(pet: &Pet) -> StoredResponse {
    StoredResponse {
        status: StatusCode::CREATED.as_u16(),
        location: Some(format!("/pets/{}", pet.id.get())),
        etag: None,
        body: wire::render_pet(pet.as_pet_ref()),
    }
}

/// Parses a `NewPet` of the contract. Fails with 400 if a member is missing or invalid.
///
/// Ignores `id` and unknown members, as the contract requires.
fn parse_new_pet(body: &[u8]) -> Result<NewPet, ApiError> {
    let [name_json, category_id_json, status_json] =
        json::parse_named_members(body, ["name", "categoryId", "status"])?;
    let invalid = |message: &'static str| ApiError::new(Problem::InvalidBody, message);

    let name_json = name_json.ok_or_else(|| invalid("name is missing; it must be a string."))?;
    let name_text = json::as_string(name_json)
        .ok_or_else(|| invalid("name must be a string of Unicode text."))?;
    let name = PetName::new(name_text).ok_or_else(|| invalid("name must not contain U+0000."))?;

    let category_id_json =
        category_id_json.ok_or_else(|| invalid("categoryId is missing; it must be an integer."))?;
    let category_id = json::as_integer(category_id_json).ok_or_else(|| {
        invalid("categoryId must be an integer from -9223372036854775808 to 9223372036854775807.")
    })?;

    let status = match status_json {
        None => PetStatus::default(),
        Some(status_json) => json::as_string(status_json)
            .and_then(|status_text| status_text.parse().ok())
            .ok_or_else(|| invalid("status must be one of available, pending and sold."))?,
    };
    Ok(NewPet {
        name,
        category_id,
        status,
        is_listed: true,
    })
}
