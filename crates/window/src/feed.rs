//! `/animals.atom`: the newest animals, for feed readers (RFC 4287).

use std::{cmp::Reverse, io};

use jiff::Timestamp;
use petstore_domain::{
    store_area::{PhotoSize, StorePet},
    text::readable::LONG,
};
use petstore_languages::{look::Animal, window_texts as texts};
use petstore_web::edge::ApiError;

use super::{
    query::Query,
    rendered::Made,
    selection::{CameBack, Passing},
    shop::{Moment, Shop},
    store,
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// An animal that is new, or that came back.
struct Entry<'p> {
    at: Timestamp,
    /// The part of the identifier that an animal has only when it came back.
    fragment: String,
    pet: &'p StorePet,
}

/// A feed before it is written.
struct Feed<'p> {
    shop: &'p Shop,
    moment: &'p Moment,
    query: &'p Query,
    /// The newest ones first.
    entries: Vec<Entry<'p>>,
}

/// `GET /animals.atom`: the newest animals that pass the filter, and those that came back, as entries of their own.
pub(super) async fn page(shop: &Shop, moment: &Moment, query: &Query) -> Result<Made, ApiError> {
    let came_back = shop.came_back(moment).await?;
    let listed = shop.list(query, &moment.fields).await?;
    let entries = newest_entries(&listed.pets, &came_back.value, moment, query);
    let feed = Feed {
        shop,
        moment,
        query,
        entries,
    };
    let body = feed.write().map_err(internal_error)?;
    let is_current = came_back.is_current;
    let media_type = "application/atom+xml; charset=utf-8";
    Ok(Made {
        is_current,
        ..Made::new(media_type, body)
    })
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
        // An animal that is older than its times has none.
        let at = pet.created_at.unwrap_or(Timestamp::UNIX_EPOCH);
        entries.push(Entry {
            at,
            fragment: String::new(),
            pet,
        });
    }

    let passing = Passing::of(&query.filter, &moment.fields);
    for CameBack { seq, at, pet } in came_back {
        if passing.has(pet) {
            entries.push(Entry {
                at: *at,
                fragment: format!("#back-{seq}"),
                pet,
            });
        }
    }

    entries.sort_by_key(|entry| Reverse(entry.at));
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
        // The end of the last line.
        writer.write_indent()?;
        Ok(writer.into_inner())
    }

    /// Writes what the feed says about itself.
    fn write_head(&self, feed: &mut XmlWriter) -> io::Result<()> {
        let parameters = self.query.canonical();
        let feed_url = self.shop.url(&format!("/animals.atom{parameters}"));
        let list_url = self.shop.url(&format!("/{parameters}"));
        let store_name = store::name(&self.moment.facts);
        let newest = self.entries.first();
        let updated_at = newest.map_or(Timestamp::UNIX_EPOCH, |entry| entry.at);

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
        let at = entry.at.to_string();
        let summary = animal.summary(LONG).unwrap_or_else(|| {
            texts().about_animal(&name, &animal.kind(), store::named(facts).as_deref())
        });

        write_text(element, "id", &[url.as_str(), &entry.fragment].concat())?;
        write_text(element, "title", &name)?;
        write_text(element, "published", &at)?;
        // Later changes may be of values that are not public, so they are not told.
        write_text(element, "updated", &at)?;
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
