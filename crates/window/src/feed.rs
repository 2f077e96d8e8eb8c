//! `/animals.atom`: the newest animals, for feed readers (RFC 4287).

use std::{cmp::Reverse, fmt::Write};

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
    xml::escaped,
};

/// `GET /animals.atom`: the newest animals that pass the filter, and those that came back, as entries of their own.
pub(super) async fn page(shop: &Shop, moment: &Moment, query: &Query) -> Result<Made, ApiError> {
    let came_back = shop.came_back(moment).await?;
    let listed = shop.list(query, &moment.fields).await?;
    // An animal that is older than its times has none.
    let added_at = |pet: &StorePet| pet.created_at.unwrap_or(Timestamp::UNIX_EPOCH);
    let mut entries: Vec<_> =
        listed.pets.iter().map(|pet| (added_at(pet), String::new(), pet)).collect();
    let passing = Passing::of(&query.filter, &moment.fields);
    for CameBack { seq, at, pet } in came_back.value.iter() {
        if passing.has(pet) {
            entries.push((*at, format!("#back-{seq}"), pet));
        }
    }
    entries.sort_by_key(|(at, ..)| Reverse(*at));
    entries.truncate(query.limit.get().into());
    let newest = entries.first().map_or(Timestamp::UNIX_EPOCH, |(at, ..)| *at);
    let own = shop.url(&format!("/animals.atom{}", query.canonical()));
    let title = store::name(&moment.facts);
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
        let animal = Animal::public(pet, &moment.fields);
        let (name, url) = (animal.short_name(), escaped(&shop.url(&animal.path())));
        let about = animal.summary(LONG);
        let about = about.unwrap_or_else(|| {
            texts().about_animal(&name, &animal.kind(), store::named(&moment.facts).as_deref())
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
    let is_current = came_back.is_current;
    let media_type = "application/atom+xml; charset=utf-8";
    Ok(Made { is_current, ..Made::new(media_type, feed.into_bytes()) })
}
