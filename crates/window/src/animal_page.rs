//! `/animals/{id}`: one animal.

use hyper::StatusCode;
use maud::{Markup, PreEscaped, html};
use petstore_app::StoreFacts;
use petstore_domain::{
    PetId, PetStatus, Problem,
    store_area::{FieldDefinition, FieldKind, FieldValue, PhotoSize},
    text::{
        integer,
        readable::{LONG, SHORT, readable},
    },
};
use petstore_languages::{
    look::{Animal, Drawings, gallery_room, label_of, readable_name, text, value_text},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    contact,
    labels::Labels,
    layout::{Head, Layout},
    list,
    query::Filter,
    rendered::Made,
    schema,
    shop::{Moment, Shop},
    store,
};

/// How many characters a search engine shows of a description.
const SUMMARY: usize = 160;

/// `GET /animals/{id}`. Fails with 404 if there never was such an animal.
pub(super) async fn page(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    id: &str,
) -> Result<Made, ApiError> {
    let missing = || ApiError::new(Problem::NotFound, "No animal has this number.");
    let id = integer(id).and_then(PetId::new).ok_or_else(missing)?;
    let pet = shop.store().get_store_pet(id).await?.ok_or_else(missing)?;
    if pet.withdrawn.is_some() {
        return gone(shop, layout, moment, texts().gone).await;
    }
    if pet.status == PetStatus::Sold {
        let title = texts().found_a_home(&readable_name(pet.name.as_str(), SHORT));
        return gone(shop, layout, moment, &title).await;
    }
    let facts = &*moment.facts;
    let animal = Animal::public(&pet, &moment.fields);
    let mut labels = Labels::default();
    labels.learn(shop.store(), [animal.category_id]).await?;
    let (name, kind) = (animal.short_name(), animal.kind());
    let said = animal.sex().into_iter().chain(animal.age(shop.today()));
    let line: Vec<_> = kind.iter().cloned().chain(said).collect();
    let mut drawings = Drawings::default();
    let mut similar = Filter::default();
    match animal.text("species", &[FieldKind::Choice, FieldKind::Text]) {
        Some(species) => {
            _ = similar
                .fields
                .insert("species".to_owned(), species.to_owned())
        }
        None => similar.category_id = Some(animal.category_id),
    }
    let others = list::others(shop, moment, (similar, Some(id)), &mut drawings).await?;
    let alts: Vec<_> = animal
        .photos
        .iter()
        .enumerate()
        .map(|(at, photo)| animal.alt(at, photo))
        .collect();
    let summary = animal.summary(LONG);
    let content = html! {
        p.back { a href="/" { (texts().back) } }
        article.animal {
            (gallery(&animal, &alts, &labels, &mut drawings))
            div.about {
                h1 { bdi { (animal.long_name()) } }
                @if !line.is_empty() { p.kind { bdi { (line.join(" · ")) } } }
                @if let Some(price) = animal.public_price(facts.currency().value) { (price) }
                @if animal.is_reserved() {
                    p.reserved { bdi { (texts().is_reserved(&name)) } }
                }
                (ask(shop, facts, &animal, &name))
                @for (field, value) in &animal.values {
                    @if let (FieldKind::LongText, FieldValue::Text(text)) = (field.kind, value) {
                        section.text {
                            h2 { (label_of(field)) }
                            (store::paragraphs(text))
                        }
                    }
                }
                (values(&animal, &labels))
            }
        }
        (others)
        (viewer(&animal, &alts))
    };
    let about = summary.as_deref().map(|summary| readable(summary, SUMMARY));
    let about =
        about.unwrap_or_else(|| texts().about_animal(&name, &kind, store::named(facts).as_deref()));
    let title = kind
        .iter()
        .rev()
        .fold(name.clone(), |title, word| title + ", " + word);
    let head = Head {
        title: &title,
        description: &about,
        canonical: Some(&animal.path()),
        is_indexed: true,
        picture: animal
            .photos
            .iter()
            .zip(alts)
            .map(|(photo, alt)| shop.preview(photo, alt))
            .next(),
        schema: Some(schema::animal(shop, facts, &animal, &labels, summary)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.page(facts, &head, &content))
}

/// The page of an animal that is not here any more, with some that are. It says nothing of the animal besides its title.
async fn gone(
    shop: &Shop,
    layout: &Layout,
    moment: &Moment,
    title: &str,
) -> Result<Made, ApiError> {
    let mut drawings = Drawings::default();
    let next = html! { p { (texts().gone_next) } };
    let others = list::others(shop, moment, (Filter::default(), None), &mut drawings).await?;
    let content = html! { (drawings.symbols()) (others) };
    Ok(layout.message(&moment.facts, (StatusCode::GONE, title), &next, &content))
}

/// The photos, the first of them large. Each opens the viewer.
fn gallery(animal: &Animal, alts: &[String], labels: &Labels, drawings: &mut Drawings) -> Markup {
    if animal.photos.is_empty() {
        return html! {
            div.gallery { div.picture { (drawings.draw(animal, labels.get(animal.category_id))) } }
        };
    }
    let is_upright = animal
        .photos
        .first()
        .is_some_and(|photo| photo.ratio() < 1.0);
    html! {
        ul.gallery.upright[is_upright] #photos aria-label=(texts().photos) {
            @for (at, (photo, alt)) in animal.photos.iter().zip(alts).enumerate() {
                @let room = gallery_room(at == 0, is_upright);
                li {
                    a href={ "#photo-" (at + 1) } {
                        (room.picture(photo, alt, at, 1))
                    }
                }
            }
        }
    }
}

