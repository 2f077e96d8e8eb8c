//! Renders the pages of lists and their links. All lists of the store area share this code.

use std::sync::Arc;

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::Limit;
use petstore_web::edge::{ApiError, Response, etag, response};
use tokio::task;

use super::{shared::StoreArea, wire::USUAL_LENGTH};

/// The maximum number of bytes of texts in a page that is rendered directly. A larger page is rendered on a
/// separate thread, because it would block the async runtime.
const MAX_INLINE_TEXTS_LENGTH: usize = 128 << 10;

/// The functions that render an element of a list.
pub(super) struct ElementRenderer<T> {
    /// Returns the total length of the texts of an element in bytes, by which the buffer is sized.
    pub(super) texts_length: fn(&T) -> usize,
    /// Appends an element as JSON.
    pub(super) write: fn(&mut Vec<u8>, &T),
}

/// Responds with a page of `elements`, or with 304 if the client already has it. `next` is the link to the
/// next page, if there is one.
pub(super) async fn respond<T: Send + 'static>(
    area: &StoreArea,
    request: &Parts,
    elements: Vec<T>,
    renderer: ElementRenderer<T>,
    next: Option<HeaderValue>,
) -> Result<Response, ApiError> {
    let etag_key = area.http.etag_key;
    let is_last = next.is_none();
    let (body, etag) = render_array(elements, renderer, move |body| {
        let etag = etag_key.compute_page_etag(&body, is_last);
        (body, etag)
    })
    .await?;
    let mut response = response::json(StatusCode::OK, area.http.memory.hold(body)?);
    if let Some(next) = next {
        response.headers_mut().insert(header::LINK, next);
    }
    Ok(etag::respond(&request.headers, response, etag))
}

/// Renders the elements as a JSON array, and returns what `finish` makes of it.
///
/// A large array is rendered on a separate thread: see [`MAX_INLINE_TEXTS_LENGTH`]. `finish` runs
/// on the same thread as the rendering, so it can do expensive work such as hashing.
pub(super) async fn render_array<T: Send + 'static, R: Send + 'static>(
    elements: Vec<T>,
    renderer: ElementRenderer<T>,
    finish: impl FnOnce(Vec<u8>) -> R + Send + 'static,
) -> Result<R, ApiError> {
    let total_texts_length: usize = elements.iter().map(renderer.texts_length).sum();
    let render_and_finish = move || {
        // The two brackets, and the elements.
        let capacity = 2 + elements.len() * USUAL_LENGTH + total_texts_length;
        finish(write_array(&elements, renderer.write, capacity))
    };
    if total_texts_length <= MAX_INLINE_TEXTS_LENGTH {
        return Ok(render_and_finish());
    }
    let rendering = task::spawn_blocking(render_and_finish);
    rendering
        .await
        .map_err(|error| ApiError::internal(Arc::new(error)))
}

/// Returns the elements as a JSON array, in a buffer that begins with this capacity.
fn write_array<T>(elements: &[T], write: fn(&mut Vec<u8>, &T), capacity: usize) -> Vec<u8> {
    let mut body = Vec::with_capacity(capacity);
    body.push(b'[');
    for element in elements {
        if body.len() > 1 {
            body.push(b',');
        }
        write(&mut body, element);
    }
    body.push(b']');
    body
}

/// Returns the link to the next page (RFC 8288) of the list at `path`, like [`link`].
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

/// Returns a link with this relation type to `path`, which is relative to the base URL. Returns `None` only if
/// the base URL is not valid in a header.
///
/// The link has only the `parameters` with a value, percent-encoded.
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
