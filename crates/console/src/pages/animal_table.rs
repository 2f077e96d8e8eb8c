//! The table of the list of animals.

use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, Order, StorePet},
};
use petstore_languages::look::{Animal, Drawings, duration_in_words};

use super::{
    list_order::{find_arrival_day, place_label},
    order_contacts,
    parts::{self, animal_card},
    pet_schema::PetSchema,
};
use crate::prelude::*;

/// Renders the table with a row for each animal: its picture, its price, its status, its place, and
/// how long it has been in the store.
///
/// `orders` are the open orders of the animals, whose contacts are shown below the status. With
/// `has_checkboxes`, each row has a checkbox for the form that changes the selected animals.
pub(super) fn animal_table(
    desk: &Desk<'_>,
    pets: &[StorePet],
    schema: PetSchema<'_>,
    orders: &[Order],
    has_checkboxes: bool,
) -> Markup {
    let mut drawings = Drawings::default();
    // The table has a column for the place only if one of the animals has a place.
    let has_places = pets.iter().any(|pet| pet.place().is_some());
    let place_heading = place_label(schema.fields);
    let shown_place_heading = has_places.then_some(&*place_heading);
    let headings = column_headings(has_checkboxes, shown_place_heading);
    let rows = html! {
        @for (index, pet) in pets.iter().enumerate() {
            @let animal = Animal::whole(pet, schema.fields);
            @let category = markup::category(schema.categories, pet.category_id);
            tr {
                @if has_checkboxes { td.tick { (selection_checkbox(desk, pet)) } }
                td.first { (animal_card(desk, &animal, &category, &mut drawings, index)) }
                td.price {
                    @if let Some(price) = animal.price() { (amount(price, desk.currency())) }
                }
                td {
                    (markup::pet_badges(pet))
                    @if let Some(contact) = order_contacts::visible_contact_for(desk, orders, pet) {
                        div.hint.no-print { (markup::text(contact, SHORT_LENGTH)) }
                    }
                }
                td.number data-label=(texts().number) { small { (pet.id.get()) } }
                @if has_places {
                    td data-label=(place_heading) { small { bdi { (pet.place().unwrap_or("–")) } } }
                }
                td data-label=(texts().stay) { small { (length_of_stay(desk, pet, schema.fields)) } }
            }
        }
    };
    html! { (drawings.symbols()) (markup::table(&headings, &rows)) }
}

/// Returns how long an animal has been in the store, such as `3 weeks`.
///
/// Returns a dash for an animal that was sold or withdrawn, or whose arrival is unknown.
fn length_of_stay(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> String {
    let has_left = pet.withdrawal.is_some() || pet.status == PetStatus::Sold;
    let words = match find_arrival_day(desk, pet, fields) {
        Some(arrival) if !has_left => duration_in_words(arrival, parts::today(desk)),
        _ => None,
    };
    words.unwrap_or_else(|| "–".to_owned())
}

/// Renders the headings of the columns. The heading of the checkboxes is a checkbox that selects
/// all animals. `place_heading` is `None` if the table has no column for the place.
fn column_headings(has_checkboxes: bool, place_heading: Option<&str>) -> Markup {
    let mut labels = vec![
        texts().name,
        texts().price,
        texts().status_label,
        texts().number,
    ];
    labels.extend(place_heading);
    labels.push(texts().stay);
    html! {
        @if has_checkboxes {
            td.tick { input type="checkbox" data-all aria-label=(texts().select_all); }
        }
        (markup::headings(&labels))
    }
}

/// Renders the checkbox that selects an animal.
///
/// Its value is the id and the version of the animal, such as `7:3`. With the version, the store
/// can detect that somebody else has changed the animal since the list was shown.
fn selection_checkbox(desk: &Desk<'_>, pet: &StorePet) -> Markup {
    let label = texts().select(&markup::plain_name(pet.name.as_str()));
    html! {
        label {
            input type="checkbox" name="pet" value={ (pet.id.get()) ":" (pet.version) }
                checked[is_selected(desk, pet)] aria-label=(label);
        }
    }
}

/// Whether the submitted form selects the animal, in any version.
fn is_selected(desk: &Desk<'_>, pet: &StorePet) -> bool {
    let id = pet.id.get().to_string();
    desk.visit
        .form
        .all("pet")
        .filter_map(|selection| selection.split_once(':'))
        .any(|(selected_id, _)| selected_id == id)
}
