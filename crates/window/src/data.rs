//! `/animals.json`: the list for a store's own site.

use hyper::header::HeaderValue;
use petstore_app::StoreFacts;
use petstore_domain::{
    PetId,
    store_area::{Currency, FieldValue, Photo, PhotoSize},
};
use petstore_languages::look::Animal;
use petstore_web::edge::ApiError;
use serde_json::{Map, Value, json};

use super::{
    labels::Labels,
    query::Query,
    rendered::RenderedPage,
    shop::{Moment, Shop},
};

/// Renders `GET /animals.json`.
pub(super) async fn page(
    shop: &Shop,
    moment: &Moment,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let list_page = shop.list_page(query, moment).await?;
    let elements = list_page
        .animals()
        .iter()
        .map(|animal| element(shop, &moment.facts, animal, &list_page.labels))
        .collect();
    let body = Value::Array(elements).to_string().into_bytes();

    let mut page = RenderedPage::new("application/json", body);
    page.link = list_page.next.and_then(|next| link(shop, query, next));
    Ok(page)
}

/// Returns the `Link` to the page after the animal `next`.
fn link(shop: &Shop, query: &Query, next: PetId) -> Option<HeaderValue> {
    let parameters = query.with_cursor(Some(next));
    let limit = query.limit.get();
    let url = shop.url(&format!("/animals.json{parameters}&limit={limit}"));
    HeaderValue::try_from(format!("<{url}>; rel=\"next\"")).ok()
}

/// Returns an animal as an element of the list.
fn element(shop: &Shop, facts: &StoreFacts, animal: &Animal<'_>, labels: &Labels) -> Value {
    let mut values = Map::new();
    for (field, value) in &animal.values {
        let value = match value {
            FieldValue::Text(text) => json!(field.display_text(text)),
            FieldValue::Integer(number) => json!(number),
            FieldValue::Boolean(value) => json!(value),
        };
        values.insert(field.name.as_str().to_owned(), value);
    }
    let photos: Vec<_> = animal
        .photos
        .iter()
        .enumerate()
        .map(|(index, photo)| photo_element(shop, photo, &animal.alt(index, photo)))
        .collect();
    let updated_on = animal.changed_at.map(|time| facts.day_of(time).to_string());

    json!({
        "id": animal.id.get(),
        "name": animal.name,
        "status": animal.status.as_str(),
        "category": labels.label(animal.category_id),
        "fields": values,
        "photos": photos,
        "url": shop.url(&animal.path()),
        "currency": facts.currency().value.map(Currency::as_str),
        "updatedOn": updated_on,
    })
}

/// Returns a photo, with the URLs of its files by their sizes.
fn photo_element(shop: &Shop, photo: &Photo, alt: &str) -> Value {
    let mut element = json!({
        "alt": alt,
        "width": photo.width,
        "height": photo.height,
    });
    for size in PhotoSize::ALL {
        element[size.as_str()] = shop.url(&photo.path(size)).into();
    }
    element
}
