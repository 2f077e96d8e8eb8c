//! The store area: versions, withdrawn animals, orders, categories.

pub(super) mod lists;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
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
        PetId, WriteContext,
        store_area::{Command, PetQuery, StorePet},
    },
    store::{
        Executed, RespondTo, StoreArea, StoreError,
        admin::{Database, lists::count_on_offer, search, search_sets},
    },
};

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
            let found = self.read_snapshot(query.clone(), |on, query| {
                search::find(on, query, &READS[usize::from(query.withdrawn)])
            });
            return found.await;
        }
        self.run(Access::Read, query, |on, query| lists::pets(on, query).boxed()).await
    }

    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> Result<usize, StoreError> {
        if !query.is_search() {
            return self.read(most, |on, most| count_on_offer(on, *most).boxed()).await;
        }
        let query = (query.clone(), most);
        self.read_snapshot(query, |on, query| search::count(on, query, &READS[0])).await
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        Ok(self.read(few, search_sets::is_due).await? && self.write((), search_sets::merge).await?)
    }
}
