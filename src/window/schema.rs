//! What the pages show, as schema.org describes it, for search engines.

use serde_json::{Map, Value, json};

use super::{
    animal::{Animal, shown},
    labels::Labels,
    shop::Shop,
};
use crate::{
    domain::store_area::{Decimal, FieldKind, FieldValue},
    text::readable::{LONG, SHORT, readable},
};

/// The fields that schema.org has a name for, and the name, for a thing that can be sold.
const NAMES: [(&str, &str); 3] = [("colour", "color"), ("color", "color"), ("size", "size")];

/// The fields that are told in another way.
const TOLD: [&str; 2] = ["price", "description"];

/// A page of the list.
pub(super) fn list(shop: &Shop, animals: &[Animal]) -> Value {
    let item = |(at, animal): (usize, &Animal)| {
        json!({
            "@type": "ListItem",
            "position": at + 1,
            "name": animal.short_name(),
            "url": shop.url(&animal.path()),
        })
    };
    json!({
        "@context": "https://schema.org",
        "@type": "ItemList",
        "numberOfItems": animals.len(),
        "itemListElement": animals.iter().enumerate().map(item).collect::<Vec<_>>(),
    })
}

/// An animal on its own page.
pub(super) fn animal(shop: &Shop, animal: &Animal, labels: &Labels) -> Value {
    let mut product = Map::new();
    let mut set = |name: &str, value: Value| drop(product.insert(name.to_owned(), value));
    set("@context", json!("https://schema.org"));
    set("@type", json!("Product"));
    set("name", json!(animal.short_name()));
    set("url", json!(shop.url(&animal.path())));
    set("sku", json!(animal.id.to_string()));
    if let Some(category) = labels.shown(animal.category_id) {
        set("category", json!(category));
    }
    if let Some(text) = animal.description() {
        set("description", json!(readable(text, LONG)));
    }
    if !animal.photos.is_empty() {
        let images: Vec<_> = animal.photos.iter().map(|photo| shop.url(&photo.large)).collect();
        set("image", json!(images));
    }
    let mut others = Vec::new();
    for (field, value) in &animal.values {
        let name = field.name.as_str();
        if TOLD.contains(&name) || field.kind == FieldKind::LongText {
            continue;
        }
        let value = match (field.kind, value) {
            // As programs read it.
            (FieldKind::Date, FieldValue::Text(date)) => date.clone(),
            _ => shown(field, value),
        };
        match NAMES.iter().find(|(own, _)| *own == name) {
            Some((_, theirs)) => set(theirs, json!(value)),
            None => others.push(json!({
                "@type": "PropertyValue",
                "propertyID": name,
                "name": readable(field.label.as_str(), SHORT),
                "value": value,
            })),
        }
    }
    if !others.is_empty() {
        set("additionalProperty", json!(others));
    }
    if let Some(offer) = offer(shop, animal) {
        set("offers", offer);
    }
    Value::Object(product)
}

/// The offer, if there are a price and a currency.
fn offer(shop: &Shop, animal: &Animal) -> Option<Value> {
    let price = animal
        .price()
        .filter(|price| Decimal::new(price).is_some_and(|price| price.ten_thousandths() >= 0))?;
    let currency = shop.settings.currency.as_ref()?;
    let availability = if animal.is_reserved() { "Reserved" } else { "InStock" };
    Some(json!({
        "@type": "Offer",
        "url": shop.url(&animal.path()),
        "price": price,
        "priceCurrency": currency.as_str(),
        "availability": format!("https://schema.org/{availability}"),
    }))
}
