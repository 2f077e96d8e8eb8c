//! `/sitemap.xml` and `/robots.txt`, for search engines (sitemaps.org).
//!
//! As long as one sitemap can hold all animals, `/sitemap.xml` is this sitemap. With more animals, it is
//! an index of sitemaps such as `/sitemap-1.xml`, each with the animals in a fixed block of ids.

use std::{io, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use petstore_domain::{
    PetId,
    client::ClientAddress,
    store_area::{PetQuery, StorePet},
    text::parse_integer,
};
use petstore_store::StoreError;
use petstore_web::edge::{ApiError, Response};
use quick_xml::events::{BytesEnd, BytesStart, Event};

use super::{
    offers::{constant_limit, count_pets, read_pet_page},
    rendered::RenderedPage,
    shop::Shop,
    walk::{self, FilePermit},
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// The number of ids in the block of a sitemap. The protocol allows 50,000 URLs in a sitemap, and the
/// first sitemap also contains the URL of the list. Because a block is a range of ids, an animal always
/// stays in the same sitemap.
const BLOCK_LENGTH: i64 = 49_999;

/// The media type of sitemaps.
const XML: &str = "application/xml; charset=utf-8";

/// The XML namespace of sitemaps.
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// The range of ids that one sitemap covers.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The lowest id of the block.
    lowest: i64,
    /// The id after the highest one of the block. It is `None` if the block has no upper bound.
    end: Option<PetId>,
}

/// The piece of a sitemap that is generated next.
enum NextPiece {
    /// The URLs of the next page of animals, newest first. The page begins below the id `before`, or
    /// with the newest animal if there is no `before`.
    Animals { before: Option<PetId> },
    /// The closing tag of the document.
    ClosingTag,
    /// Nothing: the sitemap is complete.
    Done,
}

/// The state of a sitemap that is being streamed.
struct SitemapFile {
    shop: Arc<Shop>,
    visitor: Option<ClientAddress>,
    /// The lowest id of the block. The sitemap ends before the first animal below it.
    lowest: i64,
    next: NextPiece,
    _permit: FilePermit,
}

impl Block {
    /// The block of all ids.
    pub(super) const WHOLE: Self = Self {
        lowest: 0,
        end: None,
    };

    /// Returns the block with this number. Returns `None` if its ids would exceed the range of
    /// valid ids.
    ///
    /// Example: block 1 contains the ids from 49,999 to 99,997.
    fn with_number(number: i64) -> Option<Self> {
        let lowest = number.checked_mul(BLOCK_LENGTH)?;
        let end = PetId::new(lowest.checked_add(BLOCK_LENGTH)?)?;
        Some(Self {
            lowest,
            end: Some(end),
        })
    }
}

/// Renders the index of the sitemaps. The page is empty if a single sitemap can hold all animals:
/// the caller then responds with that sitemap instead.
pub(super) async fn render_index(shop: &Shop) -> Result<RenderedPage, ApiError> {
    let newest_query = PetQuery {
        is_on_offer: true,
        newest_first: true,
        limit: constant_limit(1),
        ..PetQuery::default()
    };
    // The length of a block fits into every `usize`.
    let max_count = usize::try_from(BLOCK_LENGTH).unwrap_or(usize::MAX);
    let count = count_pets(shop.store(), newest_query.clone(), max_count).await?;
    if count <= max_count {
        return Ok(RenderedPage::new(XML, Vec::new()));
    }

    let numbers = find_block_numbers(shop, newest_query).await?;
    let document = write_index(shop, &numbers).map_err(internal_error)?;
    Ok(RenderedPage::new(XML, document))
}

/// Finds the blocks with animals, and returns their numbers, highest first. `newest_query` selects
/// the newest animal.
///
/// Reads only the newest animal of each block, and then skips to the next lower block with animals.
/// Block 0 is always included, because its sitemap also contains the URL of the list.
async fn find_block_numbers(
    shop: &Shop,
    mut newest_query: PetQuery,
) -> Result<Vec<i64>, StoreError> {
    let mut numbers = Vec::new();
    loop {
        let page = read_pet_page(shop.store(), &newest_query).await?;
        let Some(pet) = page.pets.first() else { break };
        let number = pet.id.get() / BLOCK_LENGTH;
        if number > 0 {
            numbers.push(number);
        }
        // Continue below the lowest id of this block. No id is below block 0: 0 is not a valid id.
        let Some(lowest) = PetId::new(number * BLOCK_LENGTH) else {
            break;
        };
        newest_query.after = Some(lowest);
    }
    numbers.push(0);
    Ok(numbers)
}

/// Writes the index of the sitemaps of the given blocks.
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

/// Parses the block number in the path `/sitemap-{number}.xml`. Fails with 404 if it is not a valid
/// block number.
pub(super) fn parse_block(text: &str) -> Result<Block, ApiError> {
    parse_integer(text)
        .filter(|number| *number >= 0)
        .and_then(Block::with_number)
        .ok_or_else(ApiError::no_such_path)
}

/// Responds with the sitemap of a block: the URLs of its animals and, in the first block, of the
/// list. The sitemap is generated while the client downloads it.
pub(super) fn respond(
    shop: &Arc<Shop>,
    visitor: Option<ClientAddress>,
    block: Block,
    permit: FilePermit,
) -> Result<Response, ApiError> {
    let first_piece = render_opening_piece(shop, block.lowest).map_err(internal_error)?;
    let file = SitemapFile {
        shop: Arc::clone(shop),
        visitor,
        lowest: block.lowest,
        next: NextPiece::Animals { before: block.end },
        _permit: permit,
    };
    let further_pieces = stream::try_unfold(file, async |mut file| {
        let piece = file.next_piece().await?;
        Ok(piece.map(|piece| (piece, file)))
    });
    Ok(walk::file_response(XML, first_piece, further_pieces))
}

impl SitemapFile {
    /// Generates the next piece. Returns `None` when the sitemap is complete.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.next {
            NextPiece::Animals { before } => {
                let urls = self.next_urls(before).await?;
                Ok(Some(urls))
            }
            NextPiece::ClosingTag => {
                self.next = NextPiece::Done;
                let closing_tag = render_closing_piece().map_err(internal_error)?;
                Ok(Some(closing_tag))
            }
            NextPiece::Done => Ok(None),
        }
    }

    /// Generates the URLs of the next page of animals: see [`NextPiece::Animals`].
    async fn next_urls(&mut self, before: Option<PetId>) -> Result<Bytes, StoreError> {
        let page = walk::read_page_in_turn(&self.shop, self.visitor, before).await?;
        self.next = match page.next {
            Some(next) if next.get() > self.lowest => NextPiece::Animals { before: Some(next) },
            _ => NextPiece::ClosingTag,
        };
        render_animals_piece(&self.shop, &page.pets, self.lowest).map_err(internal_error)
    }
}

