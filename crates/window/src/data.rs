//! `/animals.json`: the list for a store's own site.

use hyper::header::HeaderValue;
use petstore_domain::store_area::{Currency, FieldValue, Photo, PhotoSize};
use petstore_languages::look::Animal;
use petstore_web::edge::ApiError;
use serde_json::{Map, Value, json};

use super::{
    labels::Labels,
    query::Query,
    rendered::Made,
    shop::{Moment, Shop},
};

/// `GET /animals.json`.
pub(super) async fn page(shop: &Shop, moment: &Moment, query: &Query) -> Result<Made, ApiError> {
    let currency = moment.facts.currency().value;
    let listed = shop.list(query, &moment.fields).await?;
    let animals = listed.animals();
    let animals = animals
        .iter()
        .map(|animal| element(shop, animal, &listed.labels, currency));
    let body = Value::Array(animals.collect()).to_string().into_bytes();
    let link = listed.next.and_then(|next| {
        let (query, limit) = (query.with_cursor(Some(next)), query.limit.get());
        let target = shop.url(&format!("/animals.json{query}&limit={limit}"));
        HeaderValue::try_from(format!("<{target}>; rel=\"next\"")).ok()
    });
    Ok(Made {
        link,
        ..Made::new("application/json", body)
    })
}

fn element(shop: &Shop, animal: &Animal, labels: &Labels, currency: Option<&Currency>) -> Value {
    let values = animal.values.iter().map(|(field, value)| {
        let value = match value {
            FieldValue::Text(text) => json!(field.shown(text)),
            FieldValue::Integer(number) => json!(number),
            FieldValue::Boolean(value) => json!(value),
        };
        (field.name.as_str().to_owned(), value)
    });
    let photo = |(at, photo): (usize, &Photo)| {
        let mut json = json!({
            "alt": animal.alt(at, photo),
            "width": photo.width,
            "height": photo.height,
        });
        for size in PhotoSize::ALL {
            json[size.as_str()] = shop.url(&photo.path(size)).into();
        }
        json
    };
    json!({
        "id": animal.id.get(),
        "name": animal.name,
        "status": animal.status.as_str(),
        "category": labels.get(animal.category_id),
        "fields": values.collect::<Map<String, Value>>(),
        "photos": animal.photos.iter().enumerate().map(photo).collect::<Vec<_>>(),
        "url": shop.url(&animal.path()),
        "currency": currency.map(Currency::as_str),
        "updatedOn": animal.changed_at.map(|at| at.strftime("%F").to_string()),
    })
}
