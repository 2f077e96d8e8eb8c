//! `/animals/{id}`: one animal.

use hyper::StatusCode;
use jiff::civil::Date;
use maud::{Markup, PreEscaped, html};
use petstore_app::StoreFacts;
use petstore_domain::{
    PetId, PetStatus, Problem,
    store_area::{FieldDefinition, FieldKind, FieldValue, Photo, PhotoSize},
    text::{
        parse_integer,
        readable::{LONG_LENGTH, SHORT_LENGTH, readable},
    },
};
use petstore_languages::{
    look::{Animal, CARD, Drawings, gallery_room, label_of, readable_name, text, value_text},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    contact,
    filter::Filter,
    labels::Labels,
    layout::{Head, Layout, Message},
    rendered::RenderedPage,
    schema,
    shop::{Moment, Shop},
    store, suggestions,
};

/// The number of characters that a search engine shows of a description.
const MAX_SUMMARY_LENGTH: usize = 160;

/// The words about an animal that several parts of its page have.
struct Words {
    name: String,
    /// The species and breed, as far as they are known.
    kind: Vec<String>,
}

/// Renders `GET /animals/{id}`. Fails with 404 if there never was such an animal, or if it is not on the website.
pub(super) async fn page(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    id: &str,
) -> Result<RenderedPage, ApiError> {
    let pet = match parse_integer(id).and_then(PetId::new) {
        Some(id) => shop.store().get_listed_pet(id).await?,
        None => None,
    };
    let Some(pet) = pet else {
        let message = "No animal has this number.";
        return Err(ApiError::new(Problem::NotFound, message));
    };
    if pet.withdrawal.is_some() {
        return gone_page(shop, layout, moment, texts().gone, None).await;
    }
    let animal = Animal::public(&pet, &moment.fields);
    if pet.status == PetStatus::Sold {
        let name = readable_name(pet.name.as_str(), SHORT_LENGTH);
        let title = texts().found_a_home(&name);
        return gone_page(shop, layout, moment, &title, Some(&animal)).await;
    }
    present_page(shop, layout, moment, &animal).await
}