/// Renders the beginning of a sitemap. In the first block, this includes the URL of the list.
fn render_opening_piece(shop: &Shop, lowest: i64) -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    write_start(&mut writer, "urlset")?;
    let is_first_block = lowest == 0;
    if is_first_block {
        write_url(&mut writer, &shop.url("/"), None)?;
    }
    Ok(writer.into_inner().into())
}

/// Renders the URLs of animals, which are in descending order of their ids. Stops before the first
/// id below `lowest`.
fn render_animals_piece(shop: &Shop, pets: &[StorePet], lowest: i64) -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    for pet in pets.iter().take_while(|pet| pet.id.get() >= lowest) {
        let url = shop.url(&format!("/animals/{}", pet.id));
        write_url(&mut writer, &url, Some(pet))?;
    }
    Ok(writer.into_inner().into())
}

/// Renders the closing tag of a sitemap.
fn render_closing_piece() -> io::Result<Bytes> {
    let mut writer = XmlWriter::new(Vec::new());
    write_end(&mut writer, "urlset")?;
    Ok(writer.into_inner().into())
}

/// Writes the XML declaration and the opening tag of the root element.
fn write_start(writer: &mut XmlWriter, root: &str) -> io::Result<()> {
    write_declaration(writer)?;
    end_line(writer);
    let start = BytesStart::new(root).with_attributes([("xmlns", NAMESPACE)]);
    writer.write_event(Event::Start(start))?;
    end_line(writer);
    Ok(())
}

/// Writes the closing tag of the root element.
fn write_end(writer: &mut XmlWriter, root: &str) -> io::Result<()> {
    writer.write_event(Event::End(BytesEnd::new(root)))?;
    end_line(writer);
    Ok(())
}

/// Ends a line of the document, in which every URL has a line of its own.
fn end_line(writer: &mut XmlWriter) {
    writer.get_mut().push(b'\n');
}

/// Writes the `url` element of a page. For the page of the animal `pet`, the element includes the
/// day of the animal's last change.
fn write_url(writer: &mut XmlWriter, url: &str, pet: Option<&StorePet>) -> io::Result<()> {
    let changed_at = pet.and_then(|pet| pet.updated_at.or(pet.created_at));
    writer
        .create_element("url")
        .write_inner_content(|element| {
            write_text(element, "loc", url)?;
            if let Some(changed_at) = changed_at {
                // Only the day, because an exact time would reveal when private values change.
                write_text(element, "lastmod", &changed_at.strftime("%F").to_string())?;
            }
            Ok(())
        })?;
    end_line(writer);
    Ok(())
}

/// Responds to `GET /robots.txt`. Crawlers skip `/embed`, which has the same content as the list.
pub(super) fn respond_with_robots(shop: &Shop) -> Response {
    let sitemap = shop.url("/sitemap.xml");
    let text = format!("User-agent: *\nDisallow: /embed\nSitemap: {sitemap}\n");
    let mut response = Response::new(Bytes::from(text).into());
    let media_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}
