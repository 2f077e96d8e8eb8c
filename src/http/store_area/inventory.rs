//! `getInventory`: `GET /v1/store/inventory`.

use hyper::StatusCode;

use super::{shared::StoreArea, wire};
use crate::{
    edge::{ApiError, Response, response},
    http::{context::Call, etag, query},
};

/// Responds with how many animals there are.
pub(crate) async fn get(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let inventory = area.app.inventory.read().await?;
    let body = area.http.memory.hold(wire::inventory(&inventory))?;
    let tag = area.http.tags.of(&body);
    Ok(etag::respond(&request.headers, response::json(StatusCode::OK, body), tag))
}
