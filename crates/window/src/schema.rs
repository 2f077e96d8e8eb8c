//! The structured data of pages for search engines: JSON-LD with the vocabulary of schema.org.

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
    store::{Organization, build_organization},
};

/// A schema.org `WebPage` or one of its subtypes, which `schema_type` names. `content` adds the
/// properties of the subtype.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebPage<T> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    schema_type: &'static str,
    in_language: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    publisher: Option<Organization>,
    #[serde(flatten)]
    content: T,
}

/// The content of a page that is about one main thing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MainEntity<T> {
    main_entity: T,
}

/// The list of the animals on a page.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemList {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    number_of_items: usize,
    #[serde(rename = "itemListElement")]
    items: Vec<ListItem>,
}

/// An animal in a list.
#[derive(Serialize)]
struct ListItem {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    position: usize,
    name: String,
    url: String,
}

/// An animal with an offer, as the product that the store sells.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Product<'a> {
    #[serde(rename = "@type")]
    schema_type: &'static str,
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

/// The properties of a page about an animal without an offer. The animal is not described as a
/// `Product`, because search engines reject products without offers.
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

/// A photo of an animal.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImageObject {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    content_url: String,
}

/// A value of an animal's field that has no property of its own in schema.org.
#[derive(Serialize)]
struct PropertyValue<'a> {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    #[serde(rename = "propertyID")]
    property_id: &'a str,
    name: String,
    value: String,
}

/// The price of an animal, and whether it is reserved.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    #[serde(rename = "@type")]
    schema_type: &'static str,
    url: String,
    price: &'a str,
    price_currency: &'a str,
    availability: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seller: Option<Organization>,
}

/// Renders the structured data of a list page.
pub(super) fn render_list(shop: &Shop, facts: &StoreFacts, animals: &[Animal<'_>]) -> Markup {
    let items = animals
        .iter()
        .enumerate()
        .map(|(index, animal)| ListItem {
            schema_type: "ListItem",
            position: index + 1,
            name: animal.short_name(),
            url: shop.url(&animal.path()),
        })
        .collect();
    let main_entity = ItemList {
        schema_type: "ItemList",
        number_of_items: animals.len(),
        items,
    };
    render_json_ld(
        "CollectionPage",
        build_organization(shop, facts),
        MainEntity { main_entity },
    )
}

/// Renders the structured data of an animal's page. The animal is a product if it has an offer.
pub(super) fn render_animal(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    labels: &Labels,
    description: Option<String>,
) -> Markup {
    let Some(offer) = make_offer(shop, facts, animal) else {
        return render_animal_without_offer(shop, facts, animal, description);
    };

    let image = animal
        .photos
        .iter()
        .map(|photo| shop.url(&photo.path(PhotoSize::Large)))
        .collect();
    let mut product = Product {
        schema_type: "Product",
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
        product.add_field_value(field, value);
    }
    // The offer names the store as the seller, so the page needs no publisher.
    let content = MainEntity {
        main_entity: product,
    };
    render_json_ld("ItemPage", None, content)
}

/// Renders the structured data of the page of an animal without an offer.
fn render_animal_without_offer(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    description: Option<String>,
) -> Markup {
    let first_photo = animal.photos.first();
    let image = first_photo.map(|photo| ImageObject {
        schema_type: "ImageObject",
        content_url: shop.url(&photo.path(PhotoSize::Large)),
    });
    render_json_ld(
        "WebPage",
        build_organization(shop, facts),
        AnimalWithoutOffer {
            name: animal.short_name(),
            url: shop.url(&animal.path()),
            description,
            primary_image_of_page: image,
        },
    )
}

impl<'a> Product<'a> {
    /// Adds the value of a field. Skips the price, which is part of the offer, and the description and
    /// other long texts, which belong in the description of the product.
    fn add_field_value(&mut self, field: &'a FieldDefinition, value: &FieldValue) {
        let name = field.name.as_str();
        let is_description = name == "description" && field.kind == FieldKind::Text;
        if field.is_price() || is_description || field.kind == FieldKind::LongText {
            return;
        }

        let text = match (field.kind, value) {
            // Search engines expect dates in the format of ISO 8601, in which the store keeps them.
            (FieldKind::Date, FieldValue::Text(date)) => date.clone(),
            _ => value_text(field, value),
        };
        match name {
            "colour" | "color" => self.color = Some(text),
            "size" => self.size = Some(text),
            _ => self.additional_property.push(PropertyValue {
                schema_type: "PropertyValue",
                property_id: name,
                name: label_of(field),
                value: text,
            }),
        }
    }
}

/// Returns the offer of an animal. Returns `None` if its price or the currency of the store is unknown,
/// or if the price is negative.
fn make_offer<'a>(shop: &Shop, facts: &'a StoreFacts, animal: &'a Animal<'_>) -> Option<Offer<'a>> {
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
        schema_type: "Offer",
        url: shop.url(&animal.path()),
        price,
        price_currency: currency.as_str(),
        availability,
        seller: build_organization(shop, facts),
    })
}

/// Serializes the structured data of a page as JSON for a `script` element. Markup characters are
/// escaped, so that no text can close the element.
fn render_json_ld(
    schema_type: &'static str,
    publisher: Option<Organization>,
    content: impl Serialize,
) -> Markup {
    let page = WebPage {
        context: "https://schema.org",
        schema_type,
        in_language: texts().language,
        publisher,
        content,
    };
    // Serializing cannot fail: each page and its content consist of strings and integers only.
    let json = serde_json::to_string(&page).unwrap_or_default();
    PreEscaped(escape_markup(json))
}

/// Replaces the characters that are special in HTML with their JSON escapes, so that the JSON keeps
/// its meaning.
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
