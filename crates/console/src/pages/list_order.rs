//! The sort orders of the list of animals.
//!
//! The store reads animals only in the order in which they were added. For every other order (name,
//! price, age, place, day of intake), the page loads all animals of the list and sorts them. These
//! orders are therefore available only for lists of at most [`MAX_SORTED`] animals.

use std::{borrow::Cow, cmp::Reverse};

use jiff::civil::Date;
use petstore_domain::{
    PetId,
    store_area::{
        Decimal, FieldDefinition, FieldSet, INTAKE, PLACE, PetQuery, StorePet, search_key,
    },
};
use petstore_languages::look::Animal;

use super::{category_names::largest_page_limit, values::label_of};
use crate::prelude::*;

/// The maximum number of animals that a page sorts.
pub(super) const MAX_SORTED: usize = 500;

/// A sort order of the list of animals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListOrder {
    /// The animals that were added last come first. This is the default.
    Newest,
    /// The animals that have been here longest come first.
    Longest,
    Name,
    Price,
    /// The youngest animals come first.
    Age,
    Place,
}

/// A part of a place name, for natural sorting. A number sorts before a text, because its variant
/// is declared first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PlacePart {
    /// A number without leading zeros. The length is compared first, so that 10 is larger than 2.
    Number {
        length: usize,
        digits: String,
    },
    Text(String),
}

/// A page of a sorted list.
pub(super) struct SortedPage {
    pub(super) pets: Vec<StorePet>,
    /// The last animal of the page, if more follow.
    pub(super) next_position: Option<PetId>,
    /// The number of animals on all pages of the list.
    pub(super) count: usize,
}

impl ListOrder {
    pub(super) const ALL: [Self; 6] = [
        Self::Newest,
        Self::Longest,
        Self::Name,
        Self::Price,
        Self::Age,
        Self::Place,
    ];

    /// Returns the order that the query parameter selects. An unknown value selects
    /// [`Self::Newest`].
    pub(super) fn from_parameter(value: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|order| order.as_parameter() == value)
            .unwrap_or(Self::Newest)
    }

    /// Returns the value of the query parameter; empty for the default order.
    pub(super) fn as_parameter(self) -> &'static str {
        match self {
            Self::Newest => "",
            Self::Longest => "longest",
            Self::Name => "name",
            Self::Price => "price",
            Self::Age => "age",
            Self::Place => "place",
        }
    }

    /// Returns the label of the order, such as "Name A–Z".
    pub(super) fn label(self, fields: &FieldSet) -> Cow<'static, str> {
        match self {
            Self::Newest => texts().newest_first.into(),
            Self::Longest => texts().longest_first.into(),
            Self::Name => texts().by_name.into(),
            Self::Price => texts().by_price(texts().price).into(),
            Self::Age => texts().youngest_first.into(),
            Self::Place => texts().by_place(&place_label(fields)).into(),
        }
    }

    /// Whether the page must sort the animals itself, because this order can differ from the order
    /// in which they were added.
    pub(super) fn needs_sorting(self, fields: &FieldSet) -> bool {
        match self {
            Self::Newest => false,
            // Without a day of intake, an animal has been here since it was added.
            Self::Longest => fields.find(INTAKE).is_some(),
            Self::Name | Self::Price | Self::Age | Self::Place => true,
        }
    }

    /// Whether members can choose this order. An order that sorts by a field is available only if
    /// the store has this field.
    pub(super) fn is_available(self, fields: &FieldSet) -> bool {
        match self {
            Self::Price => fields.find("price").is_some(),
            Self::Age => fields.all().iter().any(FieldDefinition::is_birth),
            Self::Place => fields.find(PLACE).is_some(),
            Self::Newest | Self::Longest | Self::Name => true,
        }
    }

    /// Sorts animals in place. The sort is stable.
    ///
    /// Animals without a price, a day of birth or a place come last. With [`Self::Longest`],
    /// animals without a known day of arrival come first, because an early release added them.
    fn sort(self, desk: &Desk<'_>, pets: &mut [StorePet], fields: &FieldSet) {
        match self {
            Self::Newest => {}
            // `None` sorts first.
            Self::Longest => pets.sort_by_cached_key(|pet| find_arrival_day(desk, pet, fields)),
            Self::Name => pets.sort_by_cached_key(|pet| search_key(pet.name.as_str())),
            Self::Price => pets.sort_by_cached_key(|pet| {
                match Animal::whole(pet, fields).price().and_then(Decimal::new) {
                    Some(price) => price.ten_thousandths(),
                    // Animals without a price come last.
                    None => i64::MAX,
                }
            }),
            // The order of the days is reversed, and so `None` comes last.
            Self::Age => pets.sort_by_cached_key(|pet| Reverse(Animal::whole(pet, fields).born())),
            Self::Place => pets.sort_by_cached_key(|pet| {
                let place = pet.place();
                // `false` sorts before `true`, so animals without a place come last.
                (place.is_none(), place.map(place_parts))
            }),
        }
    }
}

