//! `listPets`: `GET /v1/pets`.

use std::sync::Arc;

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::{PageRequest, PetStatus};
use petstore_web::edge::{ApiError, Response, cache::MAX_CACHED, etag, response};
use tokio::task;

use super::{Contract, RenderedPage, cursor, wire};
use crate::{context::Call, query};

/// The maximum size of a page, in bytes, that is hashed directly. A larger page is hashed on a separate
/// thread, because it would block the async runtime.
const MAX_INLINE_BYTES: usize = 256 << 10;

/// Responds with a page of animals and a link to the next one.
pub(crate) async fn list_pets(
    contract: &Contract,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let page_request = parse_query(request.uri.query())?;
    // Only first pages are cached, because most clients request the same first page again and again.
    if page_request.after.is_some() {
        return Ok(respond(request, read_page(contract, &page_request).await?));
    }
    let version = contract.app.store.version().await?;
    let key = (page_request.status, page_request.limit);
    let page = if let Some(cached_page) = contract.first_pages.find(&key, version) {
        contract.hits.count();
        cached_page
    } else {
        contract.misses.count();
        let new_page = read_page(contract, &page_request).await?;
        if new_page.body.len() <= MAX_CACHED {
            contract.first_pages.insert(key, version, &new_page);
        }
        new_page
    };
    Ok(respond(request, page))
}

/// Reads a page from the store, and renders it with its link and `ETag`.
async fn read_page(
    contract: &Contract,
    page_request: &PageRequest,
) -> Result<RenderedPage, ApiError> {
    let mut pets = wire::begin_array(page_request.limit.get());
    let last_id = contract
        .app
        .store
        .list_pets(page_request, &mut |pet| wire::write_element(&mut pets, pet))
        .await?;
    let next = last_id.map(|last_id| {
        next_link(
            &contract.pets_path,
            page_request,
            &cursor::encode(page_request.status, last_id),
        )
    });
    let body = contract.http.memory.hold(wire::end_array(pets))?;
    let etag_key = contract.http.etag_key;
    let is_last = next.is_none();
    let etag = if body.len() <= MAX_INLINE_BYTES {
        etag_key.compute_page_etag(&body, is_last)
    } else {
        let body = body.clone();
        let hashing = task::spawn_blocking(move || etag_key.compute_page_etag(&body, is_last));
        hashing
            .await
            .map_err(|error| ApiError::internal(Arc::new(error)))?
    };
    Ok(RenderedPage { body, next, etag })
}

/// Responds with a page, or with 304 if the client already has it.
fn respond(request: &Parts, page: RenderedPage) -> Response {
    let mut response = response::json(StatusCode::OK, page.body);
    if let Some(next) = page.next {
        response.headers_mut().insert(header::LINK, next);
    }
    etag::respond(&request.headers, response, page.etag)
}

/// Parses the query parameters of a request.
fn parse_query(query: Option<&str>) -> Result<PageRequest, ApiError> {
    let [limit, status, cursor] = query::parameters(query, ["limit", "status", "cursor"])?;
    let limit = query::parse_limit(limit.as_ref())?;
    let status: Option<PetStatus> = query::parse_parameter(
        "status",
        status.as_ref(),
        |text| text.parse().ok(),
        "one of available, pending and sold",
    )?;
    let after = match cursor {
        None => None,
        Some(text) => Some(cursor::decode(&text, status)?),
    };
    Ok(PageRequest {
        limit,
        status,
        after,
    })
}

/// Returns the link to the next page (RFC 8288), such as `</v1/pets?limit=20&cursor=CURSOR>; rel="next"`.
fn next_link(path: &str, page_request: &PageRequest, cursor: &str) -> HeaderValue {
    let mut limit_buffer = itoa::Buffer::new();
    let limit = limit_buffer.format(page_request.limit.get());
    let (status_name, status) = page_request
        .status
        .map_or(("", ""), |status| ("&status=", status.as_str()));
    let link = [
        "<",
        path,
        "?limit=",
        limit,
        status_name,
        status,
        "&cursor=",
        cursor,
        r#">; rel="next""#,
    ]
    .concat();
    // All parts of the link are printable ASCII, so this never fails.
    HeaderValue::try_from(link).unwrap_or(HeaderValue::from_static(""))
}
