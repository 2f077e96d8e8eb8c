//! The store area: commands as jobs of the writer, and reads.

pub(super) mod changes;
pub(super) mod check;
mod execute;
pub(super) mod fields;
pub(super) mod lists;
pub(super) mod rows;

use std::sync::{Arc, LazyLock, atomic::Ordering};

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::Connection;

use super::{newest::Newest, slow_reads::USUAL_PAGE, store::SqliteStore, transaction::done};
use crate::{
    domain::{
        Limit, PetId, WriteContext,
        store_area::{
            Category, Command, FieldName, Inventory, Order, OrderId, OrderQuery, PetQuery,
            Reservations, StorePet,
        },
    },
    store::{
        Executed, RespondTo, StoreArea, StoreError,
        admin::{
            Database,
            search::{self, Reads},
            search_sets,
        },
        tables::Table,
    },
};

/// The search in the animals that are not withdrawn, and in those that are.
static READS: LazyLock<[Reads; 2]> = LazyLock::new(|| {
    [Table::Pets, Table::WithdrawnPets]
        .map(|table| Reads::of(table, &format!("{} WHERE {{}}", rows::SELECT[table as usize])))
});
const UNMERGED: &str = "SELECT (SELECT count(*) FROM value_changes)
    + max(0, coalesce((SELECT max(id) FROM pets), 0) - merged) FROM search_state";

#[async_trait]
impl StoreArea for SqliteStore {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, StoreError> {
        let batch = Arc::new((commands, context));
        let mut turn = None;
        if batch.0.len() > 1 {
            // This can take milliseconds, in which no other write should wait. So batches take
            // turns, and the writer gets only those that will most likely not be refused.
            let batch = Arc::clone(&batch);
            let refused =
                move |connection: &mut Connection| execute::refused(connection, &batch.0, &batch.1);
            let (refused, taken) = self.batches.read_in_turn(refused).await?;
            if let Some(refused) = refused {
                return Ok(refused);
            }
            turn = Some(taken);
        }
        let execute = move |connection: &Connection, newest: &mut Newest| {
            execute::execute(connection, newest, &batch.0, &batch.1, respond)
        };
        let executed = self.writer.write_without_savepoint(execute).await;
        drop(turn);
        executed
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.readers.read(|connection| rows::get_pet(connection, id))
    }

    async fn list_store_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        if query.is_search() {
            let query = query.clone();
            let find = move |on: &mut Connection| {
                done(search::find(on, &query, &READS[usize::from(query.withdrawn)]))
            };
            return Ok(self.searches.read_in_turn(find).await?.0);
        }
        let list = |connection: &Connection| lists::pets(connection, query, USUAL_PAGE);
        let pets = if let Some(pets) = self.readers.read(list)? {
            pets
        } else {
            let query = query.clone();
            let list = move |connection: &Connection| lists::pets(connection, &query, usize::MAX);
            self.large_pages.read(list).await?.unwrap_or_default()
        };
        Ok(query.limit.page(pets, |pet| pet.id))
    }

    async fn list_on_offer(
        &self,
        after: Option<PetId>,
        limit: Limit,
        oldest: bool,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        let list = |on: &Connection| lists::on_offer(on, after, limit, oldest, USUAL_PAGE);
        let pets = if let Some(pets) = self.readers.read(list)? {
            pets
        } else {
            let list = move |on: &Connection| lists::on_offer(on, after, limit, oldest, usize::MAX);
            self.large_pages.read(list).await?.unwrap_or_default()
        };
        Ok(limit.page(pets, |pet| pet.id))
    }

    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> Result<usize, StoreError> {
        if !query.is_search() {
            return self.searches.read(move |on| lists::count_on_offer(on, most)).await;
        }
        let query = (query.clone(), most);
        let count = move |on: &mut Connection| done(search::count(on, &query, &READS[0]));
        Ok(self.searches.read_in_turn(count).await?.0)
    }

    async fn count_inventory(&self, now: Timestamp) -> Result<Inventory, StoreError> {
        self.counts.read(move |connection| lists::inventory(connection, now)).await
    }

    async fn get_order(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.readers.read(|connection| rows::get_order(connection, id))
    }

    async fn list_orders(
        &self,
        query: &OrderQuery,
    ) -> Result<(Vec<Order>, Option<OrderId>), StoreError> {
        let list = |on: &Connection| lists::orders(on, query, USUAL_PAGE);
        let orders = if lists::is_quick(query)
            && let Some(orders) = self.readers.read(list)?
        {
            orders
        } else {
            let query = query.clone();
            let list = move |on: &Connection| lists::orders(on, &query, usize::MAX);
            self.searches.read(list).await?.unwrap_or_default()
        };
        Ok(query.limit.page(orders, |order| order.id))
    }

    async fn due_orders(
        &self,
        after: Option<(OrderId, Timestamp)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        self.readers.read(|connection| lists::due(connection, after, now, limit))
    }

    async fn reservations(&self) -> Result<Reservations, StoreError> {
        self.counts.read(lists::reservations).await
    }

    async fn contacts_until(
        &self,
        closed_until: Timestamp,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<OrderId>, StoreError> {
        let find = move |on: &Connection| lists::contacts_until(on, closed_until, after, limit);
        self.counts.read(find).await
    }

    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        let categories =
            self.readers.read(|connection| lists::categories(connection, after, limit))?;
        Ok(limit.page(categories, |category| category.id))
    }

    async fn count_of_category(&self, id: i64) -> Result<u64, StoreError> {
        self.counts.read(move |connection| lists::of_category(connection, id)).await
    }

    async fn has_values(&self, name: &FieldName) -> Result<bool, StoreError> {
        let name = name.clone();
        self.counts.read(move |connection| fields::has_values(connection, &name)).await
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        let count = |on: &Connection| on.query_row(UNMERGED, [], |row| row.get(0));
        let unmerged = self.readers.read(count).map(i64::unsigned_abs)?;
        self.unmerged.store(unmerged, Ordering::Relaxed);
        Ok(self.read(few, search_sets::is_due).await? && self.write((), search_sets::merge).await?)
    }
}
