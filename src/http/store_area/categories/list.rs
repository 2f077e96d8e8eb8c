//! `listCategories`: `GET /v1/store/categories`.

use super::super::{
    cursor::{self, Walk},
    page::{self, Element},
};
use crate::{
    domain::store_area::Category,
    http::{App, Response, error::ApiError, query, routes::Call},
    json,
};

/// Responds with a page of categories and a link to the next one.
pub(in crate::http) async fn list(
    app: &App,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = page::limit(limit.as_ref())?;
    let walk = Walk::new(cursor::CATEGORIES, &[]);
    let after = cursor.map(|cursor| walk.decode(&cursor)).transpose()?.map(|(_, id)| id);
    let (categories, next) = app.store.list_categories(after, limit).await?;
    let next = next
        .and_then(|id| page::next_link(app, "/store/categories", limit, &[], &walk.encode("", id)));
    let element: Element<Category> =
        Element { length: |category| category.label.as_str().len(), write: json::write_category };
    page::respond(app, request, categories, element, next).await
}
