//! Searches orders by what people know about them: the customer, the animal, or a number.

use std::cmp::Reverse;

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    PetId,
    store_area::{
        NamePrefix, Order, OrderId, OrderQuery, OrderStatus, PetQuery, Reference,
        letters_and_digits, spellings,
    },
    text::comparison_key,
};

use super::{
    category_names::{MAX_CONCURRENT_READS, largest_page_limit},
    exact_matches::find_exact_matches,
    order_contacts::visible_contact,
    order_rows::load_orders,
    parts::constant_limit,
};
use crate::prelude::*;

/// The maximum number of orders that one scan reads, beginning with the newest. The scans compare
/// the text with the references and contacts of the orders, or with the names of their animals.
pub(super) const MAX_SCANNED: usize = 2_000;

/// The maximum number of orders that a search returns.
const MAX_RESULTS: usize = 100;

/// How many trailing digits of a telephone number are compared. They are the same whether or not
/// the number is written with its country code.
const DISTINCTIVE_DIGITS: usize = 9;

/// The maximum number of animals with a matching name whose orders are loaded.
const MAX_NAMED_ANIMALS: i64 = 25;

/// The maximum number of orders that are loaded for each matching animal.
const MAX_ORDERS_OF_ANIMAL: i64 = 20;

/// The orders that match a search.
pub(super) struct OrderMatches {
    pub(super) orders: Vec<Order>,
    /// Whether these are all matches; `false` if a limit was reached.
    pub(super) is_complete: bool,
}

impl OrderMatches {
    /// Returns these orders as all matches of a search.
    fn complete(orders: Vec<Order>) -> Self {
        Self {
            orders,
            is_complete: true,
        }
    }

    /// Adds the matches of another search. The matches are then complete only if both searches
    /// were.
    fn merge(&mut self, other: Self) {
        self.orders.extend(other.orders);
        self.is_complete &= other.is_complete;
    }
}

/// Finds the orders that match a text. Only orders in this status are found, or if it is `None`,
/// orders in any status.
///
/// An order with the text as its id comes first, then the reservations from newest to oldest, and
/// then the other orders from newest to oldest.
pub(super) async fn find(
    desk: &Desk<'_>,
    search_text: &str,
    status: Option<OrderStatus>,
) -> Result<OrderMatches, ApiError> {
    let searched_id = forms::parse_id(search_text).and_then(OrderId::new);
    let query = OrderQuery {
        status,
        newest_first: true,
        ..OrderQuery::default()
    };
    let orders_with_id = load_orders(desk, searched_id.into_iter()).await?;
    let mut matches = OrderMatches::complete(orders_with_id);
    let reference_matches = find_by_reference(desk, search_text, &query).await?;
    matches.orders.extend(reference_matches);
    matches.merge(find_by_animal(desk, search_text, &query).await?);
    matches.merge(find_by_partial_match(desk, search_text, &query).await?);

    let orders = &mut matches.orders;
    if let Some(status) = status {
        // The order with the searched id can have another status.
        orders.retain(|order| order.status == status);
    }
    orders.sort_by_key(|order| {
        let has_searched_id = Some(order.id) == searched_id;
        let is_reserved = order.status == OrderStatus::Reserved;
        (!has_searched_id, !is_reserved, Reverse(order.id))
    });
    // An order that was found in several ways now has its copies next to each other.
    orders.dedup_by_key(|order| order.id);
    if orders.len() > MAX_RESULTS {
        orders.truncate(MAX_RESULTS);
        matches.is_complete = false;
    }
    Ok(matches)
}

