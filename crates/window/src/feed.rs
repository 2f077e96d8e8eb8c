//! `/animals.atom`: the newest animals as an Atom feed (RFC 4287).

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
    returned_pets::ReturnedPet,
    selection::FilterMatcher,
    shop::{Shop, Snapshot},
    store,
    xml::{XmlWriter, internal_error, write_declaration, write_text},
};

/// An entry of the feed: an animal that is new, or that became available again.
struct Entry<'p> {
    /// When the animal was added, or when it became available again.
    published_at: Timestamp,
    /// A URL fragment that makes the id of the entry unique, such as `#back-42`, where 42 is the
    /// number of the change that made the animal available again. Empty for a new animal. Feed
    /// readers treat an entry with a new id as unread.
    id_fragment: String,
    pet: &'p StorePet,
}

impl<'p> Entry<'p> {
    /// Returns the entry of an animal that is new.
    fn for_new_pet(pet: &'p StorePet) -> Self {
        Self {
            // Animals that were created by an early release have no timestamps.
            published_at: pet.created_at.unwrap_or(Timestamp::UNIX_EPOCH),
            id_fragment: String::new(),
            pet,
        }
    }

    /// Returns the additional entry of an animal that became available again.
    fn for_returned_pet(returned_pet: &'p ReturnedPet) -> Self {
        Self {
            published_at: returned_pet.changed_at,
            id_fragment: format!("#back-{}", returned_pet.seq),
            pet: &returned_pet.pet,
        }
    }
}

/// The content of a feed, ready to be written as XML.
struct Feed<'p> {
    shop: &'p Shop,
    snapshot: &'p Snapshot,
    query: &'p Query,
    /// The entries, newest first.
    entries: Vec<Entry<'p>>,
}

/// Renders `GET /animals.atom`: the newest animals that pass the filter. An animal that became
/// available again, for example because its order was cancelled, gets an additional entry.
pub(super) async fn render_page(
    shop: &Shop,
    snapshot: &Snapshot,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let returned_pets = shop.returned_pets(snapshot).await?;
    // An animal in data of an earlier version may have been sold or taken off the website since. Leave
    // such data out. The page is then not cached.
    let current_returned_pets = if returned_pets.is_current {
        &returned_pets.value[..]
    } else {
        &[]
    };
    let list_page = shop.read_list_page(query, snapshot).await?;
    let feed = Feed {
        shop,
        snapshot,
        query,
        entries: newest_entries(&list_page.pets, current_returned_pets, snapshot, query),
    };
    let body = feed.to_xml().map_err(internal_error)?;

    let mut page = RenderedPage::new("application/atom+xml; charset=utf-8", body);
    page.is_current = returned_pets.is_current;
    Ok(page)
}

/// Merges new animals (`pets`) and animals that became available again (`returned_pets`) into entries,
/// newest first. The number of entries is at most the page length of the query.
///
/// The filter of the query has already selected `pets`. It selects the `returned_pets` here.
fn newest_entries<'p>(
    pets: &'p [StorePet],
    returned_pets: &'p [ReturnedPet],
    snapshot: &Snapshot,
    query: &Query,
) -> Vec<Entry<'p>> {
    let mut entries: Vec<_> = pets.iter().map(Entry::for_new_pet).collect();
    let matcher = FilterMatcher::new(&query.filter, &snapshot.fields);
    for returned_pet in returned_pets {
        if matcher.matches(&returned_pet.pet) {
            entries.push(Entry::for_returned_pet(returned_pet));
        }
    }

    entries.sort_by_key(|entry| Reverse(entry.published_at));
    entries.truncate(query.limit.get().into());
    entries
}

impl Feed<'_> {
    /// Serializes the feed as an XML document, with each element on its own line.
    fn to_xml(&self) -> io::Result<Vec<u8>> {
        // Without spaces for the indent, each element only begins a new line.
        let spaces = 0;
        let mut writer = XmlWriter::new_with_indent(Vec::new(), b' ', spaces);
        let namespace = ("xmlns", "http://www.w3.org/2005/Atom");
        let language = ("xml:lang", texts().language);

        write_declaration(&mut writer)?;
        writer
            .create_element("feed")
            .with_attributes([namespace, language])
            .write_inner_content(|feed_element| {
                self.write_metadata(feed_element)?;
                for entry in &self.entries {
                    feed_element
                        .create_element("entry")
                        .write_inner_content(|element| self.write_entry(element, entry))?;
                }
                Ok(())
            })?;
        // Terminates the last line with a newline.
        writer.write_indent()?;
        Ok(writer.into_inner())
    }

    /// Writes the metadata of the feed: its id, title, time, author and links.
    fn write_metadata(&self, element: &mut XmlWriter) -> io::Result<()> {
        let parameters = self.query.canonical_query_string();
        let feed_url = self.shop.url(&format!("/animals.atom{parameters}"));
        let list_url = self.shop.url(&format!("/{parameters}"));
        let store_name = store::display_name(&self.snapshot.facts);
        // Atom requires a time even if the feed has no entries.
        let newest_entry = self.entries.first();
        let updated_at = newest_entry.map_or(Timestamp::UNIX_EPOCH, |entry| entry.published_at);

        write_text(element, "id", &feed_url)?;
        write_text(element, "title", &store_name)?;
        write_text(element, "updated", &updated_at.to_string())?;
        element
            .create_element("author")
            .write_inner_content(|author| write_text(author, "name", &store_name))?;
        write_link(element, "self", "application/atom+xml", &feed_url)?;
        write_link(element, "alternate", "text/html", &list_url)
    }

    /// Writes the content of the `entry` element for an entry of the feed.
    fn write_entry(&self, element: &mut XmlWriter, entry: &Entry) -> io::Result<()> {
        let facts = &self.snapshot.facts;
        let animal = Animal::public(entry.pet, &self.snapshot.fields);
        let name = animal.short_name();
        let url = self.shop.url(&animal.path());
        let id = format!("{url}{}", entry.id_fragment);
        let published_at = entry.published_at.to_string();
        let summary = animal.summary(LONG_LENGTH).unwrap_or_else(|| {
            texts().about_animal(&name, &animal.kind(), store::own_name(facts).as_deref())
        });

        write_text(element, "id", &id)?;
        write_text(element, "title", &name)?;
        write_text(element, "published", &published_at)?;
        // Not the time of the last change: that could reveal changes of values that are not public.
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

/// Writes a `link` element, such as `<link rel="self" type="application/atom+xml" href="…"/>`.
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
