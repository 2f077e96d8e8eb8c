//! The top of the page of an animal: its portrait, its name and main facts, and the links and
//! buttons.
//!
//! The printed page is the kennel card, which the store hangs at the place of the animal. The part
//! of the card that is only visible in print is in this module, too.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, INTAKE, Photo, PhotoSize, StorePet, asking_price},
};
use petstore_languages::look::{Animal, Drawings, PORTRAIT, focus};

use super::{list_order::place_label, parts, pet_schema::PetSchema, values};
use crate::prelude::*;

/// The fields on the kennel card. The card omits the fields that are not public.
const KENNEL_FIELDS: [&str; 6] = [
    "good_with_children",
    "good_with_dogs",
    "good_with_cats",
    "neutered",
    "house_trained",
    INTAKE,
];

/// Renders the first photo of the animal, with the further photos below it. An animal without
/// photos has a drawing of its species instead.
pub(super) fn show_portrait(desk: &Desk<'_>, pet: &StorePet, schema: PetSchema<'_>) -> Markup {
    let animal = Animal::whole(pet, schema.fields);
    let category = markup::category(schema.categories, pet.category_id);
    // Without a storage for photos, the service cannot send their files, so it uses the drawing.
    let has_photo_files = desk.app().photos.storage().is_some();
    let photos = if has_photo_files { animal.photos } else { &[] };
    let mut drawings = Drawings::default();
    // The portrait is the first photo of the page, and the only one in its first view.
    let position = 0;
    let photos_in_first_view = 1;
    html! {
        div.portrait {
            div.picture {
                @if let Some(photo) = photos.first() {
                    @let alt = animal.alt(position, photo);
                    a href=(photo.path(PhotoSize::Large)) {
                        (PORTRAIT.picture(photo, &alt, position, photos_in_first_view))
                    }
                } @else { (drawings.draw(&animal, Some(&category))) }
            }
            @if photos.len() > 1 { (further_photos(&animal, photos)) }
            (drawings.symbols())
        }
    }
}

/// Renders a strip of all photos after the first one, each with a link to its large size.
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

/// Returns the URL of the animal's page in the public window; `None` if the animal has no page
/// there, or if no window is configured.
fn public_page_url(desk: &Desk<'_>, pet: &StorePet) -> Option<String> {
    let is_public = pet.is_listed && pet.withdrawal.is_none() && pet.status != PetStatus::Sold;
    if !is_public {
        return None;
    }
    let window_url = desk.visit.console.settings.window.as_ref()?;
    Some(format!("{window_url}/animals/{}", pet.id))
}

/// Returns the values on the kennel card, as pairs of a label and the value.
///
/// The place is included although it is not public, because the card hangs there.
fn collect_kennel_values(
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

/// Renders the part of the kennel card that is only visible in print, below the picture and the
/// name.
///
/// Visitors see the card, so it has only public values. The place is the only exception.
pub(super) fn show_kennel_card(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
    let animal = Animal::public(pet, fields);
    // The line below the name shows the breed, or the species of an animal without a breed. The
    // card adds the species only below a breed, so that it is not there twice.
    let has_breed = animal.word("breed").is_some();
    let species = if has_breed {
        animal.word("species")
    } else {
        None
    };
    let labelled_values = collect_kennel_values(desk, pet, &animal, fields);
    html! {
        div.print {
            @if let Some(species) = species { p { (species) } }
            @if !labelled_values.is_empty() {
                dl { @for (label, value) in &labelled_values { dt { (label) } dd { (value) } } }
            }
            @if let Some(story) = animal.description() { p { (markup::lines(story)) } }
            @if let Some(url) = public_page_url(desk, pet) {
                // The URL is also the label for screen readers.
                (markup::qr_code(&url, &url))
                p { (url) }
            }
        }
    }
}

/// Renders the head of the page: the name, the status, the price, the number, and a line with
/// the sex, the age, the breed and the colour.
pub(super) fn show_head(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
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

/// Renders the toolbar: links to the form that edits the animal, to its photos and to its public
/// page, and the button that prints the page.
pub(super) fn show_toolbar(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let path = format!("/animals/{}", pet.id);
    let may_edit = desk.may_write() && pet.withdrawal.is_none();
    // Without a storage, photos cannot be added, so their page is only useful if there are some.
    let has_photo_storage = desk.app().photos.storage().is_some();
    let has_photo_page = has_photo_storage || !pet.photos.all().is_empty();
    html! {
        div.head {
            div.buttons.tools {
                @if may_edit {
                    a.button href={ (path) "/edit" } { (texts().edit) }
                    @if has_photo_page {
                        a.button href={ (path) "/photos" } { (texts().manage_photos) }
                    }
                }
                @if let Some(url) = public_page_url(desk, pet) {
                    a.button href=(url) { (texts().public_page) }
                }
                button type="button" data-print { (texts().print) }
            }
        }
    }
}
