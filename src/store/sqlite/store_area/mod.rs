//! The store area: commands as jobs of the writer, and reads.

pub(super) mod changes;
mod execute;
pub(super) mod fields;
pub(super) mod lists;
pub(super) mod rows;

use std::sync::{Arc, LazyLock, atomic::Ordering};

use async_trait::async_trait;
use futures_util::FutureExt;
use rusqlite::Connection;

use super::{newest::Newest, slow_reads::USUAL_PAGE, store::SqliteStore, transaction::done};
use crate::{
    domain::{
        PetId, WriteContext,
        store_area::{Command, PetQuery, StorePet},
    },
    store::{
        Executed, RespondTo, StoreArea, StoreError,
        admin::{
            Database, Slow,
            lists::count_on_offer,
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

    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> Result<usize, StoreError> {
        if !query.is_search() {
            let count = self
                .read_slowly(Slow::Searches, most, |on, most| count_on_offer(on, *most).boxed());
            return count.await;
        }
        let query = (query.clone(), most);
        let count = move |on: &mut Connection| done(search::count(on, &query, &READS[0]));
        Ok(self.searches.read_in_turn(count).await?.0)
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        let count = |on: &Connection| on.query_row(UNMERGED, [], |row| row.get(0));
        let unmerged = self.readers.read(count).map(i64::unsigned_abs)?;
        self.unmerged.store(unmerged, Ordering::Relaxed);
        Ok(self.read(few, search_sets::is_due).await? && self.write((), search_sets::merge).await?)
    }
}