/// Renders the page of an animal that is there.
async fn present_page(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    animal: &Animal<'_>,
) -> Result<RenderedPage, ApiError> {
    let facts = &*moment.facts;
    let mut labels = Labels::default();
    labels.load(shop.store(), [animal.category_id]).await?;
    let words = Words {
        name: animal.short_name(),
        kind: animal.kind(),
    };
    let alts: Vec<_> = animal
        .photos
        .iter()
        .enumerate()
        .map(|(index, photo)| animal.alt(index, photo))
        .collect();
    let mut drawings = Drawings::default();
    let filter = similar_animals(animal);
    let suggestions =
        suggestions::section(shop, moment, filter, Some(animal.id), &mut drawings).await?;

    let content = html! {
        p.back { a href="/" { (texts().back) } }
        article.animal {
            (gallery(animal, &alts, &labels, &mut drawings))
            (about(shop, facts, animal, &words, &labels))
        }
        (suggestions)
        (viewer(animal, &alts))
    };

    let summary = animal.summary(LONG_LENGTH);
    let first_photo = animal.photos.first();
    let head = Head {
        title: &title(&words),
        description: &description(facts, &words, summary.as_deref()),
        canonical: Some(&animal.path()),
        is_indexed: true,
        picture: first_photo.map(|photo| shop.preview(photo, animal.alt(0, photo))),
        schema: Some(schema::animal(shop, facts, animal, &labels, summary)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.page(facts, &head, &content))
}

/// Returns the description of the page in a search engine: the beginning of the animal's own description, if it has one.
fn description(facts: &StoreFacts, words: &Words, summary: Option<&str>) -> String {
    if let Some(summary) = summary {
        return readable(summary, MAX_SUMMARY_LENGTH);
    }
    let store_name = store::own_name(facts);
    texts().about_animal(&words.name, &words.kind, store_name.as_deref())
}

/// Returns the filter for animals of the same species, or else of the same category.
fn similar_animals(animal: &Animal<'_>) -> Filter {
    let mut filter = Filter::default();
    match animal.text("species", &[FieldKind::Choice, FieldKind::Text]) {
        Some(species) => {
            let fields = &mut filter.fields;
            fields.insert("species".to_owned(), species.to_owned());
        }
        None => filter.category_id = Some(animal.category_id),
    }
    filter
}

/// Returns the title of the page of an animal.
///
/// Example: `Luna, Beagle, Dog`.
fn title(words: &Words) -> String {
    let mut title = words.name.clone();
    for word in words.kind.iter().rev() {
        title.push_str(", ");
        title.push_str(word);
    }
    title
}

/// Renders what the page says about an animal in words.
fn about(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    words: &Words,
    labels: &Labels,
) -> Markup {
    let mut line = words.kind.clone();
    line.extend(animal.sex());
    line.extend(animal.age(shop.today(facts)));

    html! {
        div.about {
            h1 { bdi { (animal.long_name()) } }
            @if !line.is_empty() { p.kind { bdi { (line.join(" · ")) } } }
            @if let Some(price) = animal.public_price(facts.currency().value) { (price) }
            @if animal.is_reserved() {
                p.reserved { bdi { (texts().is_reserved(&words.name)) } }
            }
            (ask(shop, facts, animal, &words.name))
            (long_texts(animal))
            (values(animal, labels, shop.today(facts)))
        }
    }
}

/// Renders the long texts about an animal, each with its label.
fn long_texts(animal: &Animal<'_>) -> Markup {
    html! {
        @for (field, value) in &animal.values {
            @if field.kind == FieldKind::LongText && let FieldValue::Text(text) = value {
                section.text {
                    h2 { (label_of(field)) }
                    (store::paragraphs(text))
                }
            }
        }
    }
}

/// Renders the page of an animal that has left the store, with some that are there. Apart from the title, it shows only
/// the picture of `animal`, which was public before.
async fn gone_page(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    title: &str,
    animal: Option<&Animal<'_>>,
) -> Result<RenderedPage, ApiError> {
    let mut drawings = Drawings::default();
    let picture = if let Some(animal) = animal {
        last_picture(animal, &mut drawings)
    } else {
        html! {}
    };
    let suggestions =
        suggestions::section(shop, moment, Filter::default(), None, &mut drawings).await?;

    let message = Message {
        status: StatusCode::GONE,
        title,
        content: &html! { (picture) p { (texts().gone_next) } },
        below: &html! { (drawings.symbols()) (suggestions) },
    };
    Ok(layout.message_page(&moment.facts, &message))
}

/// Renders the picture of an animal that has a home now: its first photo, or its drawing.
fn last_picture(animal: &Animal<'_>, drawings: &mut Drawings) -> Markup {
    html! {
        div.picture.last {
            @if let Some(photo) = animal.photos.first() {
                (CARD.picture(photo, &animal.alt(0, photo), 0, 1))
            } @else {
                (drawings.draw(animal, None))
            }
        }
    }
}

/// Renders the photos, the first one large, each with a link that opens the viewer; or a drawing if there are none.
fn gallery(
    animal: &Animal<'_>,
    alts: &[String],
    labels: &Labels,
    drawings: &mut Drawings,
) -> Markup {
    let Some(first_photo) = animal.photos.first() else {
        let drawing = drawings.draw(animal, labels.label(animal.category_id));
        return html! { div.gallery { div.picture { (drawing) } } };
    };

    let is_upright = first_photo.ratio() < 1.0;
    html! {
        ul.gallery.upright[is_upright] #photos aria-label=(texts().photos) {
            @for (index, (photo, alt)) in animal.photos.iter().zip(alts).enumerate() {
                @let room = gallery_room(index == 0, is_upright);
                li {
                    a href={ "#photo-" (index + 1) } {
                        (room.picture(photo, alt, index, 1))
                    }
                }
            }
        }
    }
}

