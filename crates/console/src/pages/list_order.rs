//! The orders of the list of animals.
//!
//! The store reads animals in the order in which they were added. By name, price, age or place, and by the day of intake, the page reads all animals of the list and
//! sorts them, so these orders are for lists of limited length.

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

/// The largest number of animals that a page sorts.
pub(super) const MAX_SORTED: usize = 500;

/// An order of the list of animals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListOrder {
    Newest,
    Longest,
    Name,
    Price,
    Age,
    Place,
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

    /// Returns the order that the parameter of a list names. Another text means that the newest animals are first.
    pub(super) fn from_parameter(value: &str) -> Self {
        let mut orders = Self::ALL.into_iter();
        let order = orders.find(|order| order.as_parameter() == value);
        order.unwrap_or(Self::Newest)
    }

    /// Returns the value of the parameter of a list; empty for the order that a list has without it.
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

    /// Whether the page sorts the animals, because the store does not read them in this order. The store reads them in the
    /// order in which they were added, and not by the day on which they came.
    pub(super) fn is_sorted_here(self, fields: &FieldSet) -> bool {
        match self {
            Self::Newest => false,
            Self::Longest => fields.find(INTAKE).is_some(),
            Self::Name | Self::Price | Self::Age | Self::Place => true,
        }
    }

    /// Whether animals of a store with these fields can have this order.
    pub(super) fn is_possible(self, fields: &FieldSet) -> bool {
        match self {
            Self::Price => fields.find("price").is_some(),
            Self::Age => fields.all().iter().any(FieldDefinition::is_birth),
            Self::Place => fields.find(PLACE).is_some(),
            Self::Newest | Self::Longest | Self::Name => true,
        }
    }

    /// Sorts animals. Those without a price, a day of birth or a place come last, and equal ones stay in their order.
    fn sort(self, desk: &Desk<'_>, pets: &mut [StorePet], fields: &FieldSet) {
        match self {
            Self::Newest => {}
            Self::Longest => pets.sort_by_cached_key(|pet| arrival(desk, pet, fields)),
            Self::Name => pets.sort_by_cached_key(|pet| search_key(pet.name.as_str())),
            Self::Price => pets.sort_by_cached_key(|pet| {
                let price = Animal::whole(pet, fields).price().and_then(Decimal::new);
                price.map_or(i64::MAX, |price| price.ten_thousandths())
            }),
            Self::Age => pets.sort_by_cached_key(|pet| Reverse(Animal::whole(pet, fields).born())),
            Self::Place => pets.sort_by_cached_key(|pet| {
                let place = pet.place();
                (place.is_none(), place.map(place_parts))
            }),
        }
    }
}

/// A part of a place, as the order by place compares it. A number comes before a text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PlacePart {
    /// A number without zeros at its beginning. The longer number is the larger one.
    Number {
        length: usize,
        digits: String,
    },
    Text(String),
}

/// Returns the numbers of a place and the texts between them, so that `K2` precedes `K10`.
///
/// `K10` has the text `k` and the number 10, and so has `k 010`.
fn place_parts(place: &str) -> Vec<PlacePart> {
    let key = search_key(place);
    let mut parts = Vec::new();
    let mut remaining = key.as_str();
    while let Some(first) = remaining.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = remaining.find(|character: char| character.is_ascii_digit() != is_number);
        let (run, after) = remaining.split_at(end.unwrap_or(remaining.len()));
        if is_number {
            let digits = run.trim_start_matches('0').to_owned();
            let length = digits.len();
            parts.push(PlacePart::Number { length, digits });
        } else {
            parts.push(PlacePart::Text(run.trim().to_owned()));
        }
        remaining = after;
    }
    parts
}

/// Returns the label of the place of animals.
pub(super) fn place_label(fields: &FieldSet) -> String {
    fields.find(PLACE).map(label_of).unwrap_or_default()
}

/// Returns the day on which an animal came: the day of its intake, or else the day on which it was added. An animal of an
/// early release has none.
pub(super) fn arrival(desk: &Desk<'_>, pet: &StorePet, fields: &FieldSet) -> Option<Date> {
    let facts = &desk.visit.facts;
    Animal::whole(pet, fields).arrival(|added_at| facts.day_of(added_at))
}

/// A page of a sorted list.
pub(super) struct SortedPage {
    pub(super) pets: Vec<StorePet>,
    /// The last animal of the page, if others follow.
    pub(super) next_position: Option<PetId>,
    /// The number of all animals of the list.
    pub(super) count: usize,
}

/// Reads the animals of a query, sorts them, and returns the page after `query.after`. Returns `None` if there are more than
/// [`MAX_SORTED`].
pub(super) async fn load_sorted_page(
    desk: &Desk<'_>,
    query: &PetQuery,
    order: ListOrder,
    fields: &FieldSet,
) -> Result<Option<SortedPage>, StoreError> {
    // To count is much faster than to read, where the store has an index for it.
    if query.is_on_offer || query.is_search() {
        let count_query = PetQuery {
            after: None,
            ..query.clone()
        };
        let count = desk
            .store()
            .count_on_offer(&count_query, MAX_SORTED + 1)
            .await?;
        if count > MAX_SORTED {
            return Ok(None);
        }
    }

    let mut page_query = PetQuery {
        after: None,
        limit: largest_page_limit(),
        ..query.clone()
    };
    let mut pets = Vec::new();
    loop {
        let (page, next) = desk.store().list_store_pets(&page_query).await?;
        pets.extend(page);
        if pets.len() > MAX_SORTED {
            return Ok(None);
        }
        if next.is_none() {
            break;
        }
        page_query.after = next;
    }

    order.sort(desk, &mut pets, fields);
    let count = pets.len();
    let last_shown = pets.iter().position(|pet| Some(pet.id) == query.after);
    let mut pets = pets.split_off(last_shown.map_or(0, |index| index + 1));
    let page_length = usize::from(query.limit.get());
    let has_next_page = pets.len() > page_length;
    pets.truncate(page_length);
    let next_position = if has_next_page {
        pets.last().map(|pet| pet.id)
    } else {
        None
    };
    Ok(Some(SortedPage {
        pets,
        next_position,
        count,
    }))
}
