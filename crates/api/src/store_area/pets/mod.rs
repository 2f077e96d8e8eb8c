//! The operations on animals.

mod field_search;
mod list;

use hyper::StatusCode;
use petstore_domain::store_area::{Command, Note, PetPatch, Resource, WithdrawalReason};
use petstore_formats::json::AddPet;
use petstore_web::edge::{ApiError, Response, body::Accepted, etag, response};

use super::{
    members::{Body, bodies},
    preconditions,
    shared::StoreArea,
    subjects, wire,
    write::Write,
};
use crate::{context::Call, query};

pub(crate) use self::list::list_pets;

bodies! {
    WithdrawPet: reason, note;
}

/// The body of `withdrawPet`.
pub(super) struct WithdrawPet {
    pub(super) reason: WithdrawalReason,
    pub(super) note: Option<Note>,
}

/// Reads an animal, withdrawn or not: `GET /v1/store/pets/{petId}`.
pub(crate) async fn get_pet(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let pet = subjects::find_pet(area, subjects::pet_id_in_path(parameter)?).await?;
    wire::respond(area, request, &Resource::Pet(pet))
}

/// Adds an animal: `POST /v1/store/pets`.
pub(crate) async fn add_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let (pet, fields) = write.members(AddPet::NAMES)?.read::<AddPet>()?.into_pet()?;
    // A client adds photos later, with `addPhoto`.
    let command = Command::AddPet(pet, fields, Vec::new());
    write.execute(area, command, wire::created_result).await
}

/// Changes an animal: `PATCH /v1/store/pets/{petId}`.
pub(crate) async fn patch_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(PetPatch::NAMES)?.read()?;
    let command = Command::PatchPet {
        id: write.pet_id()?,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Withdraws an animal: `POST /v1/store/pets/{petId}/withdraw`.
pub(crate) async fn withdraw_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let WithdrawPet { reason, note } = write.members(WithdrawPet::NAMES)?.read()?;
    let command = Command::WithdrawPet {
        id: write.pet_id()?,
        reason,
        note,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Puts a withdrawn animal back into the catalogue: `POST /v1/store/pets/{petId}/restore`.
pub(crate) async fn restore_pet(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    write.reject_members()?;
    let command = Command::RestorePet {
        id: write.pet_id()?,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Counts the animals by status: `GET /v1/store/inventory`.
pub(crate) async fn get_inventory(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let inventory = area.app.inventory.read().await?;
    let body = area.http.memory.hold(wire::inventory_json(&inventory))?;
    let etag = area.http.etag_key.compute_etag(&body);
    Ok(etag::respond(
        &request.headers,
        response::json(StatusCode::OK, body),
        etag,
    ))
}
