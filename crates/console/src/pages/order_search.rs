//! Finding orders by what people know of them: the customer, the animal, or a number.

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit, PetId,
    store_area::{
        NamePrefix, Order, OrderId, OrderQuery, OrderStatus, PetQuery, Reference,
        letters_and_digits, spellings,
    },
    text::comparison_key,
};

use super::{
    category_names::{MAX_CONCURRENT_READS, largest_page_limit},
    exact_matches::find_exact_matches,
    order_rows::{contact, load_orders},
};
use crate::prelude::*;

/// The number of orders, the newest first, that are searched for a part of a reference or a contact: of the
/// reservations, and of all.
pub(super) const MAX_SEARCHED: usize = 2_000;

/// The number of orders that a search shows.
const MAX_RESULTS: usize = 100;

/// The number of the last digits of a telephone number that distinguish it from others.
const DISTINCTIVE_DIGITS: usize = 9;

/// The number of animals with a name whose orders are searched.
const MAX_NAMED_ANIMALS: i64 = 25;

/// The number of orders that are read for each animal with a name.
const MAX_ORDERS_OF_ANIMAL: i64 = 20;

/// Orders that match a search.
#[derive(Default)]
pub(super) struct OrderMatches {
    pub(super) orders: Vec<Order>,
    /// Whether no match was left out.
    pub(super) is_complete: bool,
}

/// Finds the orders in this status that match a text: first the order with the number, then the reservations,
/// then the newest.
pub(super) async fn find(
    desk: &Desk<'_>,
    search_text: &str,
    status: Option<OrderStatus>,
) -> Result<OrderMatches, ApiError> {
    let number = forms::parse_id(search_text).and_then(OrderId::new);
    let mut orders = load_orders(desk, number.into_iter()).await?;
    let query = OrderQuery {
        status,
        newest_first: true,
        ..OrderQuery::default()
    };
    orders.extend(find_by_reference(desk, search_text, &query).await?);

    let animal_matches = find_by_animal(desk, search_text, &query).await?;
    let part_matches = find_by_part(desk, search_text, &query).await?;
    orders.extend(animal_matches.orders);
    orders.extend(part_matches.orders);

    if let Some(status) = status {
        orders.retain(|order| order.status == status);
    }
    orders.sort_by_key(|order| {
        let has_number = Some(order.id) == number;
        let is_reserved = order.status == OrderStatus::Reserved;
        (!has_number, !is_reserved, std::cmp::Reverse(order.id))
    });
    orders.dedup_by_key(|order| order.id);
    let fits = orders.len() <= MAX_RESULTS;
    orders.truncate(MAX_RESULTS);
    Ok(OrderMatches {
        orders,
        is_complete: animal_matches.is_complete && part_matches.is_complete && fits,
    })
}

