//! What a store promises for the store area.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::{
    Limit, PetId, StoredResponse, WriteContext,
    store_area::{
        Category, Change, Command, Decision, FieldName, Inventory, Order, OrderId, OrderQuery,
        PetQuery, Refusal, Reservations, StorePet,
    },
};

/// Carries out the commands of the store area, and reads what they changed.
///
/// A page is `Ok((items, next))`, where `next` is the position after the last item if more follow.
/// What exists during a whole walk, with the same filtered values, is on exactly one of its pages.
#[async_trait]
pub trait StoreArea: Send + Sync {
    /// Carries out `commands` in one transaction, in this order: each sees the effect of those
    /// before it. [`crate::domain::store_area::decide`] decides about each, with the state that the
    /// transaction reads. The first refusal undoes all.
    ///
    /// If the client may repeat the request, it has its effect only once: see
    /// [`super::Pets::create_pet`]. A refused request is not remembered.
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, StoreError>;

    /// The animal with this identifier, withdrawn or not.
    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError>;

    /// A page of animals.
    async fn list_store_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError>;

    /// The animals that are available or pending, newest first or oldest first, behind this identifier:
    /// at most `limit`, without their orders. Returns the last identifier if more follow.
    async fn list_on_offer(
        &self,
        after: Option<PetId>,
        limit: Limit,
        oldest_first: bool,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError>;

    /// How many of the animals that are available or pending a query finds, counted up to `most`.
    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> Result<usize, StoreError>;

    /// Counts all animals, which takes long in a large catalogue. The result is as of `now`.
    async fn count_inventory(&self, now: Timestamp) -> Result<Inventory, StoreError>;

    /// The order with this identifier.
    async fn get_order(&self, id: OrderId) -> Result<Option<Order>, StoreError>;

    /// A page of orders.
    async fn list_orders(
        &self,
        query: &OrderQuery,
    ) -> Result<(Vec<Order>, Option<OrderId>), StoreError>;

    /// The reservations that end at `now` or before, in the order of their ends and each with its
    /// end: at most `limit`, after this one.
    async fn due_orders(
        &self,
        after: Option<(OrderId, Timestamp)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(OrderId, Timestamp)>, StoreError>;

    /// The open reservations. The time that this takes grows with their number.
    async fn reservations(&self) -> Result<Reservations, StoreError>;

    /// The orders that closed at `closed_until` or before and have a contact, in the order of their
    /// identifiers: at most `limit`, behind this one. The time that this takes grows with the number of
    /// contacts.
    async fn contacts_until(
        &self,
        closed_until: Timestamp,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<OrderId>, StoreError>;

    /// A page of categories with a higher identifier than `after`, in ascending order.
    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError>;

    /// How many animals have this category, withdrawn or not. The time that this takes grows with the
    /// number of all animals.
    async fn count_of_category(&self, id: i64) -> Result<u64, StoreError>;

    /// Whether an animal, withdrawn or not, has a value of this field. The time that this takes grows
    /// with the number of all animals. Holds up no write.
    async fn has_values(&self, name: &FieldName) -> Result<bool, StoreError>;

    /// Merges some of the animals that were added or changed into the sets of the search, if more than
    /// `few` wait for it, or if their names and values are so long that they make the search slow.
    /// Returns whether there may be more to do. The search is exact at every moment.
    async fn tend_search(&self, few: u64) -> Result<bool, StoreError>;
}

/// The result of [`StoreArea::execute`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executed {
    Done {
        response: StoredResponse,
        /// What was changed, for the log and the metrics.
        changes: Vec<Change>,
    },
    /// The same request was carried out before. This was the response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before, for another request.
    IdempotencyConflict,
    Refused {
        /// The position of the command, from 0.
        index: usize,
        refusal: Refusal,
    },
}

/// Renders the response to carried out commands.
pub type RespondTo = fn(&[Decision]) -> StoredResponse;

/// The number and the end behind which [`StoreArea::due_orders`] begins. Rows with an earlier time than
/// the year 0 have a value that the service never writes.
pub(super) fn behind(after: Option<(OrderId, Timestamp)>) -> (i64, i64) {
    after.map_or((0, -62_167_219_200_000), |(id, end)| (id.get(), end.as_millisecond()))
}
