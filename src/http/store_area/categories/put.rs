//! `putCategory`: `PUT /v1/store/categories/{categoryId}`.

use super::super::{members::LABEL, preconditions, wire, write::Write};
use crate::{
    domain::store_area::Command,
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// Creates a category, or changes its label.
pub(in crate::http) async fn put(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of_put(&call.request.headers)?;
    let write = Write::read(app, call, Some(Accepted::Json)).await?;
    let label = write.members(&["label"])?.required("label", &LABEL)?;
    let command = Command::PutCategory { id: super::id(id)?, label, preconditions };
    write.execute(app, command, wire::created).await
}
