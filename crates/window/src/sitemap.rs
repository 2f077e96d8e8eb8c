//! `/sitemap.xml` and `/robots.txt`, for search engines.

use std::{fmt::Write, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use petstore_domain::{
    Limit, PetId,
    client::ClientAddress,
    store_area::{PetQuery, StorePet},
    text::integer,
};
use petstore_web::edge::{ApiError, Response};

use super::{
    rendered::Made,
    shop::Shop,
    walk::{self, FilePermit},
    xml::escaped,
};

/// A sitemap is of so many successive identifiers, so it has at most 50,000 addresses (sitemaps.org) with that of the
/// list, its address stays the same, and none has an animal of another one.
const BLOCK: i64 = 49_999;

const XML: &str = "application/xml; charset=utf-8";
const XMLNS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// The sitemaps, as an index, newest animals first. Reads one animal of each. Empty if one sitemap has all animals.
pub(super) async fn index(shop: &Shop) -> Result<Made, ApiError> {
    let most = usize::try_from(BLOCK).unwrap_or(usize::MAX);
    let newest = PetQuery {
        on_offer: true,
        newest_first: true,
        limit: Limit::new(1).unwrap_or_default(),
        ..PetQuery::default()
    };
    let counts = shop.store().count_offers(vec![newest.clone()], most + 1).await?;
    if counts.iter().all(|count| *count <= most) {
        return Ok(Made::new(XML, Vec::new()));
    }
    let mut sitemaps = String::new();
    let mut after = None;
    loop {
        let (pets, _) = shop.store().list_offers(&PetQuery { after, ..newest.clone() }).await?;
        let [newest, ..] = &*pets else { break };
        let block = newest.id.get() / BLOCK;
        if block > 0 {
            sitemaps += &sitemap(shop, block);
        }
        let Some(end) = PetId::new(block * BLOCK) else { break };
        after = Some(end);
    }
    // The first one has the list, and so something at any time.
    sitemaps += &sitemap(shop, 0);
    let index = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<sitemapindex {XMLNS}>\n{sitemaps}</sitemapindex>\n"
    );
    Ok(Made::new(XML, index.into_bytes()))
}

/// The lowest identifier in `/sitemap-{block}.xml`, and the end behind its highest one. Fails with 404 for what is no
/// number.
pub(super) fn bounds(block: &str) -> Result<(i64, Option<PetId>), ApiError> {
    let block = integer(block).filter(|block| *block >= 0).and_then(|block: i64| {
        let lowest = block.checked_mul(BLOCK)?;
        Some((lowest, Some(PetId::new(lowest.checked_add(BLOCK)?)?)))
    });
    block.ok_or_else(ApiError::no_such_path)
}

/// A sitemap: the animals with these identifiers, and in the first one the list.
pub(super) fn pages(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    (lowest, end): (i64, Option<PetId>),
    permit: FilePermit,
) -> Response {
    let list = if lowest == 0 { entry(&shop.url("/"), None) } else { String::new() };
    let first = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset {XMLNS}>\n{list}");
    let start = (Arc::clone(shop), Some(end), permit);
    let rest = stream::try_unfold(Some(start), move |state| async move {
        let Some((shop, position, permit)) = state else { return Ok(None) };
        let Some(position) = position else {
            return Ok(Some((Bytes::from_static(b"</urlset>\n"), None)));
        };
        let (pets, next) = walk::step(&shop, visitor, position).await?;
        let own = pets.iter().take_while(|pet| pet.id.get() >= lowest);
        let urls = own.map(|pet| entry(&shop.url(&format!("/animals/{}", pet.id)), Some(pet)));
        let urls = urls.collect::<String>();
        let next = next.filter(|next| next.get() > lowest).map(Some);
        Ok(Some((Bytes::from(urls), Some((shop, next, permit)))))
    });
    walk::response(XML, first.into(), rest)
}

fn sitemap(shop: &Shop, block: i64) -> String {
    let url = shop.url(&format!("/sitemap-{block}.xml"));
    format!("<sitemap><loc>{}</loc></sitemap>\n", escaped(&url))
}

fn entry(url: &str, pet: Option<&StorePet>) -> String {
    let mut entry = format!("<url><loc>{}</loc>", escaped(url));
    if let Some(changed_at) = pet.and_then(|pet| pet.updated_at.or(pet.created_at)) {
        // To the day, because values that are not public change it, too.
        let day = changed_at.strftime("%F");
        let _ = write!(entry, "<lastmod>{day}</lastmod>");
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