/// Finds the orders whose reference equals the text. Like the other searches, finds only orders
/// with the status of `query`.
///
/// Returns only the first page of these orders, which are the newest.
async fn find_by_reference(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<Vec<Order>, StoreError> {
    let Some(reference) = Reference::new(search_text.to_owned()) else {
        return Ok(Vec::new());
    };
    let reference_query = OrderQuery {
        reference: Some(reference),
        limit: largest_page_limit(),
        ..query.clone()
    };
    let (orders, _) = desk.store().list_orders(&reference_query).await?;
    Ok(orders)
}

/// Finds the orders of animals with this id or unique value, or with a name that begins with the
/// text.
async fn find_by_animal(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<OrderMatches, ApiError> {
    let fields = desk.store().fields().await?;
    let exact_matches = find_exact_matches(desk, &fields, search_text).await?;
    let pet_ids = exact_matches.into_iter().map(|pet| pet.id).collect();
    let orders_of_pets = load_orders_of_pets(desk, pet_ids, query).await?;
    let mut matches = OrderMatches::complete(orders_of_pets);
    if let Some(name) = NamePrefix::new(search_text) {
        matches.merge(find_by_pet_name(desk, name, query).await?);
    }
    Ok(matches)
}

/// Finds the orders of animals with a name that begins with `name`.
///
/// There can be more such animals than [`MAX_NAMED_ANIMALS`], so the newest orders are also scanned
/// for the names of their animals.
async fn find_by_pet_name(
    desk: &Desk<'_>,
    name: NamePrefix,
    query: &OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let mut matches = scan_pet_names(desk, &name, query.status).await?;
    let pet_query = PetQuery {
        name: Some(name),
        limit: constant_limit(MAX_NAMED_ANIMALS),
        newest_first: true,
        ..PetQuery::default()
    };
    let (pets, next_position) = desk.store().list_store_pets(&pet_query).await?;
    let pet_ids = pets.into_iter().map(|pet| pet.id).collect();
    let orders_of_pets = load_orders_of_pets(desk, pet_ids, query).await?;
    matches.orders.extend(orders_of_pets);
    // One complete search is enough: the scan of all orders, or the list of all matching animals.
    let has_all_pets = next_position.is_none();
    matches.is_complete = matches.is_complete || has_all_pets;
    Ok(matches)
}

/// Finds the orders whose animal has a name that begins with `name`, among the newest
/// [`MAX_SCANNED`] orders in this status or in any.
async fn scan_pet_names(
    desk: &Desk<'_>,
    name: &NamePrefix,
    status: Option<OrderStatus>,
) -> Result<OrderMatches, StoreError> {
    let names = desk.store().names_of_orders(status, MAX_SCANNED).await?;
    let mut matching_ids: Vec<OrderId> = Vec::new();
    for (order_id, pet_name) in &names {
        // Every name begins with an empty prefix.
        if !name.is_empty() && name.finds(pet_name.as_str()) {
            matching_ids.push(*order_id);
        }
    }
    // With one more than fits, `find` notices that there are too many.
    matching_ids.truncate(MAX_RESULTS + 1);
    Ok(OrderMatches {
        orders: load_orders(desk, matching_ids.into_iter()).await?,
        is_complete: names.len() < MAX_SCANNED,
    })
}

/// Loads the newest orders of each animal, at most [`MAX_ORDERS_OF_ANIMAL`] per animal.
async fn load_orders_of_pets(
    desk: &Desk<'_>,
    pet_ids: Vec<PetId>,
    query: &OrderQuery,
) -> Result<Vec<Order>, StoreError> {
    let pages: Vec<_> = stream::iter(pet_ids)
        .map(async |pet_id| {
            let query_for_pet = OrderQuery {
                pet_id: Some(pet_id),
                limit: constant_limit(MAX_ORDERS_OF_ANIMAL),
                ..query.clone()
            };
            desk.store().list_orders(&query_for_pet).await
        })
        .buffered(MAX_CONCURRENT_READS)
        .try_collect()
        .await?;
    Ok(pages.into_iter().flat_map(|(orders, _)| orders).collect())
}

/// Finds the orders whose reference or contact contains the text.
///
/// A search in any status has two scans: one of the reservations, and one of all orders.
/// Reservations are few, so the first scan also finds old ones, which the second one does not reach
/// within its limit. [`find`] removes the orders that both scans find.
async fn find_by_partial_match(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let pattern = PartialPattern::new(search_text);
    let mut matches = OrderMatches::complete(Vec::new());
    if query.status.is_none() {
        let reservation_query = OrderQuery {
            status: Some(OrderStatus::Reserved),
            ..query.clone()
        };
        matches.merge(scan_orders(desk, &pattern, reservation_query).await?);
    }
    matches.merge(scan_orders(desk, &pattern, query.clone()).await?);
    Ok(matches)
}

/// Reads the orders of a query page by page, and returns the orders that match. Stops after
/// [`MAX_SCANNED`] orders or [`MAX_RESULTS`] matches.
async fn scan_orders(
    desk: &Desk<'_>,
    pattern: &PartialPattern,
    mut query: OrderQuery,
) -> Result<OrderMatches, StoreError> {
    query.limit = largest_page_limit();
    let mut matches = OrderMatches::complete(Vec::new());
    let mut read_count = 0;
    loop {
        let (orders, next_position) = desk.store().list_orders(&query).await?;
        read_count += orders.len();
        for order in orders {
            if pattern.matches(desk, &order) {
                matches.orders.push(order);
            }
        }
        if next_position.is_none() {
            return Ok(matches);
        }
        if read_count >= MAX_SCANNED || matches.orders.len() >= MAX_RESULTS {
            matches.is_complete = false;
            return Ok(matches);
        }
        query.after = next_position;
    }
}

/// A pattern that matches a part of a reference or of a contact.
///
/// `smith ana` and `+49 171 2345678` both match the contact `Ana Smith, 0171 2345678`.
struct PartialPattern {
    /// The comparison key of the search text, which the key of a reference must contain.
    reference_part: String,
    /// The words that a contact must contain, in any order. Each word is a list of alternative
    /// spellings without spaces and punctuation. If there are no words, no contact matches.
    contact_words: Vec<Vec<String>>,
}

impl PartialPattern {
    /// Returns the pattern for a text. A text with digits but no letters is treated as a telephone
    /// number: contacts match by its last [`DISTINCTIVE_DIGITS`] digits.
    fn new(search_text: &str) -> Self {
        let compact_text = letters_and_digits(search_text);
        let is_number = compact_text.bytes().all(|byte| byte.is_ascii_digit());
        let contact_words = if compact_text.is_empty() {
            Vec::new()
        } else if is_number {
            let start = compact_text.len().saturating_sub(DISTINCTIVE_DIGITS);
            vec![vec![compact_text[start..].to_owned()]]
        } else {
            search_text.split_whitespace().map(spellings).collect()
        };
        Self {
            reference_part: comparison_key(search_text),
            contact_words,
        }
    }

    /// Whether the pattern matches the reference of an order, or its contact if the member may see
    /// contacts.
    fn matches(&self, desk: &Desk<'_>, order: &Order) -> bool {
        if let Some(reference) = &order.reference
            && comparison_key(reference.as_str()).contains(&self.reference_part)
        {
            return true;
        }
        match visible_contact(desk, order) {
            Some(contact) => self.matches_contact(contact),
            None => false,
        }
    }

    /// Whether a contact contains all words of the pattern, each in one of its spellings.
    fn matches_contact(&self, contact: &str) -> bool {
        if self.contact_words.is_empty() {
            return false;
        }
        let contact_spellings = spellings(contact);
        self.contact_words
            .iter()
            .all(|word_spellings| contains_word(&contact_spellings, word_spellings))
    }
}

/// Whether a text contains a word. Each is given in all of its spellings, and one common spelling
/// is enough.
fn contains_word(text_spellings: &[String], word_spellings: &[String]) -> bool {
    text_spellings
        .iter()
        .any(|text| word_spellings.iter().any(|word| text.contains(word)))
}
