//! `/animals.atom`: the newest animals, for feed readers (RFC 4287).

use std::{cmp::Reverse, io};

use jiff::Timestamp;
use petstore_domain::{
    store_area::{PhotoSize, StorePet},
    text::readable::LONG_LENGTH,
};
use petstore_languages::{look::Animal, window_texts as texts};
use petstore_web::edge::ApiError;

use super::{
    query::Query,
    rendered::RenderedPage,
    selection::{CameBack, FilterMatcher},
    shop::{Moment, Shop},
    store,
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// An animal that is new, or that came back.
struct Entry<'p> {
    /// The time at which the animal was added or came back.
    published_at: Timestamp,
    /// The part of the identifier that an animal has only when it came back.
    fragment: String,
    pet: &'p StorePet,
}

/// A feed before it is written.
struct Feed<'p> {
    shop: &'p Shop,
    moment: &'p Moment,
    query: &'p Query,
    /// The newest entries first.
    entries: Vec<Entry<'p>>,
}

/// Renders `GET /animals.atom`: the newest animals that pass the filter, and the animals that came back, as entries of
/// their own.
pub(super) async fn page(
    shop: &Shop,
    moment: &Moment,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let came_back = shop.came_back(moment).await?;
    // An animal of an earlier moment may have left the store or the website since.
    let present_returns = if came_back.is_current {
        &came_back.value[..]
    } else {
        &[]
    };
    let list_page = shop.list_page(query, moment).await?;
    let feed = Feed {
        shop,
        moment,
        query,
        entries: newest_entries(&list_page.pets, present_returns, moment, query),
    };
    let body = feed.write().map_err(internal_error)?;

    let mut page = RenderedPage::new("application/atom+xml; charset=utf-8", body);
    page.is_current = came_back.is_current;
    Ok(page)
}

/// Returns the newest entries of these animals, as many as the query asks for.
fn newest_entries<'p>(
    pets: &'p [StorePet],
    came_back: &'p [CameBack],
    moment: &Moment,
    query: &Query,
) -> Vec<Entry<'p>> {
    let mut entries = Vec::new();
    for pet in pets {
        entries.push(Entry {
            // An animal of an early release has no times.
            published_at: pet.created_at.unwrap_or(Timestamp::UNIX_EPOCH),
            fragment: String::new(),
            pet,
        });
    }

    let matcher = FilterMatcher::new(&query.filter, &moment.fields);
    for came_back in came_back {
        if matcher.matches(&came_back.pet) {
            entries.push(Entry {
                published_at: came_back.changed_at,
                fragment: format!("#back-{}", came_back.seq),
                pet: &came_back.pet,
            });
        }
    }

    entries.sort_by_key(|entry| Reverse(entry.published_at));
    entries.truncate(query.limit.get().into());
    entries
}

impl Feed<'_> {
    /// Returns the document, with each element on a line of its own.
    fn write(&self) -> io::Result<Vec<u8>> {
        let mut writer = XmlWriter::new_with_indent(Vec::new(), b' ', 0);
        let namespace = ("xmlns", "http://www.w3.org/2005/Atom");
        let language = ("xml:lang", texts().language);

        write_declaration(&mut writer)?;
        writer
            .create_element("feed")
            .with_attributes([namespace, language])
            .write_inner_content(|feed| {
                self.write_head(feed)?;
                for entry in &self.entries {
                    feed.create_element("entry")
                        .write_inner_content(|element| self.write_entry(element, entry))?;
                }
                Ok(())
            })?;
        // Ends the last line.
        writer.write_indent()?;
        Ok(writer.into_inner())
    }

    /// Writes what the feed says about itself.
    fn write_head(&self, feed: &mut XmlWriter) -> io::Result<()> {
        let parameters = self.query.canonical();
        let feed_url = self.shop.url(&format!("/animals.atom{parameters}"));
        let list_url = self.shop.url(&format!("/{parameters}"));
        let store_name = store::display_name(&self.moment.facts);
        let newest = self.entries.first();
        let updated_at = newest.map_or(Timestamp::UNIX_EPOCH, |entry| entry.published_at);

        write_text(feed, "id", &feed_url)?;
        write_text(feed, "title", &store_name)?;
        write_text(feed, "updated", &updated_at.to_string())?;
        feed.create_element("author")
            .write_inner_content(|author| write_text(author, "name", &store_name))?;
        write_link(feed, "self", "application/atom+xml", &feed_url)?;
        write_link(feed, "alternate", "text/html", &list_url)
    }

    /// Writes what an entry contains.
    fn write_entry(&self, element: &mut XmlWriter, entry: &Entry) -> io::Result<()> {
        let facts = &self.moment.facts;
        let animal = Animal::public(entry.pet, &self.moment.fields);
        let name = animal.short_name();
        let url = self.shop.url(&animal.path());
        let published_at = entry.published_at.to_string();
        let summary = animal.summary(LONG_LENGTH).unwrap_or_else(|| {
            texts().about_animal(&name, &animal.kind(), store::own_name(facts).as_deref())
        });

        write_text(element, "id", &[url.as_str(), &entry.fragment].concat())?;
        write_text(element, "title", &name)?;
        write_text(element, "published", &published_at)?;
        // Later changes may be of values that are not public, so they are not told.
        write_text(element, "updated", &published_at)?;
        write_link(element, "alternate", "text/html", &url)?;
        write_text(element, "summary", &summary)?;
        if let Some(photo) = animal.photos.first() {
            let photo_url = self.shop.url(&photo.path(PhotoSize::Large));
            write_link(element, "enclosure", "image/jpeg", &photo_url)?;
        }
        Ok(())
    }
}

/// Writes a link to what has this relation and media type.
fn write_link(
    element: &mut XmlWriter,
    relation: &str,
    media_type: &str,
    url: &str,
) -> io::Result<()> {
    let attributes = [("rel", relation), ("type", media_type), ("href", url)];
    element
        .create_element("link")
        .with_attributes(attributes)
        .write_empty()?;
    Ok(())
}
