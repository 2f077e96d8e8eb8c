//! `getPet`: `GET /v1/pets/{petId}`, deprecated.

use hyper::StatusCode;
use petstore_app::Caller;
use petstore_domain::{PetId, Problem};
use petstore_web::edge::{ApiError, Response, etag, response};

use super::{Contract, deprecation, wire};
use crate::{context::Call, query};

/// Responds with one animal. Fails with 410 after the operation was removed.
pub(crate) async fn get_pet(
    contract: &Contract,
    Call {
        request,
        parameter,
        caller,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    // Count every call, even one that fails: the metric shows which clients still have to migrate.
    if let Some(caller) = caller {
        caller.note_deprecated_call();
    }
    // The clock was already read when the key was checked.
    let authenticated_at =
        caller.map_or_else(|| contract.app.clock.now(), Caller::authenticated_at);
    if deprecation::is_removed_at(authenticated_at) {
        return Err(ApiError::new(
            Problem::OperationRemoved,
            "Reading an animal by its id was removed on 5 December 2030. \
             List animals instead.",
        ));
    }
    query::reject_parameters(request.uri.query())?;
    let id = query::path_integer(parameter)
        .and_then(PetId::new)
        .ok_or_else(no_pet)?;
    let pet = contract.app.store.get_pet(id).await?.ok_or_else(no_pet)?;
    let body = contract
        .http
        .memory
        .hold(wire::render_pet(pet.as_pet_ref()))?;
    let etag = contract.http.etag_key.compute_etag(&body);
    let response = response::json(StatusCode::OK, body);
    Ok(etag::respond(&request.headers, response, etag))
}

/// Returns the 404 for an animal.
fn no_pet() -> ApiError {
    ApiError::new(Problem::NotFound, "No animal has this id.")
}
