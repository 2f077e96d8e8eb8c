//! The top of the page of an animal: what it looks like, and what people ask first.

use petstore_domain::{
    PetStatus,
    store_area::{Category, FieldSet, Photo, PhotoSize, StorePet, asking_price},
};
use petstore_languages::look::{Animal, Drawings, PORTRAIT, focus};

use super::parts;
use crate::prelude::*;

/// The animal as it looks: its first photo, or the drawing of its kind, and the others below.
pub(super) fn portrait(
    desk: &Desk<'_>,
    pet: &StorePet,
    (categories, fields): (&[Category], &FieldSet),
) -> Markup {
    let (animal, mut drawings) = (Animal::whole(pet, fields), Drawings::default());
    let category = markup::category(categories, pet.category_id);
    let is_served = desk.app().photos.place().is_some();
    let photos = if is_served { animal.photos } else { &[] };
    let large = |photo: &Photo| photo.path(PhotoSize::Large);
    html! {
        div.portrait {
            div.picture {
                @if let Some(photo) = photos.first() {
                    a href=(large(photo)) { (PORTRAIT.picture(photo, &animal.alt(0, photo), 0, 1)) }
                } @else { (drawings.draw(&animal, Some(&category))) }
            }
            @if photos.len() > 1 {
                ul.strip {
                    @for (at, photo) in photos.iter().enumerate().skip(1) {
                        li {
                            a href=(large(photo)) {
                                img class=[focus(photo.focus)] src=(photo.path(PhotoSize::Small)) alt=(animal.alt(at, photo))
                                    width="72" height="54" loading="lazy";
                            }
                        }
                    }
                }
            }
            (drawings.symbols())
        }
    }
}

/// The address of its public page, if it has one.
fn public_page(desk: &Desk<'_>, pet: &StorePet) -> Option<String> {
    let url = desk.visit.console.settings.window.as_ref();
    let url = url.filter(|_| pet.withdrawn.is_none() && pet.status != PetStatus::Sold);
    url.map(|url| format!("{url}/animals/{}", pet.id))
}

/// What its card for the kennel has below its picture and its name, which everybody may see.
pub(super) fn card(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
    let animal = Animal::public(pet, fields);
    html! {
        div.print {
            // With a breed, the line below the name has no species.
            @if let Some(species) = animal.word("species").filter(|_| animal.word("breed").is_some()) { p { (species) } }
            @if let Some(story) = animal.description() { p { (markup::lines(story)) } }
            @if let Some(page) = public_page(desk, pet) { (markup::qr_code(&page, &page)) p { (page) } }
        }
    }
}

/// Its name, and what people ask first.
pub(super) fn title(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Markup {
    let line = Animal::whole(pet, fields).line(parts::today(desk));
    let price = asking_price(pet, fields);
    html! {
        div {
            div.head {
                h1 { (markup::name(pet.name.as_str(), LONG)) }
                (markup::pet_badge(pet))
            }
            @if !line.is_empty() { p.line { bdi { (line) } } }
            p {
                @if let Some(price) = &price {
                    strong.price { (amount(price.as_str(), desk.currency())) } " · "
                }
                span.muted { (texts().number) " " (pet.id.get()) }
            }
        }
    }
}

pub(super) fn tools(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let path = format!("/animals/{}", pet.id);
    let has_photos = desk.app().photos.place().is_some() || !pet.photos.all().is_empty();
    html! {
        div.head {
            div.buttons {
                @if desk.may_write() && pet.withdrawn.is_none() {
                    a.button href={ (path) "/edit" } { (texts().edit) }
                    @if has_photos { a.button href={ (path) "/photos" } { (texts().manage_photos) } }
                }
                @if let Some(page) = public_page(desk, pet) { a.button href=(page) { (texts().public_page) } }
                button type="button" data-print { (texts().print) }
            }
        }
    }
}
