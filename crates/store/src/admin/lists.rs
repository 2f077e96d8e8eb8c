//! Lists and counts of the store area.

use std::sync::LazyLock;

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Limit, PetId, PetName, PetStatus,
    store_area::{
        Category, FieldName, Inventory, Order, OrderId, OrderQuery, OrderStatus, PetQuery,
        Reservations, StorePet,
    },
};

use super::{
    Database, Parameters, SlowRead, Sql,
    pages::{self, OfferQuery, has_at_most_one_filter, read_all, read_page, rows_to_read},
    plans::EARLIEST_END,
    search, store_trait,
};
use crate::{
    StoreError,
    columns::{Cell, Columns},
    tables::{Record, Table, read_order},
};

static GET_ORDER: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Orders.selected_columns();
    format!("SELECT {columns} FROM orders WHERE id = $1")
});
static CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Categories.selected_columns();
    format!("SELECT {columns} FROM categories WHERE id >= $1 ORDER BY id LIMIT $2")
});
/// Selects the names of the animals of the newest orders: at most $1, and only with the status $2
/// unless that is null. 256 is `NAME_KEY_LENGTH`: a search compares no more characters of a name.
const NAMES: &str = "SELECT orders.id, substr(coalesce(pets.name, withdrawn_pets.name, ''), 1, 256)
    FROM orders LEFT JOIN pets ON pets.id = pet_id LEFT JOIN withdrawn_pets ON withdrawn_pets.id = pet_id
    WHERE CAST($2 AS text) IS NULL OR orders.status = $2 ORDER BY orders.id DESC LIMIT $1";
/// Counts the animals in the category $1, withdrawn or not.
const COUNT_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = $1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = $1)";

