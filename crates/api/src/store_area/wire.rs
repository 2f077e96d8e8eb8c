//! The responses with animals, orders, categories and the inventory.

use std::sync::Arc;

use hyper::{StatusCode, header::HeaderValue, http::request::Parts};
use petstore_domain::{
    StoredResponse,
    store_area::{Decision, Inventory, PhotoId, Resource, StorePet},
};
use petstore_formats::json::{self, Object, write_resource};
use petstore_web::edge::{ApiError, Response, response};

use super::shared::StoreArea;
use crate::etag;

/// The approximate length of an animal or an order without its texts, in bytes.
pub(super) const USUAL_LENGTH: usize = 256;

/// The JSON that is written, in a buffer of the usual length.
pub(super) fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH);
    write(&mut out);
    out
}

/// A response to a change, with the tag of this version.
pub(super) fn stored(status: StatusCode, version: Option<i64>, body: Vec<u8>) -> StoredResponse {
    let (status, etag) = (status.as_u16(), version.map(tag));
    StoredResponse {
        status,
        location: None,
        etag,
        body,
    }
}

/// The response to a change after which there is nothing to show.
pub(super) fn nothing() -> StoredResponse {
    stored(StatusCode::NO_CONTENT, None, Vec::new())
}

pub(super) fn inventory(inventory: &Inventory) -> Vec<u8> {
    written(|out| {
        let mut object = Object::begin(out);
        object.integer("available", inventory.available);
        object.integer("pending", inventory.pending);
        object.integer("sold", inventory.sold);
        object.integer("withdrawn", inventory.withdrawn);
        object.time("countedAt", inventory.counted_at);
        object.end();
    })
}

/// An animal, an order or a category.
pub(super) fn resource(resource: &Resource) -> Vec<u8> {
    written(|out| write_resource(out, resource))
}

/// The same for callers with permission to change it: with the contact of an order.
pub(super) fn current(resource: &Resource) -> Vec<u8> {
    let Resource::Order(order) = resource else {
        return self::resource(resource);
    };
    written(|out| json::write_order_with_contact(out, order))
}

fn tag(version: i64) -> String {
    format!("\"{version}\"")
}

/// The response to one command: what it is about, as it is now. Nothing if it was deleted.
pub(super) fn one(decisions: &[Decision]) -> StoredResponse {
    let result = decisions
        .first()
        .and_then(|decision| decision.result.as_ref());
    result.map_or_else(nothing, |result| {
        stored(StatusCode::OK, Some(result.version()), resource(result))
    })
}

/// The response to a command that may have made what it is about.
pub(super) fn created(decisions: &[Decision]) -> StoredResponse {
    let mut response = one(decisions);
    let change = decisions
        .first()
        .and_then(|decision| decision.changes.first());
    let Some(change) = change.filter(|change| change.before.is_none()) else {
        return response;
    };
    response.status = StatusCode::CREATED.as_u16();
    response.location = match &change.after {
        Some(Resource::Order(order)) => Some(format!("/store/orders/{}", order.id)),
        Some(Resource::Pet(pet)) => Some(format!("/store/pets/{}", pet.id)),
        Some(Resource::Category(_)) | None => None,
    };
    response
}

/// The response to a command about a photo: the photo, with the tag of its animal. Nothing but the tag
/// if it was deleted.
pub(super) fn photo(decisions: &[Decision]) -> StoredResponse {
    let decision = decisions.first();
    let Some((Resource::Pet(pet), photo)) =
        decision.and_then(|decision| Some((decision.result.as_ref()?, decision.photo)))
    else {
        return nothing();
    };
    let body = photo.and_then(|id| photo_of(pet, id));
    let status = if body.is_some() {
        StatusCode::OK
    } else {
        StatusCode::NO_CONTENT
    };
    stored(status, Some(pet.version), body.unwrap_or_default())
}

/// The same for a photo that was added.
pub(super) fn added_photo(decisions: &[Decision]) -> StoredResponse {
    let mut response = photo(decisions);
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

/// A photo of an animal; `None` if the animal does not have it.
pub(super) fn photo_of(pet: &StorePet, id: PhotoId) -> Option<Vec<u8>> {
    let at = pet.photos.position(id)?;
    let mut out = Vec::with_capacity(2 * USUAL_LENGTH);
    json::write_photo(&mut out, pet.id, at, pet.photos.all().get(at)?);
    Some(out)
}

/// The response to several commands: what each is about, as it was after that command.
pub(super) fn all(decisions: &[Decision]) -> StoredResponse {
    let mut body = Vec::with_capacity(decisions.len() * USUAL_LENGTH);
    for result in decisions
        .iter()
        .filter_map(|decision| decision.result.as_ref())
    {
        body.push(if body.is_empty() { b'[' } else { b',' });
        write_resource(&mut body, result);
    }
    body.push(b']');
    stored(StatusCode::OK, None, body)
}

/// The response to a read by id, or a 304 if the client has this version.
pub(super) fn respond(
    area: &StoreArea,
    request: &Parts,
    resource: &Resource,
) -> Result<Response, ApiError> {
    respond_with(area, request, self::resource(resource), resource.version())
}

/// The same with the JSON of something that has this version.
pub(super) fn respond_with(
    area: &StoreArea,
    request: &Parts,
    body: Vec<u8>,
    version: i64,
) -> Result<Response, ApiError> {
    let body = area.http.memory.hold(body)?;
    let tag =
        HeaderValue::try_from(tag(version)).map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(etag::respond(
        &request.headers,
        response::json(StatusCode::OK, body),
        tag,
    ))
}
