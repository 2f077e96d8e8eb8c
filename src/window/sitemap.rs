//! `/sitemap.xml` and `/robots.txt`, for search engines.

use std::{fmt::Write, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{shop::Shop, walk, xml::escaped};
use crate::{
    domain::{PetId, store_area::StorePet},
    edge::{ApiError, Response},
    text::integer,
};

/// How many addresses a sitemap has at most (sitemaps.org).
const MOST: usize = 50_000;

/// How far the beginnings of the sitemaps in an index are apart. What is added before the index is
/// fetched again is still in one of them.
const APART: usize = 45_000;

const XML: &str = "application/xml; charset=utf-8";
const XMLNS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// `GET /sitemap.xml`: the addresses of the pages, or an index of sitemaps if there are too many.
pub(super) async fn file(shop: &Arc<Shop>, files: &Arc<Semaphore>) -> Result<Response, ApiError> {
    let permit = walk::permit(files)?;
    // The list itself is one.
    let (mut count, mut position) = (1, None);
    loop {
        let (pets, next) = walk::step(shop, position).await?;
        count += pets.len();
        position = next;
        if count > MOST {
            return Ok(index(Arc::clone(shop), permit));
        }
        if position.is_none() {
            return Ok(pages(Arc::clone(shop), None, permit));
        }
    }
}

/// `GET /sitemap-{before}.xml`: a part of the addresses. Fails with 404 for what is no identifier.
pub(super) fn part(
    shop: &Arc<Shop>,
    files: &Arc<Semaphore>,
    before: &str,
) -> Result<Response, ApiError> {
    let before = integer(before).and_then(PetId::new).ok_or_else(ApiError::no_such_path)?;
    Ok(pages(Arc::clone(shop), Some(before), walk::permit(files)?))
}

/// The list, and the animals from a position on.
fn pages(shop: Arc<Shop>, before: Option<PetId>, permit: OwnedSemaphorePermit) -> Response {
    let list = if before.is_none() { entry(&shop.url("/"), None) } else { String::new() };
    let first = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset {XMLNS}>\n{list}");
    let start = (shop, Some(before), MOST - 1, permit);
    let rest = stream::try_unfold(Some(start), async |state| {
        let Some((shop, position, room, permit)) = state else { return Ok(None) };
        let Some(before) = position.filter(|_| room > 0) else {
            return Ok(Some((Bytes::from_static(b"</urlset>\n"), None)));
        };
        let (pets, next) = walk::step(&shop, before).await?;
        let urls = pets
            .iter()
            .take(room)
            .map(|pet| entry(&shop.url(&format!("/animals/{}", pet.id)), Some(pet)));
        let urls = urls.collect::<String>();
        let room = room.saturating_sub(pets.len());
        Ok(Some((Bytes::from(urls), Some((shop, next.map(Some), room, permit)))))
    });
    walk::response(XML, first.into(), rest)
}

/// The sitemaps of which each has a part of the animals.
fn index(shop: Arc<Shop>, permit: OwnedSemaphorePermit) -> Response {
    let first = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<sitemapindex {XMLNS}>\n");
    let newest = sitemap(&shop, PetId::MAX);
    let start = (shop, None, 0, permit);
    let rest = stream::try_unfold(Some(start), async |state| {
        let Some((shop, mut position, mut since, permit)) = state else { return Ok(None) };
        // Some steps, so that a piece is worth sending.
        while since < APART {
            let (pets, next) = walk::step(&shop, position).await?;
            since += pets.len();
            if next.is_none() {
                return Ok(Some((Bytes::from_static(b"</sitemapindex>\n"), None)));
            }
            position = next;
        }
        let line = position.map(|before| sitemap(&shop, before.get())).unwrap_or_default();
        Ok(Some((Bytes::from(line), Some((shop, position, 0, permit)))))
    });
    walk::response(XML, [first, newest].concat().into(), rest)
}

fn sitemap(shop: &Shop, before: i64) -> String {
    let url = shop.url(&format!("/sitemap-{before}.xml"));
    format!("<sitemap><loc>{}</loc></sitemap>\n", escaped(&url))
}

fn entry(url: &str, pet: Option<&StorePet>) -> String {
    let mut entry = format!("<url><loc>{}</loc>", escaped(url));
    if let Some(changed_at) = pet.and_then(|pet| pet.updated_at.or(pet.created_at)) {
        let _ = write!(entry, "<lastmod>{changed_at}</lastmod>");
    }
    entry.push_str("</url>\n");
    entry
}

/// `GET /robots.txt`.
pub(super) fn robots(shop: &Shop) -> Response {
    let sitemap = shop.url("/sitemap.xml");
    let text = format!("User-agent: *\nDisallow: /embed\nSitemap: {sitemap}\n");
    let mut response = Response::new(Bytes::from(text).into());
    let media_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}