/// Splits a place name into numbers and the texts between them.
///
/// The parts are the key of natural sorting, in which `K2` precedes `K10`. `K10` and `k 010` both
/// split into the text `k` and the number 10.
fn place_parts(place: &str) -> Vec<PlacePart> {
    let key = search_key(place);
    let mut parts = Vec::new();
    let mut remaining = key.as_str();
    while let Some(first) = remaining.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = remaining.find(|character: char| character.is_ascii_digit() != is_number);
        let (part, remainder) = remaining.split_at(end.unwrap_or(remaining.len()));
        if is_number {
            let digits = part.trim_start_matches('0').to_owned();
            let length = digits.len();
            parts.push(PlacePart::Number { length, digits });
        } else {
            parts.push(PlacePart::Text(part.trim().to_owned()));
        }
        remaining = remainder;
    }
    parts
}

/// Returns the label of the field with the place where an animal is kept. The label is empty if the
/// store has no such field.
pub(super) fn place_label(fields: &FieldSet) -> String {
    fields.find(PLACE).map(label_of).unwrap_or_default()
}

/// Returns the day on which an animal arrived: the day of its intake, or else the day on which it
/// was added. An animal of an early release may have neither.
pub(super) fn find_arrival_day(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Option<Date> {
    let facts = &desk.visit.facts;
    Animal::whole(pet, fields).arrival(|added_at| facts.day_of(added_at))
}

/// Loads all animals of a query, sorts them, and returns the page that follows the animal
/// `query.after`. Returns `None` if there are more than [`MAX_SORTED`] animals.
pub(super) async fn load_sorted_page(
    desk: &Desk<'_>,
    query: &PetQuery,
    order: ListOrder,
    fields: &FieldSet,
) -> Result<Option<SortedPage>, StoreError> {
    if is_known_to_be_too_long(desk, query).await? {
        return Ok(None);
    }
    let Some(mut pets) = load_all_pets(desk, query).await? else {
        return Ok(None);
    };
    order.sort(desk, &mut pets, fields);
    Ok(Some(page_of_sorted_pets(pets, query)))
}

/// Whether a query is known to have more than [`MAX_SORTED`] animals.
///
/// For searches, and for the animals on offer, the store can count the animals with an index, which
/// is much cheaper than loading them. For other queries, this returns `false` without counting.
async fn is_known_to_be_too_long(desk: &Desk<'_>, query: &PetQuery) -> Result<bool, StoreError> {
    if !query.is_on_offer && !query.is_search() {
        return Ok(false);
    }
    let count_query = PetQuery {
        after: None,
        ..query.clone()
    };
    let count = desk
        .store()
        .count_on_offer(&count_query, MAX_SORTED + 1)
        .await?;
    Ok(count > MAX_SORTED)
}

/// Loads all animals of a query; `None` if there are more than [`MAX_SORTED`].
async fn load_all_pets(
    desk: &Desk<'_>,
    query: &PetQuery,
) -> Result<Option<Vec<StorePet>>, StoreError> {
    let mut page_query = PetQuery {
        after: None,
        limit: largest_page_limit(),
        ..query.clone()
    };
    let mut pets = Vec::new();
    loop {
        let (page, next_position) = desk.store().list_store_pets(&page_query).await?;
        pets.extend(page);
        if pets.len() > MAX_SORTED {
            return Ok(None);
        }
        if next_position.is_none() {
            return Ok(Some(pets));
        }
        page_query.after = next_position;
    }
}

/// Returns the page of sorted animals that follows the animal `query.after`. If that animal is not
/// among them, returns the first page.
fn page_of_sorted_pets(mut sorted_pets: Vec<StorePet>, query: &PetQuery) -> SortedPage {
    let count = sorted_pets.len();
    let previous_index = sorted_pets
        .iter()
        .position(|pet| Some(pet.id) == query.after);
    let start = match previous_index {
        Some(index) => index + 1,
        None => 0,
    };
    let mut pets = sorted_pets.split_off(start);
    let page_length = usize::from(query.limit.get());
    let has_next_page = pets.len() > page_length;
    pets.truncate(page_length);
    let next_position = if has_next_page {
        pets.last().map(|pet| pet.id)
    } else {
        None
    };
    SortedPage {
        pets,
        next_position,
        count,
    }
}
