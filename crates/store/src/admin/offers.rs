//! Reads for the window, the public website. An offer is an animal that the window may show, and
//! that is available or pending.
//!
//! These are slow reads of a kind of their own ([`SlowRead::Offers`]), so a flood of public
//! searches cannot delay the staff or client programs.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{PetQuery, PhotoId, StorePet},
};

use super::{
    Database, SlowRead, Sql, lists,
    pages::{OfferQuery, read_all, read_offers, read_page},
    search, store_trait,
};
use crate::{
    StoreError, Version,
    columns::{Cell, Columns},
};

/// Expands to the statement that selects the changes that made an animal available again. `$from`
/// is the table with a condition on the numbers of the changes: above $1, and up to $2. This is a
/// macro because `concat!` takes no constants.
///
/// For example, `returns!("changes WHERE seq > $1 AND seq <= $2")` expands to:
///
/// ```sql
/// SELECT seq, pet_id, at FROM changes
/// WHERE seq > $1 AND seq <= $2 AND type IN … ORDER BY seq DESC
/// ```
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

/// Selects whether the window may show the animal that has or had the photo $1. Selects no row if
/// there is no such animal.
const IS_PUBLIC_PHOTO: &str =
    "SELECT EXISTS (SELECT 1 FROM pets WHERE pets.id = owner.pet_id AND listed)
        OR EXISTS (SELECT 1 FROM withdrawn_pets WHERE withdrawn_pets.id = owner.pet_id AND listed)
    FROM (SELECT pet_id FROM photos WHERE id = $1
        UNION ALL SELECT pet_id FROM lost_photos WHERE id = $1) AS owner LIMIT 1";

/// The length of the epoch of the log, in bytes.
const EPOCH_LENGTH: usize = 16;

/// The length of each number in the version of the public data, in bytes.
const NUMBER_LENGTH: usize = size_of::<i64>();

/// The columns of [`Sql::PUBLIC_STATE`] that have numbers. They follow the epoch.
const NUMBER_COLUMNS: [usize; 4] = [1, 2, 3, 4];

/// The audience of a photo: the people and programs that may see its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhotoAudience {
    /// Everybody, because the window may show the animal.
    Everybody,
    /// Only the staff, and programs with a key that may read animals.
    Staff,
}

/// A change that made an animal available again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnToOffer {
    /// The number of the change.
    pub seq: i64,
    /// The animal that became available again.
    pub pet: PetId,
    /// The time of the change.
    pub at: Timestamp,
}

store_trait! {
/// Reads the data that the public sees.
Offers {
    /// Returns the version of the public data, for caches.
    ///
    /// It changes with every change of an animal, an order, a category, a field or the profile. It
    /// does not change with other writes, such as the last use of an API key. Data that a caller
    /// reads after it got a version is at least as new as that version.
    async fn public_version(&self) -> Result<Version, StoreError> {
        self.read((), |connection, ()| read_public_version(connection).boxed()).await
    }

    /// Reads a page of the animals that the window may show and that are available or pending. Does
    /// not read their orders. Returns the last identifier if more follow.
    async fn list_offers(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        if query.is_search() {
            let window_query = restrict_to_window(query.clone());
            return self.search(SlowRead::Offers, window_query, search::find_page).await;
        }
        let offer_query = OfferQuery {
            after: query.after,
            limit: query.limit,
            newest_first: query.newest_first,
            is_for_window: true,
        };
        let pets = read_page(
            self,
            Some(D::MAX_FAST_PAGE_BYTES),
            SlowRead::Offers,
            offer_query,
            |connection, (query, max_bytes)| read_offers(connection, *query, *max_bytes).boxed(),
        )
        .await?;
        Ok(query.limit.page(pets, |pet| pet.id))
    }

    /// Counts the offers that match each query, up to `max_count`. The offers are the animals that
    /// [`Offers::list_offers`] lists. All counts are from the same snapshot.
    async fn count_offers(
        &self,
        queries: Vec<PetQuery>,
        max_count: usize,
    ) -> Result<Vec<usize>, StoreError> {
        self.search(SlowRead::Offers, (queries, max_count), |connection, (queries, max_count)| {
            count_each(connection, queries, *max_count).boxed()
        })
        .await
    }

    /// Returns the audience that may see the files of a photo. The files of a removed photo are
    /// kept for a while, and so is its audience. Returns `None` if no animal, withdrawn or not, has
    /// the photo or had it until recently.
    async fn photo_audience(&self, id: PhotoId) -> Result<Option<PhotoAudience>, StoreError> {
        self.read(id.to_string(), |connection, id| find_photo_audience(connection, id).boxed()).await
    }

    /// Reads the changes that made animals available again, newest first. Looks only at the newest
    /// `scanned_count` changes of the log.
    async fn list_returns(&self, scanned_count: i64) -> Result<Vec<ReturnToOffer>, StoreError> {
        let log = self.log_state().await?;
        let after = (log.last - scanned_count).max(log.first - 1);
        self.read_slowly(SlowRead::Offers, (after, log.last), |connection, (after, until)| {
            read_returns(connection, *after, *until).boxed()
        })
        .await
    }
}
}

