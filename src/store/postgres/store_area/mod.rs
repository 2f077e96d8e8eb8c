//! The store area: versions, withdrawn animals, orders, categories.

pub(super) mod lists;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::sync::oneshot;

use self::lists::READS;
use super::{
    PostgresStore,
    commands::{Execution, carry_out},
    pool::Access,
    queue::stopped,
};
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
        admin::{Database, search, search_sets},
    },
};

/// How long a count of all animals may take, including retries.
const COUNTED_WITHIN: Duration = Duration::from_mins(1);

#[async_trait]
impl StoreArea for PostgresStore {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, StoreError> {
        let is_single = commands.len() == 1;
        let execution = Execution { commands, context, respond };
        if is_single {
            return self.commands.add(execution).await;
        }
        let (caller, done) = oneshot::channel();
        carry_out(Arc::clone(&self.runner), Access::Batch, vec![(execution, caller)]).await;
        done.await.unwrap_or_else(|_| Err(stopped()))
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.run(Access::Read, (), |on, ()| lists::get_pet(on, id).boxed()).await
    }

    async fn list_store_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        if query.is_search() {
            let found = self.run(Access::Read, query.clone(), |on, query| {
                search::find(on, query, &READS[usize::from(query.withdrawn)])
            });
            return found.await;
        }
        self.run(Access::Read, query, |on, query| lists::pets(on, query).boxed()).await
    }

    async fn list_on_offer(
        &self,
        after: Option<PetId>,
        limit: Limit,
        oldest: bool,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        self.run(Access::Read, (), |on, ()| lists::on_offer(on, after, limit, oldest).boxed()).await
    }

    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> Result<usize, StoreError> {
        if !query.is_search() {
            let count =
                self.run(Access::Read, (), |on, ()| lists::count_on_offer(on, most).boxed());
            return count.await;
        }
        let query = (query.clone(), most);
        self.run(Access::Read, query, |on, query| search::count(on, query, &READS[0])).await
    }

    async fn count_inventory(&self, now: Timestamp) -> Result<Inventory, StoreError> {
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, (), |on, ()| {
                lists::inventory(on, now).boxed()
            })
            .await
    }

    async fn get_order(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.run(Access::Read, (), |on, ()| lists::get_order(on, id).boxed()).await
    }

    async fn list_orders(
        &self,
        query: &OrderQuery,
    ) -> Result<(Vec<Order>, Option<OrderId>), StoreError> {
        self.run(Access::Read, query, |on, query| lists::orders(on, query).boxed()).await
    }

    async fn due_orders(
        &self,
        after: Option<(OrderId, Timestamp)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        self.run(Access::Read, (), |on, ()| lists::due(on, after, now, limit).boxed()).await
    }

    async fn reservations(&self) -> Result<Reservations, StoreError> {
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, (), |on, ()| lists::reservations(on).boxed())
            .await
    }

    async fn contacts_until(
        &self,
        closed_until: Timestamp,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<OrderId>, StoreError> {
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, (), |on, ()| {
                lists::contacts_until(on, closed_until, after, limit).boxed()
            })
            .await
    }

    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        self.run(Access::Read, (), |on, ()| lists::categories(on, after, limit).boxed()).await
    }

    async fn count_of_category(&self, id: i64) -> Result<u64, StoreError> {
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, (), |on, ()| {
                lists::of_category(on, id).boxed()
            })
            .await
    }

    async fn has_values(&self, name: &FieldName) -> Result<bool, StoreError> {
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, name, |on, name| {
                lists::has_values(on, name).boxed()
            })
            .await
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        Ok(self.read(few, search_sets::is_due).await? && self.write((), search_sets::merge).await?)
    }
}
