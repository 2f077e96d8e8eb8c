//! `getPet`: `GET /v1/pets/{petId}`, deprecated.

use hyper::StatusCode;
use percent_encoding::percent_decode_str;

use super::{deprecation, wire};
use crate::{
    domain::PetId,
    http::{
        App, Response,
        access::auth::Caller,
        error::{ApiError, Problem},
        etag, query, response,
        routes::Call,
    },
    text,
};

/// The number of header fields in the response, including the deprecation.
const HEADER_FIELDS: usize = 12;

/// Responds with one animal, until the operation is removed.
pub(in crate::http) async fn get(
    app: &App,
    Call { request, parameter, caller, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    // Counted whatever the outcome, because every caller must migrate.
    if let Some(caller) = caller {
        caller.note_deprecated_call();
    }
    let authenticated_at = caller.map_or_else(|| app.clock.now(), Caller::authenticated_at);
    if deprecation::is_removed_at(authenticated_at) {
        return Err(ApiError::new(
            Problem::OperationRemoved,
            "Reading an animal by its id was removed on 5 December 2030. \
             List animals instead.",
        ));
    }
    let [] = query::parameters(request.uri.query(), [])?;
    let not_found = || ApiError::new(Problem::NotFound, "No animal has this id.");
    let id = pet_id(parameter).ok_or_else(not_found)?;
    let pet = app.store.get_pet(id).await?.ok_or_else(not_found)?;
    let body = app.edge.response_memory.hold(wire::pet(pet.borrowed()))?;
    let tag = app.tags.of(&body);
    let response = response::json_with_room(StatusCode::OK, body, HEADER_FIELDS);
    Ok(etag::respond(&request.headers, response, tag))
}

/// The id in the path; `None` if it is not a positive int64.
fn pet_id(parameter: &str) -> Option<PetId> {
    let text = percent_decode_str(parameter).decode_utf8().ok()?;
    text::integer(&text).and_then(PetId::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identifier_is_decoded() {
        let id = |parameter: &str| pet_id(parameter).map(PetId::get);
        assert_eq!(id("17"), Some(17));
        assert_eq!(id("%317"), Some(17));
        for none in ["x", "%FF", "", "0", "-1", "1.0", "9223372036854775808", "%00", "%2f1"] {
            assert_eq!(id(none), None, "{none}");
        }
    }
}
