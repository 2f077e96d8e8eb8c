//! What the public reads: the animals that are available or pending. These reads have a lane of their own, so
//! strangers who search keep no member of the staff and no program waiting.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{PetQuery, StorePet},
};

use super::{Database, SlowRead, Sql, lists, promise, search};
use crate::{
    StoreError, Version,
    columns::{Cell, Columns},
};

/// The changes above $1 and up to $2, which `$from` reads, by which an animal became available again.
#[macro_export]
macro_rules! returns {
    ($from:expr) => {
        concat!(
            "SELECT seq, pet_id, at FROM ",
            $from,
            " AND type IN ('order.cancelled', 'order.expired', 'order.returned', 'pet.restored')
            AND pet_id IS NOT NULL ORDER BY seq DESC"
        )
    };
}
pub use returns;

/// A change by which an animal became available again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// The number of the change.
    pub seq: i64,
    /// The animal.
    pub pet: PetId,
    /// The time of the change.
    pub at: Timestamp,
}

promise! {
/// Reads what the public sees.
Offers {
    /// The version of what the public sees. It changes with every change of an animal, an order, a category, a field
    /// or the profile. Other writes, such as the last use of an API key, leave it as it is. What a caller reads
    /// after it got a version is at least as new as that version.
    async fn public_version(&self) -> Version {
        self.read((), |connection, ()| public_version(connection).boxed()).await
    }

    /// A page of the animals that are available or pending, without their orders, and the last identifier if more
    /// follow.
    async fn list_offers(&self, query: &PetQuery) -> (Vec<StorePet>, Option<PetId>) {
        if query.is_search() {
            return self.search(SlowRead::Offers, query.clone(), search::find).await;
        }
        let what = (query.after, query.limit, !query.newest_first);
        let usual = Some(D::USUAL_PAGE);
        let pets = lists::page(self, usual, SlowRead::Offers, what, |connection, (what, longest)| {
            lists::on_offer(connection, *what, *longest).boxed()
        });
        Ok(query.limit.page(pets.await?, |pet| pet.id))
    }

    /// How many of these animals each of the queries finds, counted up to `most`. All counts are of one moment.
    async fn count_offers(&self, queries: Vec<PetQuery>, most: usize) -> Vec<usize> {
        let what = (queries, most);
        self.search(SlowRead::Offers, what, |connection, (queries, most)| count_each(connection, queries, *most).boxed())
            .await
    }

    /// The changes by which animals became available again, among the newest `changes` of the log: the newest first.
    async fn returns(&self, changes: i64) -> Vec<Return> {
        let log = self.log_state().await?;
        let oldest = (log.last - changes).max(log.first - 1);
        let bounds = [oldest, log.last];
        self.read_slowly(SlowRead::Offers, bounds, |connection, bounds| read_returns(connection, *bounds).boxed()).await
    }
}
}

async fn public_version<S: Sql>(connection: &mut S) -> Result<Version, S::Error> {
    const NUMBERS: [usize; 4] = [1, 2, 3, 4];
    let row = connection
        .row(S::PUBLIC_STATE, &[])
        .await?
        .ok_or_else(S::no_row)?;
    let epoch: Vec<u8> = row.value(0)?;
    let epoch: [u8; 16] = epoch.try_into().map_err(|_| row.invalid(0))?;
    let mut version = [0; 48];
    version[..16].copy_from_slice(&epoch);
    for (column, bytes) in NUMBERS.into_iter().zip(version[16..].chunks_exact_mut(8)) {
        let number: i64 = row.value(column)?;
        bytes.copy_from_slice(&number.to_ne_bytes());
    }
    Ok(Version::new(version))
}

async fn count_each<S: Sql>(
    connection: &mut S,
    queries: &[PetQuery],
    most: usize,
) -> Result<Vec<usize>, S::Error> {
    let mut counts = Vec::with_capacity(queries.len());
    for query in queries {
        let count = if query.is_search() {
            search::count_up_to(connection, query, most).await?
        } else {
            lists::count_on_offer(connection, most).await?
        };
        counts.push(count);
    }
    Ok(counts)
}

async fn read_returns<S: Sql>(
    connection: &mut S,
    bounds: [i64; 2],
) -> Result<Vec<Return>, S::Error> {
    let [after, until] = bounds;
    lists::read_all(connection, S::RETURNS, &[&after, &until], |row| {
        Ok(Return {
            seq: row.value(0)?,
            pet: Cell::read(row, 1)?,
            at: Cell::read(row, 2)?,
        })
    })
    .await
}
