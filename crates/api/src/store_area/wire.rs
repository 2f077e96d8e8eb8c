//! Renders the responses of the store area.

use std::sync::Arc;

use hyper::{StatusCode, header::HeaderValue, http::request::Parts};
use petstore_domain::{
    StoredResponse,
    store_area::{Decision, Inventory, PhotoId, Resource, StorePet},
};
use petstore_formats::json::{self, Object, write_resource};
use petstore_web::edge::{ApiError, Response, etag, response};

use super::shared::StoreArea;

/// The approximate length of an animal or an order as JSON without its texts, in bytes, for sizing buffers.
pub(super) const USUAL_LENGTH: usize = 256;

/// Returns the JSON that `write` appends to a new buffer, which has capacity for [`USUAL_LENGTH`].
pub(super) fn render(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH);
    write(&mut out);
    out
}

/// Returns the response to a change, with the ETag of this version.
pub(super) fn stored_response(
    status: StatusCode,
    version: Option<i64>,
    body: Vec<u8>,
) -> StoredResponse {
    StoredResponse {
        status: status.as_u16(),
        location: None,
        etag: version.map(etag_of_version),
        body,
    }
}

/// Returns the response 204 to a change after which there is no resource to show.
pub(super) fn no_content() -> StoredResponse {
    stored_response(StatusCode::NO_CONTENT, None, Vec::new())
}

/// Renders the numbers of animals as JSON.
pub(super) fn inventory_json(inventory: &Inventory) -> Vec<u8> {
    render(|out| {
        let mut object = Object::begin(out);
        object.integer("available", inventory.available);
        object.integer("pending", inventory.pending);
        object.integer("sold", inventory.sold);
        object.integer("withdrawn", inventory.withdrawn);
        object.time("countedAt", inventory.counted_at);
        object.end();
    })
}

/// Renders a resource as JSON, without the contact of an order and the text of a note.
pub(super) fn resource_json(resource: &Resource) -> Vec<u8> {
    render(|out| write_resource(out, resource))
}

/// Renders a resource as JSON, with the contact of an order and the text of a note. The caller must have
/// permission to change the resource.
pub(super) fn full_resource_json(resource: &Resource) -> Vec<u8> {
    match resource {
        Resource::Order(order) => render(|out| json::write_order_with_contact(out, order)),
        Resource::Note(note) => render(|out| json::write_note(out, note)),
        Resource::Pet(_) | Resource::Category(_) => resource_json(resource),
    }
}

/// Returns the ETag of a version, such as `"7"`.
fn etag_of_version(version: i64) -> String {
    format!("\"{version}\"")
}

/// Renders the response to a single command: the state of its resource after the command, or 204 if the
/// resource was deleted.
pub(super) fn first_result(decisions: &[Decision]) -> StoredResponse {
    let result = decisions
        .first()
        .and_then(|decision| decision.result.as_ref());
    match result {
        Some(resource) => {
            let body = resource_json(resource);
            stored_response(StatusCode::OK, Some(resource.version()), body)
        }
        None => no_content(),
    }
}

/// Renders the response to a single command that may create its resource, like [`first_result`]. If
/// the resource was created, the status is 201. The response then also has a `Location`, except for
/// a category: the client itself chose its path.
pub(super) fn created_result(decisions: &[Decision]) -> StoredResponse {
    let mut response = first_result(decisions);
    let change = decisions
        .first()
        .and_then(|decision| decision.changes.first());
    let Some(change) = change else {
        return response;
    };
    if change.before.is_some() {
        return response;
    }
    response.status = StatusCode::CREATED.as_u16();
    response.location = match &change.after {
        Some(Resource::Order(order)) => Some(format!("/store/orders/{}", order.id)),
        Some(Resource::Pet(pet)) => Some(format!("/store/pets/{}", pet.id)),
        Some(Resource::Note(note)) => {
            Some(format!("/store/pets/{}/notes/{}", note.pet_id, note.id))
        }
        Some(Resource::Category(_)) | None => None,
    };
    response
}

/// Renders the response to a command on a photo: the photo, with the ETag of its animal. If the photo was
/// deleted, the response is 204 with the ETag only.
pub(super) fn photo_result(decisions: &[Decision]) -> StoredResponse {
    let Some(Decision {
        result: Some(Resource::Pet(pet)),
        photo,
        ..
    }) = decisions.first()
    else {
        // Never happens: a command on a photo has its animal as the result.
        return no_content();
    };
    match photo.and_then(|id| photo_json(pet, id)) {
        Some(body) => stored_response(StatusCode::OK, Some(pet.version), body),
        None => stored_response(StatusCode::NO_CONTENT, Some(pet.version), Vec::new()),
    }
}

/// Renders the response to a command that added a photo: like [`photo_result`], but with 201 and a `Location`.
pub(super) fn added_photo_result(decisions: &[Decision]) -> StoredResponse {
    let mut response = photo_result(decisions);
    response.status = StatusCode::CREATED.as_u16();
    if let Some(Decision {
        result: Some(Resource::Pet(pet)),
        photo: Some(photo),
        ..
    }) = decisions.first()
    {
        response.location = Some(format!("/store/pets/{}/photos/{photo}", pet.id));
    }
    response
}

/// Renders a photo of an animal as JSON. Returns `None` if the animal has no photo with this id.
pub(super) fn photo_json(pet: &StorePet, id: PhotoId) -> Option<Vec<u8>> {
    let position = pet.photos.position(id)?;
    let photo = pet.photos.all().get(position)?;
    let mut out = Vec::with_capacity(2 * USUAL_LENGTH);
    json::write_photo(&mut out, pet.id, position, photo);
    Some(out)
}

/// Renders the response to several commands: an array with the state of each resource after its command.
pub(super) fn all_results(decisions: &[Decision]) -> StoredResponse {
    let mut body = Vec::with_capacity(decisions.len() * USUAL_LENGTH);
    body.push(b'[');
    for decision in decisions {
        if let Some(result) = &decision.result {
            if body.len() > 1 {
                body.push(b',');
            }
            write_resource(&mut body, result);
        }
    }
    body.push(b']');
    stored_response(StatusCode::OK, None, body)
}

/// Responds to a read by id with a resource, or with 304 if the client already has this version.
pub(super) fn respond(
    area: &StoreArea,
    request: &Parts,
    resource: &Resource,
) -> Result<Response, ApiError> {
    respond_with_body(area, request, resource_json(resource), resource.version())
}

/// Responds like [`respond`] with a resource that is already rendered as `body`.
pub(super) fn respond_with_body(
    area: &StoreArea,
    request: &Parts,
    body: Vec<u8>,
    version: i64,
) -> Result<Response, ApiError> {
    let body = area.http.memory.hold(body)?;
    let etag = HeaderValue::try_from(etag_of_version(version))
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    let response = response::json(StatusCode::OK, body);
    Ok(etag::respond(&request.headers, response, etag))
}