store_trait! {
/// Lists and counts of the store area.
///
/// A page is `Ok((items, next))`, where `next` is the position after the last item if more follow.
/// An item that exists while a client reads all pages, with the same filtered values, is on exactly
/// one of them.
Lists {
    /// Reads a page of animals. Returns the last identifier if more follow.
    async fn list_store_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        if query.is_search() {
            return self.search(SlowRead::Searches, query.clone(), search::find_page).await;
        }
        let pets = read_page(
            self,
            Some(D::MAX_FAST_PAGE_BYTES),
            SlowRead::LargePages,
            query.clone(),
            |connection, (query, max_bytes)| pages::read_pets(connection, query, *max_bytes).boxed(),
        )
        .await?;
        Ok(query.limit.page(pets, |pet| pet.id))
    }

    /// Counts the animals that match a query and are available or pending, up to `max_count`.
    async fn count_on_offer(
        &self,
        query: &PetQuery,
        max_count: usize,
    ) -> Result<usize, StoreError> {
        if query.is_search() {
            return self.search(SlowRead::Searches, (query.clone(), max_count), search::count).await;
        }
        self.read_slowly(SlowRead::Searches, max_count, |connection, max_count| {
            count_on_offer(connection, *max_count).boxed()
        })
        .await
    }

    /// Reads a page of the animals that are available or pending, after the animal `after`. Does
    /// not read their orders. Returns the last identifier if more follow.
    async fn list_on_offer(
        &self,
        after: Option<PetId>,
        limit: Limit,
        oldest_first: bool,
    ) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
        let query = OfferQuery {
            after,
            limit,
            newest_first: !oldest_first,
            is_for_window: false,
        };
        let pets = read_page(
            self,
            Some(D::MAX_FAST_PAGE_BYTES),
            SlowRead::LargePages,
            query,
            |connection, (query, max_bytes)| pages::read_offers(connection, *query, *max_bytes).boxed(),
        )
        .await?;
        Ok(limit.page(pets, |pet| pet.id))
    }

    /// Counts all animals by status, which takes long in a large catalogue. `now` becomes the time
    /// of the count.
    async fn count_inventory(&self, now: Timestamp) -> Result<Inventory, StoreError> {
        self.read_slowly(SlowRead::Counts, now, |connection, now| {
            count_inventory(connection, *now).boxed()
        })
        .await
    }

    /// Reads the order with this identifier.
    async fn get_order(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.read(id, |connection, id| get_order(connection, *id).boxed()).await
    }

    /// Reads a page of orders. Returns the last identifier if more follow.
    async fn list_orders(
        &self,
        query: &OrderQuery,
    ) -> Result<(Vec<Order>, Option<OrderId>), StoreError> {
        // With several filters, the statement may scan many rows that do not match, so `None` makes
        // this a slow read.
        let max_fast_bytes = if has_at_most_one_filter(query) {
            Some(D::MAX_FAST_PAGE_BYTES)
        } else {
            None
        };
        let orders = read_page(
            self,
            max_fast_bytes,
            SlowRead::Searches,
            query.clone(),
            |connection, (query, max_bytes)| pages::read_orders(connection, query, *max_bytes).boxed(),
        )
        .await?;
        Ok(query.limit.page(orders, |order| order.id))
    }

    /// Reads the names of the animals of the newest orders: at most `limit` orders, of all statuses
    /// or of one. Truncates names to the characters that a search compares.
    async fn names_of_orders(
        &self,
        status: Option<OrderStatus>,
        limit: usize,
    ) -> Result<Vec<(OrderId, PetName)>, StoreError> {
        self.read_slowly(SlowRead::Searches, (status, limit), |connection, (status, limit)| {
            read_names_of_orders(connection, *status, *limit).boxed()
        })
        .await
    }

    /// Reads the reservations that end at or before `now`, each with its end, in ascending order of
    /// the end. Begins after the reservation `after`, and returns at most `limit`.
    async fn due_orders(
        &self,
        after: Option<(OrderId, Timestamp)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        self.read((after, now, limit), |connection, (after, now, limit)| {
            read_due_orders(connection, *after, *now, *limit).boxed()
        })
        .await
    }

    /// Counts the open reservations. This takes time in proportion to their number.
    async fn reservations(&self) -> Result<Reservations, StoreError> {
        self.read_slowly(SlowRead::Counts, (), |connection, ()| count_reservations(connection).boxed())
            .await
    }

    /// Finds the orders that closed at or before `closed_until` and still have a contact, in
    /// ascending order of identifier. Begins after the order `after`, and returns at most `limit`
    /// identifiers. This takes time in proportion to the number of contacts.
    async fn orders_with_contact(
        &self,
        closed_until: Timestamp,
        after: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<OrderId>, StoreError> {
        self.read_slowly(
            SlowRead::Counts,
            (closed_until, after, limit),
            |connection, (closed_until, after, limit)| {
                find_orders_with_contact(connection, *closed_until, *after, *limit).boxed()
            },
        )
        .await
    }

    /// Reads a page of categories after the category `after`, in ascending order of identifier.
    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        // The identifier of a category can be any integer, also a negative one.
        let first = match after {
            None => i64::MIN,
            Some(i64::MAX) => return Ok((Vec::new(), None)),
            Some(after) => after + 1,
        };
        let categories = self
            .read((first, limit), |connection, (first, limit)| {
                read_categories(connection, *first, *limit).boxed()
            })
            .await?;
        Ok(limit.page(categories, |category| category.id))
    }

    /// Counts the animals in a category, withdrawn or not. This takes time in proportion to the
    /// number of all animals.
    async fn count_of_category(&self, id: i64) -> Result<u64, StoreError> {
        self.read_slowly(SlowRead::Counts, id, |connection, id| {
            async move { Ok(connection.number(COUNT_CATEGORY, &[id]).await?.unsigned_abs()) }.boxed()
        })
        .await
    }

    /// Whether any animal, withdrawn or not, has a value of a field. This takes time in proportion
    /// to the number of all animals, but blocks no write.
    async fn has_values(&self, name: &FieldName) -> Result<bool, StoreError> {
        // This text matches only a member name, because quotes are escaped in values.
        let member = format!("\"{}\":", name.as_str());
        self.read_slowly(SlowRead::Counts, member, |connection, member| {
            has_values(connection, member).boxed()
        })
        .await
    }
}
}

/// Counts the animals that are available or pending, up to `max_count`.
async fn count_on_offer<S: Sql>(connection: &mut S, max_count: usize) -> Result<usize, S::Error> {
    count_up_to(connection, &S::plans().count_on_offer, max_count).await
}