/// Each photo over the whole page, when its address is opened: browsers load it only then.
fn viewer(animal: &Animal, alts: &[String]) -> Markup {
    let count = animal.photos.len();
    html! {
        @for (at, (photo, alt)) in animal.photos.iter().zip(alts).enumerate() {
            @let (number, (width, height)) = (at + 1, photo.within(PhotoSize::Large));
            @let which = texts().photo_of(number, count);
            section.viewer id={ "photo-" (number) } aria-label=(text(&which)) {
                a.close href="#photos" { (texts().close) }
                img src=(PreEscaped(photo.path(PhotoSize::Large))) width=(width) height=(height)
                    loading="lazy" alt=(text(alt));
                p {
                    @if at > 0 { a href={ "#photo-" (at) } { (texts().previous_photo) } }
                    span { (text(&which)) }
                    @if number < count { a href={ "#photo-" (number + 1) } { (texts().next_photo) } }
                }
            }
        }
    }
}

/// The one way to ask.
fn ask(shop: &Shop, facts: &StoreFacts, animal: &Animal, name: &str) -> Markup {
    let number = animal.id.get();
    let address = contact::about(facts, animal.id, &format!("{name} ({number})"));
    html! {
        p.ask.sticks[address.is_some()] {
            @if let Some(address) = &address {
                a.button href=(address) { bdi { (texts().ask(name)) } }
                span.muted { (texts().number(number)) }
            } @else {
                bdi { (texts().ask_here(name, number)) }
            }
        }
        @if address.is_some() { p.ways { (store::ways(facts)) } }
        p.paper {
            @if let Some(contact) = contact::on_paper(facts, animal.id) { (contact) br; }
            (shop.url(&animal.path()))
        }
    }
}

/// The public values that are not above, with their labels.
fn values(animal: &Animal, labels: &Labels) -> Markup {
    let is_said = |name: &str| match name {
        "species" | "breed" => animal.word(name).is_some(),
        "sex" => animal.sex().is_some(),
        _ => false,
    };
    let is_new = |(field, _): &&(&FieldDefinition, &FieldValue)| {
        field.kind != FieldKind::LongText && !field.is_price() && !is_said(field.name.as_str())
    };
    let category = labels
        .shown(animal.category_id)
        .filter(|_| !is_said("species"));
    html! {
        dl.facts {
            @for (field, value) in animal.values.iter().filter(is_new) {
                div {
                    dt { (label_of(field)) }
                    dd { (fact(field, value)) }
                }
            }
            @if let Some(category) = category {
                div { dt { (texts().kind) } dd { bdi { (category) } } }
            }
        }
    }
}

fn fact(field: &FieldDefinition, value: &FieldValue) -> Markup {
    html! {
        @if let (FieldKind::Date, FieldValue::Text(date)) = (field.kind, value) {
            time datetime=(date) { (value_text(field, value)) }
        } @else {
            bdi { (value_text(field, value)) }
        }
    }
}
