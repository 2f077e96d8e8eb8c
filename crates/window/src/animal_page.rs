//! `/animals/{id}`: the page of one animal.

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
    look::{Animal, Drawings, gallery_room, label_of, readable_name, text, value_text},
    window_texts as texts,
};
use petstore_web::edge::ApiError;

use super::{
    contact,
    filter::{Filter, SPECIES_FIELD},
    gone_page::{GoneMessage, render_gone_page},
    labels::Labels,
    layout::{Head, Layout},
    rendered::RenderedPage,
    schema,
    shop::{Shop, Snapshot},
    store,
    suggestions::{self, SuggestionKind},
};

/// The maximum length of the description for search engines, in characters. Search engines cut off
/// longer descriptions.
const MAX_DESCRIPTION_LENGTH: usize = 160;

/// The number of photos of the gallery that are visible without scrolling. Browsers load them
/// eagerly, and all other photos lazily.
const PHOTOS_IN_FIRST_VIEW: usize = 1;

/// The name and kind of an animal as text, which several parts of its page show.
struct NameAndKind {
    name: String,
    /// The species and breed, as far as they are known.
    kind: Vec<String>,
}

impl NameAndKind {
    /// Returns the name and kind of an animal.
    fn new(animal: &Animal<'_>) -> Self {
        Self {
            name: animal.short_name(),
            kind: animal.kind(),
        }
    }
}

/// Renders `GET /animals/{id}`. For an animal that was sold or withdrawn, the page has the status 410.
/// Fails with 404 if the animal never existed or is not listed on the website.
pub(super) async fn render_page(
    shop: &Shop,
    layout: &Layout,
    snapshot: &Snapshot,
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
        let message = GoneMessage::withdrawn();
        return render_gone_page(shop, layout, snapshot, message).await;
    }
    let animal = Animal::public(&pet, &snapshot.fields);
    if pet.status == PetStatus::Sold {
        let name = readable_name(pet.name.as_str(), SHORT_LENGTH);
        let message = GoneMessage::sold(&name, &animal);
        return render_gone_page(shop, layout, snapshot, message).await;
    }
    render_offer_page(shop, layout, snapshot, &animal).await
}

/// Renders the page of an animal that is on offer.
async fn render_offer_page(
    shop: &Shop,
    layout: &Layout,
    snapshot: &Snapshot,
    animal: &Animal<'_>,
) -> Result<RenderedPage, ApiError> {
    let facts = &*snapshot.facts;
    let mut labels = Labels::default();
    labels.load(shop.store(), [animal.category_id]).await?;
    let name_and_kind = NameAndKind::new(animal);
    let alts = collect_photo_alts(animal);
    let mut drawings = Drawings::default();
    let similar_animals = SuggestionKind::Similar {
        filter: similar_animals_filter(animal),
        id: animal.id,
    };
    let suggestions =
        suggestions::render_section(shop, snapshot, similar_animals, &mut drawings).await?;

    let content = html! {
        p.back { a href="/" { (texts().back) } }
        article.animal {
            (render_gallery(animal, &alts, &labels, &mut drawings))
            (render_text_column(shop, facts, animal, &name_and_kind, &labels))
        }
        (suggestions)
        (render_viewer(animal, &alts))
    };

    let summary = animal.summary(LONG_LENGTH);
    let head = Head {
        title: &format_title(&name_and_kind),
        description: &describe_animal(facts, &name_and_kind, summary.as_deref()),
        canonical_path: Some(&animal.path()),
        is_indexed: true,
        picture: shop.preview_of(animal),
        schema: Some(schema::render_animal(shop, facts, animal, &labels, summary)),
        drawings: drawings.symbols(),
        ..Head::default()
    };
    Ok(layout.render_page(facts, &head, &content))
}

/// Returns the alternative texts of an animal's photos, in the order of the photos.
fn collect_photo_alts(animal: &Animal<'_>) -> Vec<String> {
    animal
        .photos
        .iter()
        .enumerate()
        .map(|(index, photo)| animal.alt(index, photo))
        .collect()
}

/// Returns the description of the page for search engines: the beginning of the animal's `summary` or,
/// without one, a sentence with the name and kind of the animal and the name of the store.
fn describe_animal(
    facts: &StoreFacts,
    name_and_kind: &NameAndKind,
    summary: Option<&str>,
) -> String {
    if let Some(summary) = summary {
        return readable(summary, MAX_DESCRIPTION_LENGTH);
    }
    let store_name = store::own_name(facts);
    let NameAndKind { name, kind } = name_and_kind;
    texts().about_animal(name, kind, store_name.as_deref())
}

/// Returns the filter for similar animals, by species or, if the species is unknown, by category.
fn similar_animals_filter(animal: &Animal<'_>) -> Filter {
    match animal.text(SPECIES_FIELD, &[FieldKind::Choice, FieldKind::Text]) {
        Some(species) => Filter::for_species(species),
        None => Filter::for_category(animal.category_id),
    }
}

