//! `/animals/{id}`: one animal.

use hyper::StatusCode;
use maud::{Markup, html};

use super::{
    labels::Labels,
    layout::{Head, Layout},
    rendered::Made,
    schema,
    shop::Shop,
    texts,
};
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{FieldDefinition, FieldKind, FieldValue, PhotoSize},
    },
    edge::{ApiError, Problem},
    look::{Animal, Drawings, in_gallery, shown, shown_name},
    text::{
        integer,
        readable::{SHORT, readable},
    },
};

/// How many characters a search engine shows of a description.
const SUMMARY: usize = 160;

/// `GET /animals/{id}`. Fails with 404 if there never was such an animal.
pub(super) async fn page(shop: &Shop, layout: &Layout, id: &str) -> Result<Made, ApiError> {
    let missing = || ApiError::new(Problem::NotFound, "No animal has this number.");
    let id = integer(id).and_then(PetId::new).ok_or_else(missing)?;
    let pet = shop.store().get_store_pet(id).await?.ok_or_else(missing)?;
    if pet.withdrawn.is_some() {
        let next = html! { p { (texts::GONE_NEXT) } };
        return Ok(layout.message(StatusCode::GONE, texts::GONE, &next));
    }
    if pet.status == PetStatus::Sold {
        let title = texts::found_a_home(&shown_name(pet.name.as_str(), SHORT));
        let next = html! { p { (texts::GONE_NEXT) } };
        return Ok(layout.message(StatusCode::GONE, &title, &next));
    }
    let fields = shop.fields().await?;
    let animal = Animal::public(&pet, &fields);
    let mut labels = Labels::default();
    labels.learn(shop.store(), [animal.category_id]).await?;
    Ok(shown_page(shop, layout, &animal, &labels))
}

fn shown_page(shop: &Shop, layout: &Layout, animal: &Animal, labels: &Labels) -> Made {
    let (name, kind) = (animal.short_name(), animal.kind());
    let mut drawings = Drawings::default();
    let content = html! {
        p.back { a href="/" { (texts::BACK) } }
        article.animal {
            (gallery(animal, labels, &mut drawings))
            div.about {
                h1 { bdi { (animal.long_name()) } }
                @if !kind.is_empty() { p.kind { bdi { (kind.join(" · ")) } } }
                @if let Some(price) = animal.price() {
                    p.price { (texts::price(price, shop.settings.currency.as_ref())) }
                }
                @if animal.is_reserved() {
                    p.reserved { bdi { (texts::is_reserved(&name)) } }
                }
                (ask(shop, animal, &name))
                (facts(shop, animal, labels))
                @for (field, value) in &animal.values {
                    @if let (FieldKind::LongText, FieldValue::Text(text)) = (field.kind, value) {
                        section.text {
                            h2 { (readable(field.label.as_str(), SHORT)) }
                            (paragraphs(text))
                        }
                    }
                }
            }
        }
    };
    let about = animal.summary(SUMMARY);
    let about = about.unwrap_or_else(|| texts::about_animal(&name, &kind, shop.name()));
    let title = kind.iter().rev().fold(name.clone(), |title, word| title + ", " + word);
    let head = Head {
        title: &title,
        description: &about,
        canonical: Some(&animal.path()),
        is_indexed: true,
        next: None,
        picture: shop.preview(animal),
        schema: Some(schema::animal(shop, animal, labels)),
        drawings: drawings.symbols(),
    };
    layout.page(&head, &content)
}

/// The photos, the first of them large. Each leads to the whole photo.
fn gallery(animal: &Animal, labels: &Labels, drawings: &mut Drawings) -> Markup {
    if animal.photos.is_empty() {
        return html! {
            div.gallery { div.picture { (drawings.of(animal, labels.get(animal.category_id))) } }
        };
    }
    let is_upright = animal.photos.first().is_some_and(|photo| photo.ratio() < 1.0);
    html! {
        ul.gallery.upright[is_upright] aria-label=(texts::PHOTOS) {
            @for (at, photo) in animal.photos.iter().enumerate() {
                @let room = in_gallery(at == 0, is_upright);
                li {
                    a href=(photo.path(PhotoSize::Large)) {
                        (room.picture(photo, &animal.alt(at, photo), at, 1))
                    }
                }
            }
        }
    }
}

/// The one way to ask.
fn ask(shop: &Shop, animal: &Animal, name: &str) -> Markup {
    let number = animal.id.get();
    html! {
        p.ask {
            @if let Some(contact) = &shop.settings.contact {
                @let subject = format!("{name} ({number})");
                a.button href=(contact.about(&subject)) { bdi { (texts::ask(name)) } }
                span.muted { (texts::number(number)) }
            } @else {
                bdi { (texts::ask_here(name, number)) }
            }
        }
        p.paper {
            @if let Some(contact) = &shop.settings.contact { (contact.shown()) br; }
            (shop.url(&animal.path()))
        }
    }
}

/// The public values, with their labels. Long texts follow below.
fn facts(shop: &Shop, animal: &Animal, labels: &Labels) -> Markup {
    // The price is above.
    let is_short = |(field, _): &&(&FieldDefinition, FieldValue)| {
        field.kind != FieldKind::LongText && !field.is_price()
    };
    let age = animal.age(shop.today());
    let category = labels.shown(animal.category_id);
    html! {
        dl.facts {
            @for (field, value) in animal.values.iter().filter(is_short) {
                div {
                    dt { (readable(field.label.as_str(), SHORT)) }
                    dd { (fact(field, value)) }
                }
                @if field.name.as_str() == "born" && let Some(age) = &age {
                    div { dt { (texts::AGE) } dd { (age) } }
                }
            }
            @if let Some(category) = category {
                div { dt { (texts::KIND) } dd { bdi { (category) } } }
            }
        }
    }
}

fn fact(field: &FieldDefinition, value: &FieldValue) -> Markup {
    html! {
        @if let (FieldKind::Date, FieldValue::Text(date)) = (field.kind, value) {
            time datetime=(date) { (shown(field, value)) }
        } @else {
            bdi { (shown(field, value)) }
        }
    }
}

/// A long text with the lines and paragraphs that its author made.
fn paragraphs(text: &str) -> Markup {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    html! {
        @for paragraph in paragraphs {
            p dir="auto" {
                @for (at, line) in paragraph.lines().enumerate() {
                    @if at > 0 { br; }
                    (readable(line, usize::MAX))
                }
            }
        }
    }
}
