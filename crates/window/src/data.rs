//! `/animals.json`: the list as JSON, for scripts on the store's own website.

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
    shop::{Shop, Snapshot},
};

/// Renders `GET /animals.json`: one page of the list as a JSON array. The `Link` header has the URL of
/// the next page, if there is one.
pub(super) async fn render_page(
    shop: &Shop,
    snapshot: &Snapshot,
    query: &Query,
) -> Result<RenderedPage, ApiError> {
    let list_page = shop.read_list_page(query, snapshot).await?;
    let elements = list_page
        .animals()
        .iter()
        .map(|animal| render_animal(shop, &snapshot.facts, animal, &list_page.labels))
        .collect();
    let body = Value::Array(elements).to_string().into_bytes();

    let mut page = RenderedPage::new("application/json", body);
    page.link = list_page
        .next
        .and_then(|next| next_page_link(shop, query, next));
    Ok(page)
}

/// Returns the `Link` header with the URL of the next page, which begins after the animal `cursor`.
///
/// Example: `<https://shop.example/animals.json?cursor=81&limit=24>; rel="next"`.
fn next_page_link(shop: &Shop, query: &Query, cursor: PetId) -> Option<HeaderValue> {
    // The query string has the cursor, so it is not empty, and `limit` can follow with `&`.
    let parameters = query.query_string_after(Some(cursor));
    let limit = query.limit.get();
    let url = shop.url(&format!("/animals.json{parameters}&limit={limit}"));
    // A URL is always valid in a header.
    HeaderValue::try_from(format!("<{url}>; rel=\"next\"")).ok()
}

/// Renders an animal as an element of the JSON array.
fn render_animal(shop: &Shop, facts: &StoreFacts, animal: &Animal<'_>, labels: &Labels) -> Value {
    let mut values = Map::new();
    for (field, value) in &animal.values {
        let json_value = match value {
            FieldValue::Text(text) => json!(field.display_text(text)),
            FieldValue::Integer(number) => json!(number),
            FieldValue::Boolean(is_true) => json!(is_true),
        };
        values.insert(field.name.as_str().to_owned(), json_value);
    }
    let photos: Vec<_> = animal
        .photos
        .iter()
        .enumerate()
        .map(|(index, photo)| render_photo(shop, photo, &animal.alt(index, photo)))
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

/// Renders a photo as JSON, with one URL per size.
fn render_photo(shop: &Shop, photo: &Photo, alt: &str) -> Value {
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