/// Finds the orders whose whole reference is the text.
async fn find_by_reference(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<Vec<Order>, StoreError> {
    let Some(reference) = Reference::new(search_text.to_owned()) else {
        return Ok(Vec::new());
    };
    let query = OrderQuery {
        reference: Some(reference),
        limit: largest_page_limit(),
        ..query.clone()
    };
    let (orders, _) = desk.store().list_orders(&query).await?;
    Ok(orders)
}

/// Finds the orders of the animals whose number, name or unique value is the text.
async fn find_by_animal(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<OrderMatches, ApiError> {
    let fields = desk.store().fields().await?;
    let pets = find_exact_matches(desk, &fields, search_text).await?;
    let mut pet_ids: Vec<PetId> = pets.into_iter().map(|pet| pet.id).collect();
    let mut matches = OrderMatches {
        orders: Vec::new(),
        is_complete: true,
    };
    if let Some(name) = NamePrefix::new(search_text)
        && !search_text.contains('\0')
    {
        // Many more animals can have the name, so the newest orders of such animals are also found by the name.
        let names = desk
            .store()
            .names_of_orders(query.status, MAX_SEARCHED)
            .await?;
        let matching_ids: Vec<OrderId> = names
            .iter()
            .filter(|(_, pet_name)| !name.is_empty() && name.finds(pet_name.as_str()))
            .map(|(id, _)| *id)
            .take(MAX_RESULTS + 1)
            .collect();
        matches.orders = load_orders(desk, matching_ids.into_iter()).await?;

        let pet_query = PetQuery {
            name: Some(name),
            limit: Limit::new(MAX_NAMED_ANIMALS).unwrap_or_default(),
            newest_first: true,
            ..PetQuery::default()
        };
        let (named_pets, next) = desk.store().list_store_pets(&pet_query).await?;
        pet_ids.extend(named_pets.into_iter().map(|pet| pet.id));
        matches.is_complete = next.is_none() || names.len() < MAX_SEARCHED;
    }
    matches
        .orders
        .extend(load_orders_of(desk, pet_ids, query).await?);
    Ok(matches)
}

/// Loads the newest orders of each animal.
async fn load_orders_of(
    desk: &Desk<'_>,
    pet_ids: Vec<PetId>,
    query: &OrderQuery,
) -> Result<Vec<Order>, StoreError> {
    let pages: Vec<_> = stream::iter(pet_ids)
        .map(async |pet_id| {
            let query = OrderQuery {
                pet_id: Some(pet_id),
                limit: Limit::new(MAX_ORDERS_OF_ANIMAL).unwrap_or_default(),
                ..query.clone()
            };
            desk.store().list_orders(&query).await
        })
        .buffered(MAX_CONCURRENT_READS)
        .try_collect()
        .await?;
    Ok(pages.into_iter().flat_map(|(orders, _)| orders).collect())
}

/// Finds the orders with the text in a reference or a contact. Without a status, the reservations are searched first,
/// because they are fewer than all orders.
async fn find_by_part(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let statuses = match query.status {
        None => vec![Some(OrderStatus::Reserved), None],
        status => vec![status],
    };
    let pattern = PartPattern::new(search_text);
    let mut all_matches = OrderMatches {
        orders: Vec::new(),
        is_complete: true,
    };
    for status in statuses {
        let query = OrderQuery {
            status,
            limit: largest_page_limit(),
            ..query.clone()
        };
        let matches = scan(desk, &pattern, query).await?;
        all_matches.orders.extend(matches.orders);
        all_matches.is_complete &= matches.is_complete;
    }
    Ok(all_matches)
}

/// Reads orders page by page, the newest first, and returns the orders that match a pattern.
async fn scan(
    desk: &Desk<'_>,
    pattern: &PartPattern,
    mut query: OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let mut matches = OrderMatches::default();
    let mut read_count = 0;
    while read_count < MAX_SEARCHED && matches.orders.len() < MAX_RESULTS {
        let (orders, next) = desk.store().list_orders(&query).await?;
        read_count += orders.len();
        let matching_orders = orders
            .into_iter()
            .filter(|order| pattern.matches(desk, order));
        matches.orders.extend(matching_orders);
        query.after = next;
        if next.is_none() {
            matches.is_complete = true;
            break;
        }
    }
    Ok(matches)
}

/// A part of a reference or a contact.
///
/// `smith ana` and `+49 171 2345678` both match the contact `Ana Smith, 0171 2345678`.
struct PartPattern {
    /// The comparison key of a part of a reference.
    reference_part: String,
    /// The texts that a contact must contain, in any order, each in its spellings without spaces and signs. Nothing matches
    /// no texts.
    contact_parts: Vec<Vec<String>>,
}

impl PartPattern {
    /// Returns the pattern for a text. A telephone number is found without its country code.
    fn new(search_text: &str) -> Self {
        let letters_of_text = letters_and_digits(search_text);
        let is_number = letters_of_text.bytes().all(|byte| byte.is_ascii_digit());
        let contact_parts = if letters_of_text.is_empty() {
            Vec::new()
        } else if is_number {
            let start = letters_of_text.len().saturating_sub(DISTINCTIVE_DIGITS);
            vec![vec![letters_of_text[start..].to_owned()]]
        } else {
            search_text.split_whitespace().map(spellings).collect()
        };
        Self {
            reference_part: comparison_key(search_text),
            contact_parts,
        }
    }

    /// Whether the reference of an order, or the contact that the member may see, has the part.
    fn matches(&self, desk: &Desk<'_>, order: &Order) -> bool {
        if let Some(reference) = &order.reference
            && comparison_key(reference.as_str()).contains(&self.reference_part)
        {
            return true;
        }
        contact(desk, order).is_some_and(|contact| self.is_in_contact(contact))
    }

    /// Whether a contact has all parts.
    fn is_in_contact(&self, contact: &str) -> bool {
        let contact_spellings = spellings(contact);
        let has_part = |part: &String| {
            contact_spellings
                .iter()
                .any(|contact| contact.contains(part))
        };
        !self.contact_parts.is_empty()
            && self
                .contact_parts
                .iter()
                .all(|part_spellings| part_spellings.iter().any(has_part))
    }
}
