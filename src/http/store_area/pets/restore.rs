//! `restorePet`: `POST /v1/store/pets/{petId}/restore`.

use super::super::{
    preconditions, wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::Command,
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// Takes a withdrawn animal back into the catalogue.
pub(in crate::http) async fn restore(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(app, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    let command = Command::RestorePet { id: write::pet_id(id)?, preconditions };
    write.execute(app, command, wire::one).await
}