/// Restricts a query to the animals that the window may show.
fn restrict_to_window(query: PetQuery) -> PetQuery {
    PetQuery {
        is_listed: Some(true),
        ..query
    }
}

/// Finds out the audience of a photo. See [`Offers::photo_audience`].
async fn find_photo_audience<S: Sql>(
    connection: &mut S,
    id: &str,
) -> Result<Option<PhotoAudience>, S::Error> {
    let Some(row) = connection.row(IS_PUBLIC_PHOTO, &[&id]).await? else {
        return Ok(None);
    };
    let is_public: bool = row.value(0)?;
    let audience = if is_public {
        PhotoAudience::Everybody
    } else {
        PhotoAudience::Staff
    };
    Ok(Some(audience))
}

/// Reads the version of the public data: the epoch of the log, and then four numbers. See
/// [`Sql::PUBLIC_STATE`].
async fn read_public_version<S: Sql>(connection: &mut S) -> Result<Version, S::Error> {
    let row = connection.only_row(S::PUBLIC_STATE, &[]).await?;
    let epoch: [u8; EPOCH_LENGTH] = row.bytes(0)?;

    let mut version = [0; EPOCH_LENGTH + NUMBER_COLUMNS.len() * NUMBER_LENGTH];
    version[..EPOCH_LENGTH].copy_from_slice(&epoch);
    let number_bytes = version[EPOCH_LENGTH..].chunks_exact_mut(NUMBER_LENGTH);
    for (column, bytes) in NUMBER_COLUMNS.into_iter().zip(number_bytes) {
        let number: i64 = row.value(column)?;
        bytes.copy_from_slice(&number.to_ne_bytes());
    }
    Ok(Version::new(version))
}

/// Counts the animals that match each query and that the window may show, up to `max_count`.
async fn count_each<S: Sql>(
    connection: &mut S,
    queries: &[PetQuery],
    max_count: usize,
) -> Result<Vec<usize>, S::Error> {
    let mut counts = Vec::with_capacity(queries.len());
    for query in queries {
        let count = if query.is_search() {
            let window_query = restrict_to_window(query.clone());
            search::count_up_to(connection, &window_query, max_count).await?
        } else {
            lists::count_up_to(connection, &S::plans().count_in_window, max_count).await?
        };
        counts.push(count);
    }
    Ok(counts)
}

/// Reads the changes that made animals available again, and whose numbers are greater than `after`
/// and at most `until`.
async fn read_returns<S: Sql>(
    connection: &mut S,
    after: i64,
    until: i64,
) -> Result<Vec<ReturnToOffer>, S::Error> {
    read_all(connection, S::RETURNS, &[&after, &until], |row| {
        Ok(ReturnToOffer {
            seq: Cell::read(row, 0)?,
            pet: Cell::read(row, 1)?,
            at: Cell::read(row, 2)?,
        })
    })
    .await
}
