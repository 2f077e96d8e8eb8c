//! The table of the list of animals.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, Order, StorePet},
};
use petstore_languages::look::{Animal, Drawings, duration_in_words};

use super::{
    list_order::{arrival, place_label},
    order_rows,
    parts::{self, animal_card},
    pet_schema::PetSchema,
};
use crate::prelude::*;

/// Shows animals with their pictures and what tells them apart, and with the contacts of `orders`.
///
/// `has_boxes` adds a box to each animal, with which a member selects it.
pub(super) fn animal_table(
    desk: &Desk<'_>,
    pets: &[StorePet],
    schema: PetSchema<'_>,
    orders: &[Order],
    has_boxes: bool,
) -> Markup {
    let mut drawings = Drawings::default();
    // Without places, the list has no column for them.
    let label = place_label(schema.fields);
    let has_places = pets.iter().any(|pet| pet.place().is_some());
    let place_heading = has_places.then_some(&*label);
    let rows = html! {
        @for (index, pet) in pets.iter().enumerate() {
            @let animal = Animal::whole(pet, schema.fields);
            @let category = markup::category(schema.categories, pet.category_id);
            tr {
                @if has_boxes { td.tick { (selection_box(desk, pet)) } }
                td.first { (animal_card(desk, &animal, &category, &mut drawings, index)) }
                td.price {
                    @if let Some(price) = animal.price() { (amount(price, desk.currency())) }
                }
                td {
                    (markup::pet_badges(pet))
                    @if let Some(contact) = order_rows::contact_for(desk, orders, pet) {
                        div.hint.no-print { (markup::text(contact, SHORT_LENGTH)) }
                    }
                }
                td.number data-label=(texts().number) { small { (pet.id.get()) } }
                @if has_places {
                    td data-label=(label) { small { bdi { (pet.place().unwrap_or("–")) } } }
                }
                td data-label=(texts().stay) { small { (stay(desk, pet, schema.fields)) } }
            }
        }
    };
    html! { (drawings.symbols()) (markup::table(&headings(has_boxes, place_heading), &rows)) }
}

/// Returns for how long an animal has been here since the day of its intake, such as `3 weeks`; a dash for an animal that has left.
fn stay(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> String {
    let has_left = pet.withdrawal.is_some() || pet.status == PetStatus::Sold;
    let words = match arrival(desk, pet, fields) {
        Some(arrival) if !has_left => duration_in_words(arrival, parts::today(desk)),
        _ => None,
    };
    words.unwrap_or_else(|| "–".to_owned())
}

/// Returns the headings of the columns. The box of its own column selects all animals.
fn headings(has_boxes: bool, place: Option<&str>) -> Markup {
    let mut labels = vec![
        texts().name,
        texts().price,
        texts().status_label,
        texts().number,
    ];
    labels.extend(place);
    labels.push(texts().stay);
    html! {
        @if has_boxes {
            td.tick { input type="checkbox" data-all aria-label=(texts().select_all); }
        }
        (markup::headings(&labels))
    }
}

/// Shows the box that selects an animal. Its value is the id and the version of the animal, such as `7:3`.
fn selection_box(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let label = texts().select(&markup::plain_name(pet.name.as_str()));
    html! {
        label {
            input type="checkbox" name="pet" value={ (pet.id.get()) ":" (pet.version) }
                checked[is_selected(desk, pet)] aria-label=(label);
        }
    }
}

/// Whether the submitted form selects an animal, in any version.
fn is_selected(desk: &Desk<'_>, pet: &StorePet) -> bool {
    let id = pet.id.get().to_string();
    desk.visit
        .form
        .all("pet")
        .filter_map(|selection| selection.split_once(':'))
        .any(|(selected_id, _)| selected_id == id)
}
