//! `/animals.atom`: the newest animals, for feed readers (RFC 4287).

use std::{cmp::Reverse, collections::HashMap, fmt::Write};

use jiff::Timestamp;

use super::{query::Query, rendered::Made, selection::Passing, shop::Shop, store, xml::escaped};
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{
            ChangeType::{OrderCancelled, OrderExpired, OrderReturned, PetRestored},
            PhotoSize, StorePet,
        },
    },
    edge::ApiError,
    languages::window_texts as texts,
    look::Animal,
    store::StoreError,
    text::readable::LONG,
};

/// Among how many of the newest changes animals that came back are looked for, and how many are read at once.
const CHANGES: i64 = 1_000;
const READ: u32 = 100;

/// `GET /animals.atom`: the newest animals that pass the filter, and those that came back, as entries of their own.
pub(super) async fn page(shop: &Shop, query: &Query) -> Result<Made, ApiError> {
    let (fields, facts) = (shop.fields().await?, shop.facts().await?);
    let listed = shop.list(query, &fields).await?;
    // An animal that is older than its times has none.
    let added_at = |pet: &StorePet| pet.created_at.unwrap_or(Timestamp::UNIX_EPOCH);
    let new = listed.pets.into_iter().map(|pet| (added_at(&pet), String::new(), pet));
    let mut entries: Vec<_> = new.collect();
    let passing = Passing::of(&query.filter, &fields);
    let mut back: Vec<_> = came_back(shop).await?.into_iter().collect();
    back.sort_unstable_by_key(|(_, (number, _))| Reverse(*number));
    for (id, (number, at)) in back.into_iter().take(query.limit.get().into()) {
        let pet = shop.store().get_store_pet(id).await?;
        let is_here = |pet: &StorePet| pet.withdrawn.is_none() && pet.status != PetStatus::Sold;
        if let Some(pet) = pet.filter(|pet| is_here(pet) && passing.has(pet)) {
            entries.push((at, format!("#back-{number}"), pet));
        }
    }
    entries.sort_by_key(|(at, ..)| Reverse(*at));
    entries.truncate(query.limit.get().into());
    let newest = entries.first().map_or(Timestamp::UNIX_EPOCH, |(at, ..)| *at);
    let own = shop.url(&format!("/animals.atom{}", query.canonical()));
    let title = store::name(&facts);
    let mut feed = String::new();
    let _ = write!(
        feed,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n\
         <id>{}</id>\n<title>{}</title>\n<updated>{newest}</updated>\n\
         <author><name>{}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n",
        texts().language,
        escaped(&own),
        escaped(&title),
        escaped(&title),
        escaped(&own),
        escaped(&shop.url(&format!("/{}", query.canonical()))),
    );
    for (at, fragment, pet) in &entries {
        let animal = Animal::public(pet, &fields);
        let (name, url) = (animal.short_name(), escaped(&shop.url(&animal.path())));
        let about = animal.summary(LONG);
        let about = about.unwrap_or_else(|| {
            texts().about_animal(&name, &animal.kind(), store::named(&facts).as_deref())
        });
        // Later changes may be of values that are not public, so they are not told.
        let _ = write!(
            feed,
            "<entry>\n<id>{}</id>\n<title>{}</title>\n<published>{at}</published>\n<updated>{at}</updated>\n\
             <link rel=\"alternate\" type=\"text/html\" href=\"{url}\"/>\n<summary>{}</summary>\n",
            [&url, fragment.as_str()].concat(),
            escaped(&name),
            escaped(&about),
        );
        if let Some(photo) = animal.photos.first() {
            let photo = escaped(&shop.url(&photo.path(PhotoSize::Large)));
            let link = "<link rel=\"enclosure\" type=\"image/jpeg\" href=";
            let _ = writeln!(feed, "{link}\"{photo}\"/>");
        }
        feed.push_str("</entry>\n");
    }
    feed.push_str("</feed>\n");
    Ok(Made::new("application/atom+xml; charset=utf-8", feed.into_bytes()))
}

/// The animals that became available again, each with the number and time of the last change that did it.
async fn came_back(shop: &Shop) -> Result<HashMap<PetId, (i64, Timestamp)>, StoreError> {
    let log = shop.store().journal_state().await?;
    let (mut position, mut found) = ((log.last - CHANGES).max(log.first - 1), HashMap::new());
    while position < log.last {
        let page = shop.store().changes_after(position, None, READ).await?;
        for change in page.changes {
            let is_back = [OrderCancelled, OrderExpired, OrderReturned, PetRestored];
            if change.kind.known().is_some_and(|kind| is_back.contains(&kind))
                && let Some(id) = change.pet.and_then(PetId::new)
            {
                found.insert(id, (change.seq, change.at));
            }
        }
        if page.read_to == position {
            break;
        }
        position = page.read_to;
    }
    Ok(found)
}
