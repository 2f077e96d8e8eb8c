//! `completeOrder`: `POST /v1/store/orders/{orderId}/complete`.

use super::super::{
    wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::Command,
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// Sells the reserved animal.
pub(in crate::http) async fn complete(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let write = Write::read(app, call, Some(Accepted::JsonOrNothing)).await?;
    write.members(&[])?;
    let command = Command::CompleteOrder { id: write::order_id(id)? };
    write.execute(app, command, wire::one).await
}
