//! `/sitemap.xml` and `/robots.txt`, for search engines.

use std::{fmt::Write, iter, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};

use super::{shop::Shop, walk, xml::escaped};
use crate::{
    app::Latest,
    domain::{PetId, store_area::StorePet},
    edge::{ApiError, Reservation, Response},
    store::{StoreError, Version},
    text::integer,
};

/// How many addresses a sitemap has at most (sitemaps.org).
const MOST: usize = 50_000;

/// How far the beginnings of the sitemaps in an index are apart. What is added before the index is
/// fetched again is still in one of them.
const APART: usize = 45_000;

const XML: &str = "application/xml; charset=utf-8";
const XMLNS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The animals after which the sitemaps begin, except the first one. None if one sitemap has all.
type Beginnings = Arc<[PetId]>;

/// Finds where the sitemaps begin, which needs a walk over all animals. See [`Latest`].
#[derive(Default)]
pub(super) struct Sitemaps(Latest<Beginnings>);

impl Sitemaps {
    pub(super) async fn of(
        &self,
        shop: &Arc<Shop>,
        version: Option<Version>,
    ) -> Result<Beginnings, StoreError> {
        let of = Arc::clone(shop);
        self.0.read(&shop.app.clock, version, async move { beginnings(&of).await }).await
    }
}

async fn beginnings(shop: &Shop) -> Result<Beginnings, StoreError> {
    // The list itself is one.
    let (mut count, mut since, mut position) = (1, 0, None);
    let mut found = Vec::new();
    loop {
        let (pets, next) = walk::step(shop, position).await?;
        count += pets.len();
        since += pets.len();
        let Some(next) = next else { break };
        if since >= APART {
            found.push(next);
            since = 0;
        }
        position = Some(next);
    }
    Ok(if count > MOST { found.into() } else { Arc::default() })
}

/// The position in the path of a sitemap. Fails with 404 for what is no identifier.
pub(super) fn part(before: &str) -> Result<PetId, ApiError> {
    integer(before).and_then(PetId::new).ok_or_else(ApiError::no_such_path)
}

/// A sitemap: the list, and the animals from a position on.
pub(super) fn pages(shop: &Arc<Shop>, before: Option<PetId>, permit: Reservation) -> Response {
    let list = if before.is_none() { entry(&shop.url("/"), None) } else { String::new() };
    let first = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset {XMLNS}>\n{list}");
    let start = (Arc::clone(shop), Some(before), MOST - 1, permit);
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
pub(super) fn index(shop: &Shop, beginnings: &[PetId]) -> Response {
    let all = iter::once(PetId::MAX).chain(beginnings.iter().map(|before| before.get()));
    let sitemaps: String = all.map(|before| sitemap(shop, before)).collect();
    let index = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<sitemapindex {XMLNS}>\n{sitemaps}</sitemapindex>\n"
    );
    let mut response = Response::new(Bytes::from(index).into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(XML));
    response
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
