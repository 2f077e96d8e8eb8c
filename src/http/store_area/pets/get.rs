//! `getStorePet`: `GET /v1/store/pets/{petId}`.

use super::super::{wire, write};
use crate::{
    domain::store_area::Resource,
    http::{
        App, Response,
        error::{ApiError, Problem},
        query,
        routes::Call,
    },
};

/// Responds with one animal, withdrawn or not.
pub(in crate::http) async fn get(
    app: &App,
    Call { request, parameter, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let id = write::pet_id(query::path_integer(parameter))?;
    let pet = app.store.get_store_pet(id).await?;
    let pet = pet.ok_or_else(|| ApiError::new(Problem::NotFound, "No animal has this id."))?;
    wire::respond(app, request, &Resource::Pet(pet))
}
