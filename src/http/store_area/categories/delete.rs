//! `deleteCategory`: `DELETE /v1/store/categories/{categoryId}`.

use super::super::{preconditions, wire, write::Write};
use crate::{
    domain::store_area::Command,
    http::{App, Response, error::ApiError, query, routes::Call},
};

/// Deletes the label of a category.
pub(in crate::http) async fn delete(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(app, call, None).await?;
    let command = Command::DeleteCategory { id: super::id(id)?, preconditions };
    write.execute(app, command, wire::one).await
}
