//! The operations on photos.

use std::time::Duration;

use petstore_domain::{
    PetId, Problem,
    store_area::{
        AltText, Command, PHOTO_ORDER_RULE, PhotoId, PhotoPatch, Photos, PictureProblem,
        check_room_for_photo,
    },
};
use petstore_formats::json;
use petstore_photos::{Format, PhotoError};
use petstore_web::edge::{
    ApiError, Response,
    body::{Accepted, Pictures},
};
use serde_json::value::RawValue;

use super::{
    members::{Body, invalid},
    preconditions, refusals,
    shared::StoreArea,
    subjects, wire,
    write::Write,
};
use crate::{context::Call, idempotency, query};

/// The additional time that a request with a picture may take, because the picture arrives over a slow
/// connection, waits for its turn, and is decoded.
pub(crate) const MAX_UPLOAD: Duration = Duration::from_mins(3);

/// Adds a photo after the others: `POST /v1/store/pets/{petId}/photos`.
pub(crate) async fn add_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let [alt] = query::parameters(call.request.uri.query(), ["alt"])?;
    query::check_utf8(call.request.uri.query())?;
    let alt = query::parse_parameter(
        "alt",
        alt.as_ref(),
        |text| AltText::new(text.to_owned()),
        &AltText::rule(),
    )?;
    let id = subjects::pet_id_in_path(call.parameter)?;
    if area.app.photos.storage().is_none() {
        return Err(PhotoError::Off.into());
    }
    // Skip the check if the request has an idempotency key. It may be a retry, which gets the remembered
    // response whatever the present state is.
    if idempotency::parse_key(&call.request.headers)?.is_none() {
        check_room(area, id).await?;
    }
    let accepted = Pictures {
        formats: &Format::ALL,
        max: area.app.photos.max_size(),
    };
    let write = Write::read_picture(area, call, &accepted).await?;
    // Detect the format from the bytes, because many clients send a wrong media type.
    let format = Format::detect(&write.body).ok_or_else(|| {
        area.app.photos.metrics.invalid.count();
        PhotoError::Invalid(PictureProblem::NoPicture)
    })?;
    let stored = area.app.photos.add(write.body.clone(), format).await?;
    let photo = stored.into_photo(alt);
    let command = Command::AddPhoto { id, photo };
    write.execute(area, command, wire::added_photo_result).await
}

/// Checks that the animal can get another photo. This is done before the picture is read, to avoid a useless
/// upload.
async fn check_room(area: &StoreArea, id: PetId) -> Result<(), ApiError> {
    let pet = subjects::find_pet(area, id).await?;
    if let Err(refusal) = check_room_for_photo(&pet) {
        let reserved_memory = area.http.memory.reserve(pet.length())?;
        // The request is not a batch.
        let failed_index = None;
        return Err(refusals::refusal_error(
            refusal,
            failed_index,
            reserved_memory,
        ));
    }
    Ok(())
}

/// Reads a photo: `GET /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn get_photo(
    area: &StoreArea,
    Call {
        request,
        parameter,
        second_parameter,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let (id, photo) = ids_in_path(parameter, second_parameter)?;
    let pet = subjects::find_pet(area, id).await?;
    let body = wire::photo_json(&pet, photo).ok_or_else(no_photo)?;
    wire::respond_with_body(area, request, body, pet.version)
}

/// Changes a photo: `PATCH /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn patch_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(PhotoPatch::NAMES)?.read()?;
    let (id, photo) = ids_in_path(write.parameter, write.second_parameter)?;
    let command = Command::PatchPhoto {
        id,
        photo,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::photo_result).await
}

/// Reorders the photos of an animal: `POST /v1/store/pets/{petId}/photos/order`.
pub(crate) async fn order_photos(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let elements = json::parse_elements(&write.body)?;
    let order = parse_order(elements).ok_or_else(|| invalid(PHOTO_ORDER_RULE))?;
    let command = Command::RearrangePhotos {
        id: write.pet_id()?,
        order,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Parses the ids of photos in their new order. Returns `None` if there are too many, or if one is invalid
/// or repeated.
fn parse_order(elements: Vec<&RawValue>) -> Option<Vec<PhotoId>> {
    if elements.len() > Photos::MAX {
        return None;
    }
    let mut order = Vec::with_capacity(elements.len());
    for element in elements {
        let text: String = serde_json::from_str(element.get()).ok()?;
        let photo = PhotoId::parse(&text)?;
        if order.contains(&photo) {
            return None;
        }
        order.push(photo);
    }
    Some(order)
}

/// Deletes a photo: `DELETE /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn delete_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let (id, photo) = ids_in_path(write.parameter, write.second_parameter)?;
    let command = Command::DeletePhoto {
        id,
        photo,
        preconditions,
    };
    write.execute(area, command, wire::photo_result).await
}

/// Parses the ids of an animal and its photo from the path. Fails with 404 if one cannot exist.
fn ids_in_path(pet: &str, photo: &str) -> Result<(PetId, PhotoId), ApiError> {
    let pet_id = subjects::pet_id_in_path(pet)?;
    let photo_id = PhotoId::parse(photo).ok_or_else(no_photo)?;
    Ok((pet_id, photo_id))
}

/// Returns the 404 for a photo.
fn no_photo() -> ApiError {
    ApiError::new(Problem::NotFound, "The animal has no photo with this id.")
}
