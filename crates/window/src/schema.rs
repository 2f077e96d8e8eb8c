//! The content of the pages, as schema.org describes it, for search engines.

use maud::{Markup, PreEscaped};
use petstore_app::StoreFacts;
use petstore_domain::store_area::{Decimal, FieldKind, FieldValue, PhotoSize};
use petstore_languages::{
    look::{Animal, label_of, value_text},
    window_texts as texts,
};
use serde::Serialize;

use super::{
    labels::Labels,
    shop::Shop,
    store::{Organization, organization},
};

/// A page, with what it is about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    schema: &'static str,
    in_language: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    publisher: Option<Organization>,
    #[serde(flatten)]
    about: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Main<T> {
    main_entity: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemList {
    #[serde(rename = "@type")]
    schema: &'static str,
    number_of_items: usize,
    #[serde(rename = "itemListElement")]
    items: Vec<ListItem>,
}

#[derive(Serialize)]
struct ListItem {
    #[serde(rename = "@type")]
    schema: &'static str,
    position: usize,
    name: String,
    url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Product<'a> {
    #[serde(rename = "@type")]
    schema: &'static str,
    name: String,
    url: String,
    sku: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    image: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_property: Vec<PropertyValue<'a>>,
    offers: Offer<'a>,
}

/// The page of an animal without an offer: search engines reject a product like that.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WithoutOffer {
    name: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_image_of_page: Option<ImageObject>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageObject {
    #[serde(rename = "@type")]
    schema: &'static str,
    content_url: String,
}

#[derive(Serialize)]
struct PropertyValue<'a> {
    #[serde(rename = "@type")]
    schema: &'static str,
    #[serde(rename = "propertyID")]
    property_id: &'a str,
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    #[serde(rename = "@type")]
    schema: &'static str,
    url: String,
    price: &'a str,
    price_currency: &'a str,
    availability: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seller: Option<Organization>,
}

/// A page of the list.
pub(super) fn list(shop: &Shop, facts: &StoreFacts, animals: &[Animal]) -> Markup {
    let item = |(at, animal): (usize, &Animal)| ListItem {
        schema: "ListItem",
        position: at + 1,
        name: animal.short_name(),
        url: shop.url(&animal.path()),
    };
    let main_entity = ItemList {
        schema: "ItemList",
        number_of_items: animals.len(),
        items: animals.iter().enumerate().map(item).collect(),
    };
    in_script(
        "CollectionPage",
        organization(shop, facts),
        Main { main_entity },
    )
}

/// An animal on its own page.
pub(super) fn animal(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal,
    labels: &Labels,
    description: Option<String>,
) -> Markup {
    let (name, url) = (animal.short_name(), shop.url(&animal.path()));
    let mut image = animal
        .photos
        .iter()
        .map(|photo| shop.url(&photo.path(PhotoSize::Large)));
    let Some(offers) = offer(shop, facts, animal, &url) else {
        let primary_image_of_page = image.next().map(|content_url| ImageObject {
            schema: "ImageObject",
            content_url,
        });
        let animal = WithoutOffer {
            name,
            url,
            description,
            primary_image_of_page,
        };
        return in_script("WebPage", organization(shop, facts), animal);
    };
    let mut product = Product {
        schema: "Product",
        name,
        offers,
        url,
        sku: animal.id.to_string(),
        category: labels.shown(animal.category_id),
        description,
        image: image.collect(),
        color: None,
        size: None,
        additional_property: Vec::new(),
    };
    for (field, value) in &animal.values {
        let name = field.name.as_str();
        // They are in other properties: the price in the offer.
        let is_description = name == "description" && field.kind == FieldKind::Text;
        if field.is_price() || is_description || field.kind == FieldKind::LongText {
            continue;
        }
        let value = match (field.kind, value) {
            // As programs read it.
            (FieldKind::Date, FieldValue::Text(date)) => date.clone(),
            _ => value_text(field, value),
        };
        match name {
            "colour" | "color" => product.color = Some(value),
            "size" => product.size = Some(value),
            _ => product.additional_property.push(PropertyValue {
                schema: "PropertyValue",
                property_id: name,
                name: label_of(field),
                value,
            }),
        }
    }
    in_script(
        "ItemPage",
        None,
        Main {
            main_entity: product,
        },
    )
}

/// The offer, if there are a price and a currency.
fn offer<'a>(
    shop: &Shop,
    facts: &'a StoreFacts,
    animal: &'a Animal,
    url: &str,
) -> Option<Offer<'a>> {
    let price = animal
        .price()
        .filter(|price| Decimal::new(price).is_some_and(|price| price.ten_thousandths() >= 0))?;
    let currency = facts.currency().value?;
    Some(Offer {
        schema: "Offer",
        url: url.to_owned(),
        price,
        price_currency: currency.as_str(),
        availability: if animal.is_reserved() {
            "https://schema.org/Reserved"
        } else {
            "https://schema.org/InStock"
        },
        seller: organization(shop, facts),
    })
}

/// The page as JSON inside of an element, which no text in it can close.
fn in_script(
    schema: &'static str,
    publisher: Option<Organization>,
    about: impl Serialize,
) -> Markup {
    let (context, in_language) = ("https://schema.org", texts().language);
    let page = Page {
        context,
        schema,
        in_language,
        publisher,
        about,
    };
    // Texts and numbers always have a form in JSON.
    let mut json = serde_json::to_string(&page).unwrap_or_default();
    for (character, escaped) in [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")] {
        if json.contains(character) {
            json = json.replace(character, escaped);
        }
    }
    PreEscaped(json)
}
