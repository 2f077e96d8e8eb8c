//! The top of the page of an animal: what it looks like, and what people ask first.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, INTAKE, Photo, PhotoSize, StorePet, asking_price},
};
use petstore_languages::look::{Animal, Drawings, PORTRAIT, focus};

use super::{list_order::place_label, parts, pet_schema::PetSchema, values};
use crate::prelude::*;

/// Shows the first photo of the animal, or the drawing of its kind, with the further photos below it.
pub(super) fn portrait(desk: &Desk<'_>, pet: &StorePet, schema: PetSchema<'_>) -> Markup {
    let animal = Animal::whole(pet, schema.fields);
    let category = markup::category(schema.categories, pet.category_id);
    let has_photo_files = desk.app().photos.storage().is_some();
    let photos = if has_photo_files { animal.photos } else { &[] };
    let mut drawings = Drawings::default();
    html! {
        div.portrait {
            div.picture {
                @if let Some(photo) = photos.first() {
                    a href=(photo.path(PhotoSize::Large)) {
                        (PORTRAIT.picture(photo, &animal.alt(0, photo), 0, 1))
                    }
                } @else { (drawings.draw(&animal, Some(&category))) }
            }
            @if photos.len() > 1 { (further_photos(&animal, photos)) }
            (drawings.symbols())
        }
    }
}

/// Shows all photos after the first one, each with a link to its large size.
fn further_photos(animal: &Animal<'_>, photos: &[Photo]) -> Markup {
    html! {
        ul.strip {
            @for (index, photo) in photos.iter().enumerate().skip(1) {
                li {
                    a href=(photo.path(PhotoSize::Large)) {
                        img class=[focus(photo.focus)] src=(photo.path(PhotoSize::Small))
                            alt=(animal.alt(index, photo)) width="72" height="54" loading="lazy";
                    }
                }
            }
        }
    }
}

/// Returns the URL of the animal in the public window, if it has a page there.
fn public_page(desk: &Desk<'_>, pet: &StorePet) -> Option<String> {
    let is_public = pet.is_listed && pet.withdrawal.is_none() && pet.status != PetStatus::Sold;
    let window_url = desk.visit.console.settings.window.as_ref()?;
    is_public.then(|| format!("{window_url}/animals/{}", pet.id))
}

/// The fields of a shelter that the card for the kennel has if they are public.
const KENNEL_FIELDS: [&str; 6] = [
    "good_with_children",
    "good_with_dogs",
    "good_with_cats",
    "neutered",
    "house_trained",
    INTAKE,
];

/// Returns the values of a shelter that the card for the kennel has, each with its label. The place is on it although it is not
/// public, because the card hangs there.
fn kennel_values(
    desk: &Desk<'_>,
    pet: &StorePet,
    animal: &Animal<'_>,
    fields: &FieldSet,
) -> Vec<(String, Markup)> {
    let mut labelled_values = Vec::new();
    for (field, value) in &animal.values {
        if KENNEL_FIELDS.contains(&field.name.as_str()) {
            let shown_value = values::value_markup(desk, field, value);
            labelled_values.push((values::label_of(field), shown_value));
        }
    }
    if let Some(place) = pet.place() {
        labelled_values.push((place_label(fields), markup::lines(place)));
    }
    labelled_values
}

/// Shows what the printed card for the kennel has below the picture and the name. Everybody may see it.
pub(super) fn kennel_card(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
    let animal = Animal::public(pet, fields);
    // With a breed, the line below the name does not have the species.
    let mut species = None;
    if animal.word("breed").is_some() {
        species = animal.word("species");
    }
    let labelled_values = kennel_values(desk, pet, &animal, fields);
    html! {
        div.print {
            @if let Some(species) = species { p { (species) } }
            @if !labelled_values.is_empty() {
                dl { @for (label, value) in &labelled_values { dt { (label) } dd { (value) } } }
            }
            @if let Some(story) = animal.description() { p { (markup::lines(story)) } }
            @if let Some(page) = public_page(desk, pet) {
                (markup::qr_code(&page, &page))
                p { (page) }
            }
        }
    }
}

/// Shows the name of the animal, and what people ask first.
pub(super) fn title(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
    let summary = Animal::whole(pet, fields).line(parts::today(desk));
    let price = asking_price(pet, fields);
    html! {
        div {
            div.head {
                h1 { (markup::name(pet.name.as_str(), LONG_LENGTH)) }
                (markup::pet_badges(pet))
            }
            @if !summary.is_empty() { p.line { bdi { (summary) } } }
            p {
                @if let Some(price) = &price {
                    strong.price { (amount(price.as_str(), desk.currency())) } " · "
                }
                span.muted { (texts().number) " " (pet.id.get()) }
            }
        }
    }
}

/// Shows the links and buttons that edit, print and publish the animal.
pub(super) fn tools(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let path = format!("/animals/{}", pet.id);
    let may_edit = desk.may_write() && pet.withdrawal.is_none();
    let has_photos = desk.app().photos.storage().is_some() || !pet.photos.all().is_empty();
    html! {
        div.head {
            div.buttons.tools {
                @if may_edit {
                    a.button href={ (path) "/edit" } { (texts().edit) }
                    @if has_photos { a.button href={ (path) "/photos" } { (texts().manage_photos) } }
                }
                @if let Some(page) = public_page(desk, pet) {
                    a.button href=(page) { (texts().public_page) }
                }
                button type="button" data-print { (texts().print) }
            }
        }
    }
}
