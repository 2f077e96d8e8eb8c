//! The operations on photos.

use std::{collections::HashSet, time::Duration};

use petstore_domain::{
    PetId, Problem,
    store_area::{
        AltText, Command, PHOTO_ORDER_RULE, PhotoId, PhotoPatch, Photos, PictureProblem, Refusal,
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
    wire,
    write::{self, Write},
};
use crate::{context::Call, idempotency, query};

/// How much longer than another request one with a picture may take: to arrive over a slow line, to
/// wait, and to be decoded.
pub(crate) const MAX_UPLOAD: Duration = Duration::from_mins(3);

/// `POST /v1/store/pets/{petId}/photos`: adds a photo behind the others.
pub(crate) async fn add_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let [alt] = query::parameters(call.request.uri.query(), ["alt"])?;
    query::check_utf8(call.request.uri.query())?;
    let alt = query::filter(
        "alt",
        alt.as_ref(),
        |text| AltText::new(text.to_owned()),
        &AltText::rule(),
    )?;
    let id = write::pet_id(query::path_integer(call.parameter))?;
    if area.app.photos.storage().is_none() {
        return Err(PhotoError::Off.into());
    }
    // A repetition gets the first response, whatever became of the animal.
    if idempotency::key(&call.request.headers)?.is_none() {
        check(area, id).await?;
    }
    let accepted = Pictures {
        formats: &Format::ALL,
        max: area.app.photos.max_size(),
    };
    let write = Write::read_picture(area, call, &accepted).await?;
    // The bytes say the format, because many clients send another type or the same one always.
    let format = Format::detect(&write.body).ok_or_else(|| {
        area.app.photos.metrics.invalid.count();
        PhotoError::Invalid(PictureProblem::NoPicture)
    })?;
    let stored = area.app.photos.add(write.body.clone(), format).await?;
    let photo = stored.into_photo(alt);
    write
        .execute(area, Command::AddPhoto { id, photo }, wire::added_photo)
        .await
}

/// Rejects a photo of an animal that cannot get one, before its picture is read.
async fn check(area: &StoreArea, id: PetId) -> Result<(), ApiError> {
    let pet = area
        .app
        .store
        .get_store_pet(id)
        .await?
        .ok_or_else(write::no_pet)?;
    check_room_for_photo(&pet).or_else(|refusal: Refusal| {
        Err(refusals::refusal_error(
            refusal,
            None,
            area.http.memory.reserve(pet.length())?,
        ))
    })
}

/// `GET /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn get_photo(
    area: &StoreArea,
    Call {
        request,
        parameter,
        second,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let (id, photo) = ids(parameter, second)?;
    let pet = area
        .app
        .store
        .get_store_pet(id)
        .await?
        .ok_or_else(write::no_pet)?;
    let body = wire::photo_of(&pet, photo).ok_or_else(no_photo)?;
    wire::respond_with(area, request, body, pet.version)
}

/// `PATCH /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn patch_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(PhotoPatch::NAMES)?.read()?;
    let (id, photo) = ids(write.parameter, write.second)?;
    let command = Command::PatchPhoto {
        id,
        photo,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::photo).await
}

/// `POST /v1/store/pets/{petId}/photos/order`.
pub(crate) async fn order_photos(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let photo =
        |element: &RawValue| PhotoId::parse(&serde_json::from_str::<String>(element.get()).ok()?);
    let order = json::elements(&write.body)?
        .into_iter()
        .map(photo)
        .collect::<Option<Vec<_>>>();
    let is_order = |order: &Vec<_>| {
        order.len() <= Photos::MAX && order.iter().collect::<HashSet<_>>().len() == order.len()
    };
    let order = order
        .filter(is_order)
        .ok_or_else(|| invalid(PHOTO_ORDER_RULE))?;
    let command = Command::OrderPhotos {
        id: write.pet_id()?,
        order,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// `DELETE /v1/store/pets/{petId}/photos/{photoId}`.
pub(crate) async fn delete_photo(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let (id, photo) = ids(write.parameter, write.second)?;
    let command = Command::DeletePhoto {
        id,
        photo,
        preconditions,
    };
    write.execute(area, command, wire::photo).await
}

/// The identifiers in the path: 404 if nothing can have them.
fn ids(pet: &str, photo: &str) -> Result<(PetId, PhotoId), ApiError> {
    Ok((
        write::pet_id(query::path_integer(pet))?,
        PhotoId::parse(photo).ok_or_else(no_photo)?,
    ))
}

fn no_photo() -> ApiError {
    ApiError::new(Problem::NotFound, "The animal has no photo with this id.")
}
