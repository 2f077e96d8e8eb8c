//! `/sitemap.xml` and `/robots.txt`, for search engines.

use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use petstore_domain::{
    Limit, PetId,
    client::ClientAddress,
    store_area::{PetQuery, StorePet},
    text::integer,
};
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, Response};
use quick_xml::events::{BytesEnd, BytesStart, Event};

use super::{
    rendered::Made,
    shop::Shop,
    walk::{self, FilePermit},
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// A sitemap is of so many successive identifiers, so it has at most 50,000 addresses (sitemaps.org) with that of the
/// list, its address stays the same, and none has an animal of another one.
const BLOCK: i64 = 49_999;

const XML: &str = "application/xml; charset=utf-8";
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Returns the sitemaps, as an index, newest animals first. Reads one animal of each. Empty if one sitemap has all
/// animals.
pub(super) async fn index(shop: &Shop) -> Result<Made, ApiError> {
    let most = usize::try_from(BLOCK).unwrap_or(usize::MAX);
    let newest = PetQuery {
        on_offer: true,
        newest_first: true,
        limit: Limit::new(1).unwrap_or_default(),
        ..PetQuery::default()
    };
    let counts = shop
        .store()
        .count_offers(vec![newest.clone()], most + 1)
        .await?;
    if counts.iter().all(|count| *count <= most) {
        return Ok(Made::new(XML, Vec::new()));
    }
    let blocks = block_numbers(shop, &newest).await?;
    let document = write_index(shop, &blocks).map_err(internal_error)?;
    Ok(Made::new(XML, document))
}

/// Returns the numbers of the sitemaps that have animals, and of the first one, which has the list. The highest number
/// comes first.
async fn block_numbers(shop: &Shop, newest: &PetQuery) -> Result<Vec<i64>, StoreError> {
    let mut blocks = Vec::new();
    let mut after = None;
    loop {
        let (pets, _) = shop
            .store()
            .list_offers(&PetQuery {
                after,
                ..newest.clone()
            })
            .await?;
        let [pet, ..] = &*pets else { break };
        let block = pet.id.get() / BLOCK;
        if block > 0 {
            blocks.push(block);
        }
        let Some(end) = PetId::new(block * BLOCK) else {
            break;
        };
        after = Some(end);
    }
    // The first one has the list, and so something at any time.
    blocks.push(0);
    Ok(blocks)
}

/// Writes the index of these sitemaps.
fn write_index(shop: &Shop, blocks: &[i64]) -> io::Result<Vec<u8>> {
    let mut writer = XmlWriter::new(Vec::new());
    write_start(&mut writer, "sitemapindex")?;
    for block in blocks {
        let url = shop.url(&format!("/sitemap-{block}.xml"));
        writer
            .create_element("sitemap")
            .write_inner_content(|sitemap| write_text(sitemap, "loc", &url))?;
        end_line(&mut writer);
    }
    write_end(&mut writer, "sitemapindex")?;
    Ok(writer.into_inner())
}

/// The lowest identifier in `/sitemap-{block}.xml`, and the end behind its highest one. Fails with 404 for what is no
/// number.
pub(super) fn bounds(block: &str) -> Result<(i64, Option<PetId>), ApiError> {
    let block = integer(block)
        .filter(|block| *block >= 0)
        .and_then(|block: i64| {
            let lowest = block.checked_mul(BLOCK)?;
            Some((lowest, Some(PetId::new(lowest.checked_add(BLOCK)?)?)))
        });
    block.ok_or_else(ApiError::no_such_path)
}

/// Responds with a sitemap: the animals with these identifiers, and in the first one the list. It is written in pieces.
pub(super) fn pages(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    (lowest, end): (i64, Option<PetId>),
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let first = first_piece(shop, lowest).map_err(internal_error)?;
    let start = (Arc::clone(shop), Some(end), permit);
    let rest = stream::try_unfold(Some(start), move |state| async move {
        let Some((shop, position, permit)) = state else {
            return Ok(None);
        };
        let Some(position) = position else {
            let last = last_piece().map_err(internal_error)?;
            return Ok(Some((last, None)));
        };
        let (pets, next) = walk::step(&shop, visitor, position).await?;
        let urls = piece(&shop, &pets, lowest).map_err(internal_error)?;
        let next = next.filter(|next| next.get() > lowest).map(Some);
        Ok(Some((urls, Some((shop, next, permit)))))
    });
    Ok(walk::response(XML, first, rest))
}

/// Returns the beginning of a sitemap. The first sitemap has the address of the list.
fn first_piece(shop: &Shop, lowest: i64) -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    write_start(&mut writer, "urlset")?;
    if lowest == 0 {
        write_url(&mut writer, &shop.url("/"), None)?;
    }
    Ok(writer.into_inner().into())
}

/// Returns the addresses of the animals from the lowest identifier on.
fn piece(shop: &Shop, pets: &[StorePet], lowest: i64) -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    for pet in pets.iter().take_while(|pet| pet.id.get() >= lowest) {
        write_url(
            &mut writer,
            &shop.url(&format!("/animals/{}", pet.id)),
            Some(pet),
        )?;
    }
    Ok(writer.into_inner().into())
}

/// Returns the end of a sitemap.
fn last_piece() -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    write_end(&mut writer, "urlset")?;
    Ok(writer.into_inner().into())
}

/// Writes the start of a document with this root.
fn write_start(writer: &mut XmlWriter, root: &str) -> io::Result<()> {
    write_declaration(writer)?;
    end_line(writer);
    let start = BytesStart::new(root).with_attributes([("xmlns", NAMESPACE)]);
    writer.write_event(Event::Start(start))?;
    end_line(writer);
    Ok(())
}

/// Writes the end of a document with this root.
fn write_end(writer: &mut XmlWriter, root: &str) -> io::Result<()> {
    writer.write_event(Event::End(BytesEnd::new(root)))?;
    end_line(writer);
    Ok(())
}

/// Ends a line, because an address has a line of its own.
fn end_line(writer: &mut XmlWriter) {
    writer.get_mut().push(b'\n');
}

/// Writes the address of a page, and when its animal changed.
fn write_url(writer: &mut XmlWriter, url: &str, pet: Option<&StorePet>) -> io::Result<()> {
    let changed_at = pet.and_then(|pet| pet.updated_at.or(pet.created_at));
    writer
        .create_element("url")
        .write_inner_content(|element| {
            write_text(element, "loc", url)?;
            if let Some(changed_at) = changed_at {
                // To the day, because values that are not public change it, too.
                write_text(element, "lastmod", &changed_at.strftime("%F").to_string())?;
            }
            Ok(())
        })?;
    end_line(writer);
    Ok(())
}

/// `GET /robots.txt`.
pub(super) fn robots(shop: &Shop) -> Response {
    let sitemap = shop.url("/sitemap.xml");
    let text = format!("User-agent: *\nDisallow: /embed\nSitemap: {sitemap}\n");
    let mut response = Response::new(Bytes::from(text).into());
    let media_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}
