//! The content of the pages, as schema.org describes it, for search engines.

use maud::{Markup, PreEscaped};
use petstore_app::StoreFacts;
use petstore_domain::store_area::{Decimal, FieldDefinition, FieldKind, FieldValue, PhotoSize};
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

/// A page, with the thing that it is about.
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
    content: T,
}

/// The content of a page about one thing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MainEntity<T> {
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

/// An animal without an offer. It is not a product, because search engines reject a product without an offer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnimalWithoutOffer {
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

/// Describes a page of the list.
pub(super) fn list(shop: &Shop, facts: &StoreFacts, animals: &[Animal<'_>]) -> Markup {
    let items = animals
        .iter()
        .enumerate()
        .map(|(index, animal)| ListItem {
            schema: "ListItem",
            position: index + 1,
            name: animal.short_name(),
            url: shop.url(&animal.path()),
        })
        .collect();
    let main_entity = ItemList {
        schema: "ItemList",
        number_of_items: animals.len(),
        items,
    };
    page(
        "CollectionPage",
        organization(shop, facts),
        MainEntity { main_entity },
    )
}

/// Describes the page of an animal: as a product if it has an offer.
pub(super) fn animal(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    labels: &Labels,
    description: Option<String>,
) -> Markup {
    let Some(offer) = offer(shop, facts, animal) else {
        return animal_without_offer(shop, facts, animal, description);
    };

    let image = animal
        .photos
        .iter()
        .map(|photo| shop.url(&photo.path(PhotoSize::Large)))
        .collect();
    let mut product = Product {
        schema: "Product",
        name: animal.short_name(),
        offers: offer,
        url: shop.url(&animal.path()),
        sku: animal.id.to_string(),
        category: labels.readable_label(animal.category_id),
        description,
        image,
        color: None,
        size: None,
        additional_property: Vec::new(),
    };
    for (field, value) in &animal.values {
        product.add(field, value);
    }
    page(
        "ItemPage",
        None,
        MainEntity {
            main_entity: product,
        },
    )
}

/// Describes the page of an animal without an offer.
fn animal_without_offer(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    description: Option<String>,
) -> Markup {
    let first_photo = animal.photos.first();
    let image = first_photo.map(|photo| ImageObject {
        schema: "ImageObject",
        content_url: shop.url(&photo.path(PhotoSize::Large)),
    });
    page(
        "WebPage",
        organization(shop, facts),
        AnimalWithoutOffer {
            name: animal.short_name(),
            url: shop.url(&animal.path()),
            description,
            primary_image_of_page: image,
        },
    )
}

impl<'a> Product<'a> {
    /// Adds the value of a field, unless another property has it: the price is in the offer, and a long text in the
    /// description.
    fn add(&mut self, field: &'a FieldDefinition, value: &FieldValue) {
        let name = field.name.as_str();
        let is_description = name == "description" && field.kind == FieldKind::Text;
        if field.is_price() || is_description || field.kind == FieldKind::LongText {
            return;
        }

        let text = match (field.kind, value) {
            // Programs read a date in the form in which the store has it.
            (FieldKind::Date, FieldValue::Text(date)) => date.clone(),
            _ => value_text(field, value),
        };
        match name {
            "colour" | "color" => self.color = Some(text),
            "size" => self.size = Some(text),
            _ => self.additional_property.push(PropertyValue {
                schema: "PropertyValue",
                property_id: name,
                name: label_of(field),
                value: text,
            }),
        }
    }
}

/// Describes the offer of an animal, if there are a price and a currency.
fn offer<'a>(shop: &Shop, facts: &'a StoreFacts, animal: &'a Animal<'_>) -> Option<Offer<'a>> {
    let price = animal.price()?;
    if Decimal::new(price)?.ten_thousandths() < 0 {
        return None;
    }
    let currency = facts.currency().value?;
    let availability = if animal.is_reserved() {
        "https://schema.org/Reserved"
    } else {
        "https://schema.org/InStock"
    };
    Some(Offer {
        schema: "Offer",
        url: shop.url(&animal.path()),
        price,
        price_currency: currency.as_str(),
        availability,
        seller: organization(shop, facts),
    })
}

/// Returns the description of a page as JSON for a `script` element, which no text in it can close.
fn page(schema: &'static str, publisher: Option<Organization>, content: impl Serialize) -> Markup {
    let page = Page {
        context: "https://schema.org",
        schema,
        in_language: texts().language,
        publisher,
        content,
    };
    // Texts and numbers always have a form in JSON.
    let json = serde_json::to_string(&page).unwrap_or_default();
    PreEscaped(escape_markup(json))
}

/// Replaces the characters of JSON that mean something in HTML by their escapes in JSON.
///
/// Example: `{"name":"<b>"}` becomes `{"name":"\u003cb\u003e"}`.
fn escape_markup(mut json: String) -> String {
    for (character, escape) in [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")] {
        if json.contains(character) {
            json = json.replace(character, escape);
        }
    }
    json
}
