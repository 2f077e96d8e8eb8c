//! Searches orders by what people know about them: the customer, the animal, or a number.

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

/// The maximum number of orders that one scan reads, beginning with the newest. The scans compare the
/// text with the references and contacts of the orders, or with the names of their animals.
pub(super) const MAX_SCANNED: usize = 2_000;

/// The maximum number of orders that a search returns.
const MAX_RESULTS: usize = 100;

/// How many trailing digits of a telephone number are compared. They are the same whether or not the
/// number is written with its country code.
const DISTINCTIVE_DIGITS: usize = 9;

/// The maximum number of animals with a matching name whose orders are loaded.
const MAX_NAMED_ANIMALS: i64 = 25;

/// The maximum number of orders that are loaded for each matching animal.
const MAX_ORDERS_OF_ANIMAL: i64 = 20;

/// The orders that match a search.
#[derive(Default)]
pub(super) struct OrderMatches {
    pub(super) orders: Vec<Order>,
    /// Whether these are all matches; `false` if a limit was reached.
    pub(super) is_complete: bool,
}

/// Finds the orders that match a text, in this status or in any. The order with this id comes first,
/// then reservations, then other orders; both from newest to oldest.
pub(super) async fn find(
    desk: &Desk<'_>,
    search_text: &str,
    status: Option<OrderStatus>,
) -> Result<OrderMatches, ApiError> {
    let searched_id = forms::parse_id(search_text).and_then(OrderId::new);
    let mut orders = load_orders(desk, searched_id.into_iter()).await?;
    let query = OrderQuery {
        status,
        newest_first: true,
        ..OrderQuery::default()
    };
    orders.extend(find_by_reference(desk, search_text, &query).await?);

    let animal_matches = find_by_animal(desk, search_text, &query).await?;
    let partial_matches = find_by_partial_match(desk, search_text, &query).await?;
    orders.extend(animal_matches.orders);
    orders.extend(partial_matches.orders);

    if let Some(status) = status {
        orders.retain(|order| order.status == status);
    }
    orders.sort_by_key(|order| {
        let has_searched_id = Some(order.id) == searched_id;
        let is_reserved = order.status == OrderStatus::Reserved;
        (!has_searched_id, !is_reserved, std::cmp::Reverse(order.id))
    });
    // An order that was found in several ways now has its copies next to each other.
    orders.dedup_by_key(|order| order.id);
    let is_within_limit = orders.len() <= MAX_RESULTS;
    orders.truncate(MAX_RESULTS);
    Ok(OrderMatches {
        orders,
        is_complete: animal_matches.is_complete && partial_matches.is_complete && is_within_limit,
    })
}

/// Finds the orders whose reference equals the text.
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

/// Finds the orders of animals with this id or unique value, or with a name that begins with the text.
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
        // There can be more animals with this name than the limit below, so the newest orders are also
        // scanned for the names of their animals.
        matches = scan_pet_names(desk, &name, query.status).await?;
        let pet_query = PetQuery {
            name: Some(name),
            limit: Limit::new(MAX_NAMED_ANIMALS).unwrap_or_default(),
            newest_first: true,
            ..PetQuery::default()
        };
        let (named_pets, next_position) = desk.store().list_store_pets(&pet_query).await?;
        pet_ids.extend(named_pets.into_iter().map(|pet| pet.id));
        // The matches are complete if either the scan or the list of animals is.
        matches.is_complete |= next_position.is_none();
    }
    matches
        .orders
        .extend(load_orders_of_pets(desk, pet_ids, query).await?);
    Ok(matches)
}

/// Finds the orders whose animal has a name that begins with `name`, among the newest [`MAX_SCANNED`]
/// orders in this status or in any.
async fn scan_pet_names(
    desk: &Desk<'_>,
    name: &NamePrefix,
    status: Option<OrderStatus>,
) -> Result<OrderMatches, StoreError> {
    let names = desk.store().names_of_orders(status, MAX_SCANNED).await?;
    let matching_ids: Vec<OrderId> = names
        .iter()
        .filter(|(_, pet_name)| !name.is_empty() && name.finds(pet_name.as_str()))
        .map(|(id, _)| *id)
        // With one more than fits, `find` notices that there are too many.
        .take(MAX_RESULTS + 1)
        .collect();
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

/// Finds the orders whose reference or contact contains the text.
///
/// Without a status, the reservations are scanned separately before all orders are. They are few, so
/// this also finds old reservations, which the scan of all orders would not reach within its limit.
async fn find_by_partial_match(
    desk: &Desk<'_>,
    search_text: &str,
    query: &OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let statuses = match query.status {
        None => vec![Some(OrderStatus::Reserved), None],
        Some(status) => vec![Some(status)],
    };
    let pattern = PartialPattern::new(search_text);
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
        let matches = scan_orders(desk, &pattern, query).await?;
        all_matches.orders.extend(matches.orders);
        all_matches.is_complete &= matches.is_complete;
    }
    Ok(all_matches)
}

/// Pages through the orders of a query, the newest first, and returns those that match. Stops after
/// [`MAX_SCANNED`] orders or [`MAX_RESULTS`] matches.
async fn scan_orders(
    desk: &Desk<'_>,
    pattern: &PartialPattern,
    mut query: OrderQuery,
) -> Result<OrderMatches, StoreError> {
    let mut matches = OrderMatches::default();
    let mut read_count = 0;
    while read_count < MAX_SCANNED && matches.orders.len() < MAX_RESULTS {
        let (orders, next_position) = desk.store().list_orders(&query).await?;
        read_count += orders.len();
        let matching_orders = orders
            .into_iter()
            .filter(|order| pattern.matches(desk, order));
        matches.orders.extend(matching_orders);
        query.after = next_position;
        if next_position.is_none() {
            matches.is_complete = true;
            break;
        }
    }
    Ok(matches)
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
    /// Returns the pattern for a text. A text of digits is treated as a telephone number: contacts
    /// match by its last [`DISTINCTIVE_DIGITS`] digits.
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
        contact(desk, order).is_some_and(|contact| self.matches_contact(contact))
    }

    /// Whether a contact contains all words of the pattern, each in one of its spellings.
    fn matches_contact(&self, contact: &str) -> bool {
        if self.contact_words.is_empty() {
            return false;
        }
        let contact_spellings = spellings(contact);
        self.contact_words.iter().all(|word_spellings| {
            word_spellings.iter().any(|word| {
                contact_spellings
                    .iter()
                    .any(|spelling| spelling.contains(word))
            })
        })
    }
}