/// Counts animals with a counting statement of [`Sql::plans`], up to `max_count`.
pub(super) async fn count_up_to<S: Sql>(
    connection: &mut S,
    sql: &'static str,
    max_count: usize,
) -> Result<usize, S::Error> {
    let max_count = i64::try_from(max_count).unwrap_or(i64::MAX);
    let count = connection.number(sql, &[&max_count]).await?;
    // This cannot fail: a count is not negative, and this one is at most `max_count`.
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Counts the animals in the catalogue by status, and the withdrawn ones.
async fn count_inventory<S: Sql>(
    connection: &mut S,
    now: Timestamp,
) -> Result<Inventory, S::Error> {
    let mut inventory = Inventory {
        available: 0,
        pending: 0,
        sold: 0,
        withdrawn: 0,
        counted_at: now,
    };
    for row in &connection.rows(&S::plans().inventory, &[]).await? {
        let count = row.value::<i64>(1)?.unsigned_abs();
        if row.text(0)? == Some("withdrawn") {
            inventory.withdrawn = count;
            continue;
        }
        match PetStatus::read(row, 0)? {
            PetStatus::Available => inventory.available = count,
            PetStatus::Pending => inventory.pending = count,
            PetStatus::Sold => inventory.sold = count,
        }
    }
    Ok(inventory)
}

/// Reads the order with this identifier.
async fn get_order<S: Sql>(connection: &mut S, id: OrderId) -> Result<Option<Order>, S::Error> {
    let mut orders = read_all(connection, &GET_ORDER, &[&id.get()], |row| {
        read_order(row, 0)?.ok_or_else(|| row.invalid(0))
    })
    .await?;
    // There is at most one order with this identifier.
    Ok(orders.pop())
}

/// Reads the names of the animals of orders. See [`Lists::names_of_orders`].
async fn read_names_of_orders<S: Sql>(
    connection: &mut S,
    status: Option<OrderStatus>,
    limit: usize,
) -> Result<Vec<(OrderId, PetName)>, S::Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: Parameters<'_> = &[&limit, &status.map(OrderStatus::as_str)];
    read_all(connection, NAMES, values, |row| {
        Ok((Cell::read(row, 0)?, Cell::read(row, 1)?))
    })
    .await
}

/// Reads reservations that have ended. See [`Lists::due_orders`].
async fn read_due_orders<S: Sql>(
    connection: &mut S,
    after: Option<(OrderId, Timestamp)>,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<(OrderId, Timestamp)>, S::Error> {
    let (end, id) = match after {
        Some((id, end)) => (end.as_millisecond(), id.get()),
        None => (EARLIEST_END, 0),
    };
    let values: Parameters<'_> = &[&now.as_millisecond(), &end, &id, &i64::from(limit)];
    read_all(connection, &S::plans().due, values, |row| {
        Ok((Cell::read(row, 0)?, Cell::read(row, 1)?))
    })
    .await
}

/// Counts the open reservations, and finds the earliest end.
async fn count_reservations<S: Sql>(connection: &mut S) -> Result<Reservations, S::Error> {
    let row = connection.only_row(&S::plans().reservations, &[]).await?;
    Ok(Reservations {
        open: row.value::<i64>(0)?.unsigned_abs(),
        first_end: row.optional_time(1)?,
    })
}

/// Finds closed orders that have a contact. See [`Lists::orders_with_contact`].
async fn find_orders_with_contact<S: Sql>(
    connection: &mut S,
    closed_until: Timestamp,
    after: Option<OrderId>,
    limit: u32,
) -> Result<Vec<OrderId>, S::Error> {
    let sql = &S::plans().orders_with_contact;
    let values: Parameters<'_> = &[
        &after.map_or(0, OrderId::get),
        &closed_until.as_millisecond(),
        &i64::from(limit),
    ];
    read_all(connection, sql, values, |row| Cell::read(row, 0)).await
}

/// Reads a page of the categories from `first` on, and one more category if more follow.
async fn read_categories<S: Sql>(
    connection: &mut S,
    first: i64,
    limit: Limit,
) -> Result<Vec<Category>, S::Error> {
    let values: Parameters<'_> = &[&first, &rows_to_read(limit)];
    read_all(connection, &CATEGORIES, values, |row| {
        Category::read(row, 0)
    })
    .await
}

/// Whether the values of any animal, as JSON, contain this member name, such as `"colour":`.
async fn has_values<S: Sql>(connection: &mut S, member: &str) -> Result<bool, S::Error> {
    let row = connection
        .only_row(S::plans().has_values, &[&member])
        .await?;
    row.value(0)
}
