//! `getOrder`: `GET /v1/store/orders/{orderId}`.

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

/// Responds with one order.
pub(in crate::http) async fn get(
    app: &App,
    Call { request, parameter, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let id = write::order_id(query::path_integer(parameter))?;
    let order = app.store.get_order(id).await?;
    let order = order.ok_or_else(|| ApiError::new(Problem::NotFound, "No order has this id."))?;
    wire::respond(app, request, &Resource::Order(order))
}
