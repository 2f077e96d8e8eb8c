//! `/sitemap.xml` and `/robots.txt`, for search engines.

use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use petstore_domain::{
    Limit, PetId,
    client::ClientAddress,
    store_area::{PetQuery, StorePet},
    text::parse_integer,
};
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, Response};
use quick_xml::events::{BytesEnd, BytesStart, Event};

use super::{
    rendered::RenderedPage,
    shop::Shop,
    walk::{self, FilePermit},
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// The number of successive ids whose animals are in one sitemap. A sitemap may have 50,000 addresses (sitemaps.org), and
/// the first one also has the list. So the sitemap of an animal stays the same, and no animal is in two.
const BLOCK_LENGTH: i64 = 49_999;

/// The animals of a sitemap.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The lowest id in the block.
    lowest: i64,
    /// The id after the highest one. `None` if the highest id has no limit.
    end: Option<PetId>,
}

impl Block {
    /// The block that has all animals.
    pub(super) const WHOLE: Self = Self {
        lowest: 0,
        end: None,
    };

    /// Returns the ids in the block with this number, if they are valid ids.
    ///
    /// Example: block 1 has the ids from 49,999 to 99,997.
    fn with_number(number: i64) -> Option<Self> {
        let lowest = number.checked_mul(BLOCK_LENGTH)?;
        let end = PetId::new(lowest.checked_add(BLOCK_LENGTH)?)?;
        Some(Self {
            lowest,
            end: Some(end),
        })
    }
}

const XML: &str = "application/xml; charset=utf-8";
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Renders the index of the sitemaps, for which it reads one animal of each. The page is empty if one sitemap has all
/// animals.
pub(super) async fn index(shop: &Shop) -> Result<RenderedPage, ApiError> {
    let newest_animal = PetQuery {
        is_on_offer: true,
        newest_first: true,
        limit: Limit::new(1).unwrap_or_default(),
        ..PetQuery::default()
    };
    let max_count = usize::try_from(BLOCK_LENGTH).unwrap_or(usize::MAX);
    let counts = shop
        .store()
        .count_offers(vec![newest_animal.clone()], max_count + 1)
        .await?;
    if counts.iter().all(|count| *count <= max_count) {
        return Ok(RenderedPage::new(XML, Vec::new()));
    }

    let numbers = block_numbers(shop, newest_animal).await?;
    let document = write_index(shop, &numbers).map_err(internal_error)?;
    Ok(RenderedPage::new(XML, document))
}

/// Returns the numbers of the blocks that have animals, and of the first block, whose sitemap has the list. The highest
/// number comes first.
async fn block_numbers(shop: &Shop, mut query: PetQuery) -> Result<Vec<i64>, StoreError> {
    let mut numbers = Vec::new();
    loop {
        let (pets, _) = shop.store().list_offers(&query).await?;
        let Some(pet) = pets.first() else { break };
        let number = pet.id.get() / BLOCK_LENGTH;
        if number > 0 {
            numbers.push(number);
        }
        // The newest animals come first, so the next one has a lower id than the block.
        let Some(lowest) = PetId::new(number * BLOCK_LENGTH) else {
            break;
        };
        query.after = Some(lowest);
    }
    // The sitemap of the first block has the list, and so something at any time.
    numbers.push(0);
    Ok(numbers)
}

/// Writes the index of these sitemaps.
fn write_index(shop: &Shop, block_numbers: &[i64]) -> io::Result<Vec<u8>> {
    let mut writer = XmlWriter::new(Vec::new());
    write_start(&mut writer, "sitemapindex")?;
    for number in block_numbers {
        let url = shop.url(&format!("/sitemap-{number}.xml"));
        writer
            .create_element("sitemap")
            .write_inner_content(|sitemap| write_text(sitemap, "loc", &url))?;
        end_line(&mut writer);
    }
    write_end(&mut writer, "sitemapindex")?;
    Ok(writer.into_inner())
}

/// Parses the number of a block, as in `/sitemap-{block}.xml`. Fails with 404 if there is no such block.
pub(super) fn parse_block(text: &str) -> Result<Block, ApiError> {
    parse_integer(text)
        .filter(|number| *number >= 0)
        .and_then(Block::with_number)
        .ok_or_else(ApiError::no_such_path)
}

/// The next piece of a sitemap.
enum NextPiece {
    /// The animals before this one, or the newest ones.
    Animals { before: Option<PetId> },
    /// The end of the document.
    Last,
    /// Nothing, because the last piece was made.
    None,
}

/// A sitemap that is made while its client reads it.
struct SitemapFile {
    shop: Arc<Shop>,
    visitor: Option<ClientAddress>,
    lowest: i64,
    next: NextPiece,
    _permit: FilePermit,
}

/// Responds with a sitemap: the animals of a block, and in the first block the list. It is written in pieces.
pub(super) fn respond(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    block: Block,
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let first = first_piece(shop, block.lowest).map_err(internal_error)?;
    let file = SitemapFile {
        shop: Arc::clone(shop),
        visitor,
        lowest: block.lowest,
        next: NextPiece::Animals { before: block.end },
        _permit: permit,
    };
    let pieces = stream::try_unfold(file, async |mut file| {
        let piece = file.next_piece().await?;
        Ok(piece.map(|piece| (piece, file)))
    });
    Ok(walk::file_response(XML, first, pieces))
}

impl SitemapFile {
    /// Returns the next piece. Returns `None` after the last one.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.next {
            NextPiece::Animals { before } => {
                let (pets, next) = walk::next_animals(&self.shop, self.visitor, before).await?;
                self.next = match next {
                    Some(next) if next.get() > self.lowest => {
                        NextPiece::Animals { before: Some(next) }
                    }
                    _ => NextPiece::Last,
                };
                let urls = piece(&self.shop, &pets, self.lowest).map_err(internal_error)?;
                Ok(Some(urls))
            }
            NextPiece::Last => {
                self.next = NextPiece::None;
                let piece = last_piece().map_err(internal_error)?;
                Ok(Some(piece))
            }
            NextPiece::None => Ok(None),
        }
    }
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

/// Returns the addresses of the animals whose ids are not below `lowest`.
fn piece(shop: &Shop, pets: &[StorePet], lowest: i64) -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    for pet in pets.iter().take_while(|pet| pet.id.get() >= lowest) {
        let url = shop.url(&format!("/animals/{}", pet.id));
        write_url(&mut writer, &url, Some(pet))?;
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

/// Writes the address of a page, and the day on which its animal changed.
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

/// Responds to `GET /robots.txt`.
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
