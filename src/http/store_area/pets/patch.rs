//! `patchPet`: `PATCH /v1/store/pets/{petId}`.

use super::super::{
    members::{INTEGER, Members, NAME, PET_STATUS},
    preconditions, wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::{Command, PetPatch},
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// The members of the body.
pub(in super::super) const MEMBERS: [&str; 3] = ["name", "categoryId", "status"];

/// Changes members of an animal.
pub(in crate::http) async fn patch(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(app, call, Some(Accepted::Patch)).await?;
    let patch = parse(&write.members(&MEMBERS)?)?;
    let command = Command::PatchPet { id: write::pet_id(id)?, patch, preconditions };
    write.execute(app, command, wire::one).await
}

pub(in super::super) fn parse(members: &Members<'_>) -> Result<PetPatch, ApiError> {
    Ok(PetPatch {
        name: members.optional("name", &NAME)?,
        category_id: members.optional("categoryId", &INTEGER)?,
        status: members.optional("status", &PET_STATUS)?,
    })
}
