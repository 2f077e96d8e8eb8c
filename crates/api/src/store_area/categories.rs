//! The operations on categories.

use petstore_domain::{
    Problem,
    store_area::{Category, Command, Label},
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    cursor::{self, Walk},
    members::{Body, bodies},
    page::{self, ElementRenderer},
    preconditions,
    shared::StoreArea,
    wire,
    write::Write,
};
use crate::{context::Call, query};

bodies! {
    PutCategory: label;
}

/// The body of `putCategory`.
pub(super) struct PutCategory {
    label: Label,
}

/// Lists categories, with a link to the next page: `GET /v1/store/categories`.
pub(crate) async fn list_categories(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::parse_limit(limit.as_ref())?;
    let walk = Walk::new(cursor::CATEGORIES, &[]);
    let after = walk.integer_before_page(cursor.as_deref())?;
    let (categories, last_id) = area.app.store.list_categories(after, limit).await?;
    let next = last_id
        .and_then(|id| page::next_link(area, "/store/categories", limit, &[], &walk.encode_id(id)));
    let renderer: ElementRenderer<Category> = ElementRenderer {
        texts_length: |category| category.label.as_str().len(),
        write: json::write_category,
    };
    page::respond(area, request, categories, renderer, next).await
}

/// Creates a category, or changes its label: `PUT /v1/store/categories/{categoryId}`.
pub(crate) async fn put_category(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_put(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let PutCategory { label } = write.members(PutCategory::NAMES)?.read()?;
    let command = Command::PutCategory {
        id: id_in_path(&write)?,
        label,
        preconditions,
    };
    write.execute(area, command, wire::created_result).await
}

/// Deletes a category: `DELETE /v1/store/categories/{categoryId}`.
pub(crate) async fn delete_category(
    area: &StoreArea,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let command = Command::DeleteCategory {
        id: id_in_path(&write)?,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}

/// Parses the id in the path, which can be any int64. Fails with 404 if it is not one.
fn id_in_path(write: &Write<'_>) -> Result<i64, ApiError> {
    query::path_integer(write.parameter)
        .ok_or_else(|| ApiError::new(Problem::NotFound, "No category has this id."))
}