/// Returns the document title of an animal's page: the name, then the kind, with the most specific word
/// first.
///
/// Example: `Luna, Beagle, Dog`.
fn format_title(name_and_kind: &NameAndKind) -> String {
    let mut title = name_and_kind.name.clone();
    for word in name_and_kind.kind.iter().rev() {
        title.push_str(", ");
        title.push_str(word);
    }
    title
}

/// Renders the column of text next to the photos: name, headline, price, contact, long texts and
/// values.
fn render_text_column(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    name_and_kind: &NameAndKind,
    labels: &Labels,
) -> Markup {
    let name = &name_and_kind.name;
    let mut headline = name_and_kind.kind.clone();
    headline.extend(animal.sex());
    headline.extend(animal.age(shop.today(facts)));

    html! {
        div.about {
            h1 { bdi { (animal.long_name()) } }
            @if !headline.is_empty() { p.kind { bdi { (headline.join(" · ")) } } }
            @if let Some(price) = animal.public_price(facts.currency().value) { (price) }
            @if animal.is_reserved() {
                p.reserved { bdi { (texts().is_reserved(name)) } }
            }
            (render_contact_section(shop, facts, animal, name))
            (render_long_texts(animal))
            (render_value_list(animal, labels, shop.today(facts)))
        }
    }
}

/// Renders the long texts about an animal, each in a section with its label as the heading.
fn render_long_texts(animal: &Animal<'_>) -> Markup {
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

/// Renders the photos of an animal, the first one large. Each photo links to its full-page view, which
/// [`render_viewer`] renders. Renders a drawing if there are no photos.
fn render_gallery(
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
                // The room tells browsers the width of the photo.
                @let room = gallery_room(index == 0, is_upright);
                li {
                    a href={ "#photo-" (index + 1) } {
                        (room.picture(photo, alt, index, PHOTOS_IN_FIRST_VIEW))
                    }
                }
            }
        }
    }
}

/// Renders a full-page view of each photo. The style sheet hides a view until the fragment of the URL
/// selects it, such as `#photo-2`, so no script is needed. Browsers load a photo only when its view is
/// shown.
fn render_viewer(animal: &Animal<'_>, alts: &[String]) -> Markup {
    let count = animal.photos.len();
    html! {
        @for (index, (photo, alt)) in animal.photos.iter().zip(alts).enumerate() {
            (render_full_page_photo(photo, alt, index + 1, count))
        }
    }
}

/// Renders the full-page view of a photo, with links to the previous and next one. `number` is the
/// position of the photo among `count` photos, counted from 1.
fn render_full_page_photo(photo: &Photo, alt: &str, number: usize, count: usize) -> Markup {
    let (width, height) = photo.dimensions(PhotoSize::Large);
    let position_text = texts().photo_of(number, count);
    html! {
        section.viewer id={ "photo-" (number) } aria-label=(text(&position_text)) {
            a.close href="#photos" { (texts().close) }
            // The path of a photo has no characters to escape.
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

/// Renders the contact section: a button with the contact link, the contact details, and the URLs
/// for the printed page. Without a contact link, the name and number that visitors should ask for
/// are in place of the button and the contact details.
fn render_contact_section(
    shop: &Shop,
    facts: &StoreFacts,
    animal: &Animal<'_>,
    name: &str,
) -> Markup {
    let number = animal.id.get();
    let link = contact::question_link(facts, animal.id, &format!("{name} ({number})"));
    html! {
        @if let Some(link) = &link {
            // On narrow screens, the button stays visible at the bottom.
            p.ask.sticks {
                a.button href=(link) { bdi { (texts().ask(name)) } }
                span.muted { (texts().number(number)) }
            }
            p.ways { (store::contact_links(facts)) }
        } @else {
            p.ask { bdi { (texts().ask_here(name, number)) } }
        }
        // This paragraph is only visible in print.
        p.paper {
            @if let Some(address) = contact::printed_address(facts, animal.id) { (address) br; }
            (shop.url(&animal.path()))
        }
    }
}

/// Renders the public values that no other part of the page shows, with their labels. The category is
/// among them unless the headline shows the species, which is more specific.
fn render_value_list(animal: &Animal<'_>, labels: &Labels, today: Date) -> Markup {
    let category = if is_in_headline(animal, SPECIES_FIELD) {
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
                                (render_value(field, value))
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

/// Whether another part of the page shows the value of a field.
fn is_shown_elsewhere(animal: &Animal<'_>, field: &FieldDefinition) -> bool {
    field.kind == FieldKind::LongText
        || field.is_price()
        || field.is_birth_estimate()
        || is_in_headline(animal, field.name.as_str())
}

/// Whether the headline below the name of an animal shows the value of this field.
fn is_in_headline(animal: &Animal<'_>, field_name: &str) -> bool {
    match field_name {
        SPECIES_FIELD | "breed" => animal.word(field_name).is_some(),
        "sex" => animal.sex().is_some(),
        _ => false,
    }
}

/// Renders a value. A date becomes a `time` element, which programs can read as well.
fn render_value(field: &FieldDefinition, value: &FieldValue) -> Markup {
    html! {
        @if field.kind == FieldKind::Date && let FieldValue::Text(date) = value {
            time datetime=(date) { (value_text(field, value)) }
        } @else {
            bdi { (value_text(field, value)) }
        }
    }
}
