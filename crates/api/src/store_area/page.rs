//! Rendering and links of pages, shared by all lists.

use std::sync::Arc;

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::Limit;
use petstore_web::edge::{ApiError, Response, response};
use tokio::task;

use super::{shared::StoreArea, wire::USUAL_LENGTH};
use crate::etag;

/// The maximum number of bytes of texts in a page that is rendered directly. A larger page is rendered on a
/// separate thread, because it would block the async runtime.
const MAX_INLINE_BYTES: usize = 128 << 10;

/// How to render the elements of a list.
pub(super) struct Element<T> {
    /// Returns the total length of the texts of an element in bytes, by which the buffer is sized.
    pub(super) length: fn(&T) -> usize,
    /// Appends an element as JSON.
    pub(super) write: fn(&mut Vec<u8>, &T),
}

/// Responds with a page and the link to the next one, if there is one; or with 304 if the client already
/// has the page.
pub(super) async fn respond<T: Send + 'static>(
    area: &StoreArea,
    request: &Parts,
    elements: Vec<T>,
    element: Element<T>,
    next: Option<HeaderValue>,
) -> Result<Response, ApiError> {
    let etag_key = area.http.etag_key;
    let is_last = next.is_none();
    let (body, etag) = render(elements, element, move |body| {
        let etag = etag_key.page_etag(&body, is_last);
        (body, etag)
    })
    .await?;
    let mut response = response::json(StatusCode::OK, area.http.memory.hold(body)?);
    if let Some(next) = next {
        response.headers_mut().insert(header::LINK, next);
    }
    Ok(etag::respond(&request.headers, response, etag))
}

/// Renders the elements as a JSON array, and returns the result of `finish` for it. `finish` runs on the same
/// thread as the rendering, so it can also do expensive work such as hashing.
pub(super) async fn render<T: Send + 'static, R: Send + 'static>(
    elements: Vec<T>,
    Element { length, write }: Element<T>,
    finish: impl FnOnce(Vec<u8>) -> R + Send + 'static,
) -> Result<R, ApiError> {
    let texts_length: usize = elements.iter().map(length).sum();
    let render = move || {
        let mut body = Vec::with_capacity(2 + elements.len() * USUAL_LENGTH + texts_length);
        body.push(b'[');
        for element in &elements {
            if body.len() > 1 {
                body.push(b',');
            }
            write(&mut body, element);
        }
        body.push(b']');
        finish(body)
    };
    if texts_length <= MAX_INLINE_BYTES {
        return Ok(render());
    }
    let rendering = task::spawn_blocking(render);
    rendering
        .await
        .map_err(|error| ApiError::internal(Arc::new(error)))
}

/// Returns the link to the next page (RFC 8288) of the list at `path`, which is relative to the base URL. See
/// [`link`].
pub(super) fn next_link(
    area: &StoreArea,
    path: &str,
    limit: Limit,
    filters: &[(&str, Option<&str>)],
    cursor: &str,
) -> Option<HeaderValue> {
    let mut buffer = itoa::Buffer::new();
    let limit = ("limit", Some(buffer.format(limit.get())));
    let cursor = ("cursor", Some(cursor));
    link(area, path, "next", [&[limit], filters, &[cursor]].concat())
}

/// Returns a link with this relation type to `path`, which is relative to the base URL. Includes only the
/// `parameters` that have a value, percent-encoded. Returns `None` only if the base URL is not valid in a
/// header.
pub(super) fn link<'a>(
    area: &StoreArea,
    path: &str,
    relation: &str,
    parameters: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
) -> Option<HeaderValue> {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let link = format!(
        "<{}{path}?{}>; rel=\"{relation}\"",
        area.http.base_path,
        query.finish()
    );
    HeaderValue::try_from(link).ok()
}
