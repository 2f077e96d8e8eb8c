//! `/animals.atom`: the newest animals, for feed readers (RFC 4287).

use std::fmt::Write;

use jiff::Timestamp;

use super::{animal::Animal, query::Query, rendered::Made, shop::Shop, texts, xml::escaped};
use crate::{
    domain::store_area::PhotoSize,
    edge::ApiError,
    text::readable::{LONG, readable},
};

/// `GET /animals.atom`.
pub(super) async fn page(shop: &Shop) -> Result<Made, ApiError> {
    let fields = shop.fields().await?;
    let listed = shop.list(&Query::first(), &fields).await?;
    // An animal that is older than its times has none.
    let changed_at = |animal: &Animal| animal.changed_at.unwrap_or(Timestamp::UNIX_EPOCH);
    let newest = listed.animals.iter().map(changed_at).max().unwrap_or(Timestamp::UNIX_EPOCH);
    let title = shop.name().unwrap_or(texts::NO_STORE);
    let mut feed = String::new();
    let _ = write!(
        feed,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n\
         <id>{}</id>\n<title>{}</title>\n<updated>{newest}</updated>\n\
         <author><name>{}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n",
        texts::LANGUAGE,
        escaped(&shop.url("/animals.atom")),
        escaped(title),
        escaped(title),
        escaped(&shop.url("/animals.atom")),
        escaped(&shop.url("/")),
    );
    for animal in &listed.animals {
        let (name, url) = (animal.short_name(), escaped(&shop.url(&animal.path())));
        let about = animal.description().map(|text| readable(text, LONG));
        let about =
            about.unwrap_or_else(|| texts::about_animal(&name, &animal.kind(), shop.name()));
        let _ = write!(
            feed,
            "<entry>\n<id>{url}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
             <link rel=\"alternate\" type=\"text/html\" href=\"{url}\"/>\n<summary>{}</summary>\n",
            escaped(&name),
            changed_at(animal),
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