/// Renders each photo over the whole page, for the address that the gallery links to. Browsers load it only then.
fn viewer(animal: &Animal<'_>, alts: &[String]) -> Markup {
    let count = animal.photos.len();
    html! {
        @for (index, (photo, alt)) in animal.photos.iter().zip(alts).enumerate() {
            (viewed_photo(photo, alt, index + 1, count))
        }
    }
}

/// Renders the photo `number` of `count` over the whole page.
fn viewed_photo(photo: &Photo, alt: &str, number: usize, count: usize) -> Markup {
    let (width, height) = photo.dimensions(PhotoSize::Large);
    let position_text = texts().photo_of(number, count);
    html! {
        section.viewer id={ "photo-" (number) } aria-label=(text(&position_text)) {
            a.close href="#photos" { (texts().close) }
            img src=(PreEscaped(photo.path(PhotoSize::Large))) width=(width) height=(height)
                loading="lazy" alt=(text(alt));
            p {
                @if number > 1 {
                    a href={ "#photo-" (number - 1) } { (texts().previous_photo) }
                }
                span { (text(&position_text)) }
                @if number < count { a href={ "#photo-" (number + 1) } { (texts().next_photo) } }
            }
        }
    }
}

/// Renders the one way to ask for an animal.
fn ask(shop: &Shop, facts: &StoreFacts, animal: &Animal<'_>, name: &str) -> Markup {
    let number = animal.id.get();
    let link = contact::question_link(facts, animal.id, &format!("{name} ({number})"));
    html! {
        p.ask.sticks[link.is_some()] {
            @if let Some(link) = &link {
                a.button href=(link) { bdi { (texts().ask(name)) } }
                span.muted { (texts().number(number)) }
            } @else {
                bdi { (texts().ask_here(name, number)) }
            }
        }
        @if link.is_some() { p.ways { (store::contact_links(facts)) } }
        p.paper {
            @if let Some(address) = contact::printed_address(facts, animal.id) { (address) br; }
            (shop.url(&animal.path()))
        }
    }
}

/// Renders the public values that no other part of the page has, with their labels.
fn values(animal: &Animal<'_>, labels: &Labels, today: Date) -> Markup {
    let category = if is_in_headline(animal, "species") {
        None
    } else {
        labels.readable_label(animal.category_id)
    };
    html! {
        dl.facts {
            @for (field, value) in &animal.values {
                @if !is_shown_elsewhere(animal, field) {
                    div {
                        dt { (label_of(field)) }
                        dd {
                            @if field.is_birth() && let Some(birth) = animal.estimated_birth(today) {
                                (birth)
                            } @else {
                                (value_markup(field, value))
                            }
                        }
                    }
                }
            }
            @if let Some(category) = category {
                div { dt { (texts().kind) } dd { bdi { (category) } } }
            }
        }
    }
}

/// Whether another part of the page has the value of a field.
fn is_shown_elsewhere(animal: &Animal<'_>, field: &FieldDefinition) -> bool {
    field.kind == FieldKind::LongText
        || field.is_price()
        || field.is_birth_estimate()
        || is_in_headline(animal, field.name.as_str())
}

/// Whether the line below the name of an animal has the value of this field.
fn is_in_headline(animal: &Animal<'_>, field_name: &str) -> bool {
    match field_name {
        "species" | "breed" => animal.word(field_name).is_some(),
        "sex" => animal.sex().is_some(),
        _ => false,
    }
}

/// Renders a value, a day so that programs can read it, too.
fn value_markup(field: &FieldDefinition, value: &FieldValue) -> Markup {
    html! {
        @if field.kind == FieldKind::Date && let FieldValue::Text(date) = value {
            time datetime=(date) { (value_text(field, value)) }
        } @else {
            bdi { (value_text(field, value)) }
        }
    }
}
