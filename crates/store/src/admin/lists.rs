//! Lists and counts of the store area: what a store promises, and how it does it.

use std::{ops::ControlFlow, sync::LazyLock};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Limit, PetId, PetName, PetStatus,
    store_area::{
        Category, FieldName, Inventory, Order, OrderId, OrderQuery, OrderStatus, PetQuery,
        Reservations, StorePet, Text,
    },
};

use super::{
    Database, Parameter, Parameters, SharedValue, SlowRead, Sql, Work, plans::Plans, promise,
    search,
};
use crate::{
    StoreError,
    columns::{Cell, Columns},
    tables::{Record, Table, order, pet, pet_with_order},
};

static GET_ORDER: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM orders WHERE id = $1",
        Table::Orders.selected()
    )
});
static CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    let columns = Table::Categories.selected();
    format!("SELECT {columns} FROM categories WHERE id >= $1 ORDER BY id LIMIT $2")
});
// 256 is NAME_KEY_LENGTH.
const NAMES: &str = "SELECT orders.id, substr(coalesce(pets.name, withdrawn_pets.name, ''), 1, 256)
    FROM orders LEFT JOIN pets ON pets.id = pet_id LEFT JOIN withdrawn_pets ON withdrawn_pets.id = pet_id
    WHERE CAST($2 AS text) IS NULL OR orders.status = $2 ORDER BY orders.id DESC LIMIT $1";
const OF_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = $1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = $1)";

promise! {
/// Reads lists of the store area, and counts.
///
/// A page is `Ok((items, next))`, where `next` is the position after the last item if more follow.
/// What exists during a whole walk, with the same filtered values, is on exactly one of its pages.
Lists {
    /// A page of animals.
    async fn list_store_pets(&self, query: &PetQuery) -> (Vec<StorePet>, Option<PetId>) {
        if query.is_search() {
            return self.search(SlowRead::Searches, query.clone(), search::find).await;
        }
        let pets = page(self, Some(D::USUAL_PAGE), SlowRead::LargePages, query.clone(), |connection, (query, longest)| {
            pets(connection, query, *longest).boxed()
        });
        Ok(query.limit.page(pets.await?, |pet| pet.id))
    }

    /// How many of the animals that are available or pending a query finds, counted up to `most`.
    async fn count_on_offer(&self, query: &PetQuery, most: usize) -> usize {
        if query.is_search() {
            let what = (query.clone(), most);
            return self.search(SlowRead::Searches, what, search::count).await;
        }
        self.read_slowly(SlowRead::Searches, most, |connection, most| count_on_offer(connection, *most).boxed()).await
    }

    /// The animals that are available or pending, newest first or oldest first, behind this identifier:
    /// at most `limit`, without their orders. Returns the last identifier if more follow.
    async fn list_on_offer(
        &self,
        after: Option<PetId>,
        limit: Limit,
        oldest_first: bool,
    ) -> (Vec<StorePet>, Option<PetId>) {
        let query = (after, limit, oldest_first);
        let pets = page(self, Some(D::USUAL_PAGE), SlowRead::LargePages, query, |connection, (query, longest)| {
            on_offer(connection, *query, *longest).boxed()
        });
        Ok(limit.page(pets.await?, |pet| pet.id))
    }

    /// Counts all animals, which takes long in a large catalogue. The result is as of `now`.
    async fn count_inventory(&self, now: Timestamp) -> Inventory {
        self.read_slowly(SlowRead::Counts, now, |connection, now| inventory(connection, *now).boxed()).await
    }

    /// The order with this identifier.
    async fn get_order(&self, id: OrderId) -> Option<Order> {
        self.read(id.get(), |connection, id| get_order(connection, *id).boxed()).await
    }

    /// A page of orders.
    async fn list_orders(&self, query: &OrderQuery) -> (Vec<Order>, Option<OrderId>) {
        // Then, every row that the page reads belongs to it.
        let usual = has_one_filter_at_most(query).then_some(D::USUAL_PAGE);
        let orders = page(self, usual, SlowRead::Searches, query.clone(), |connection, (query, longest)| {
            orders(connection, query, *longest).boxed()
        });
        Ok(query.limit.page(orders.await?, |order| order.id))
    }

    /// The names of the animals of the newest orders in a status or in any, as far as a search looks at them.
    async fn names_of_orders(&self, status: Option<OrderStatus>, limit: usize) -> Vec<(OrderId, PetName)> {
        let what = (status, limit);
        self.read_slowly(SlowRead::Searches, what, |connection, what| names_of_orders(connection, *what).boxed()).await
    }

    /// The reservations that end at `now` or before, in the order of their ends and each with its
    /// end: at most `limit`, after this one.
    async fn due_orders(
        &self,
        after: Option<(OrderId, Timestamp)>,
        now: Timestamp,
        limit: u32,
    ) -> Vec<(OrderId, Timestamp)> {
        let what = (after, now, limit);
        self.read(what, |connection, what| due(connection, *what).boxed()).await
    }

    /// The open reservations. The time that this takes grows with their number.
    async fn reservations(&self) -> Reservations {
        self.read_slowly(SlowRead::Counts, (), |connection, ()| reservations(connection).boxed()).await
    }

    /// The orders that closed at `closed_until` or before and have a contact, in the order of their
    /// identifiers: at most `limit`, behind this one. The time that this takes grows with the number of
    /// contacts.
    async fn contacts_until(
        &self,
        closed_until: Timestamp,
        after: Option<OrderId>,
        limit: u32,
    ) -> Vec<OrderId> {
        let after = after.map_or(0, OrderId::get);
        let what = [after, closed_until.as_millisecond(), limit.into()];
        self.read_slowly(SlowRead::Counts, what, |connection, what| contacts_until(connection, *what).boxed()).await
    }

    /// A page of categories with a higher identifier than `after`, in ascending order.
    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> (Vec<Category>, Option<i64>) {
        let Some(first) = after.map_or(Some(i64::MIN), |after| after.checked_add(1)) else {
            return Ok((Vec::new(), None));
        };
        let what = [first, one_more(limit)];
        let found = self.read(what, |connection, what| categories(connection, *what).boxed()).await?;
        Ok(limit.page(found, |category| category.id))
    }

    /// How many animals have this category, withdrawn or not. The time that this takes grows with the
    /// number of all animals.
    async fn count_of_category(&self, id: i64) -> u64 {
        self.read_slowly(SlowRead::Counts, id, |connection, id| {
            async move { Ok(connection.number(OF_CATEGORY, &[id]).await?.unsigned_abs()) }.boxed()
        })
        .await
    }

    /// Whether an animal, withdrawn or not, has a value of this field. The time that this takes grows
    /// with the number of all animals. Holds up no write.
    async fn has_values(&self, name: &FieldName) -> bool {
        let member = format!("\"{}\":", name.as_str());
        self.read_slowly(SlowRead::Counts, member, |connection, member| has_values(connection, member).boxed()).await
    }
}
}

/// Reads a page, at once if its texts have at most `usual` bytes.
pub(super) async fn page<D: Database, Q: SharedValue + Clone, T: SharedValue>(
    store: &D,
    usual: Option<usize>,
    otherwise: SlowRead,
    query: Q,
    read: Work<D::Sql, (Q, usize), Option<Vec<T>>>,
) -> Result<Vec<T>, StoreError> {
    if let Some(usual) = usual
        && let Some(found) = store.read((query.clone(), usual), read).await?
    {
        return Ok(found);
    }
    let found = store.read_slowly(otherwise, (query, usize::MAX), read);
    Ok(found.await?.unwrap_or_default())
}

/// Reads the rows of a result. `None` if the texts have more than about `longest` bytes.
async fn read_up_to<S: Sql, T: Send>(
    connection: &mut S,
    longest: usize,
    sql: &'static str,
    values: Parameters<'_>,
    read: for<'r> fn(&S::BorrowedRow<'r>) -> Result<T, S::Error>,
    length_of: fn(&T) -> usize,
) -> Result<Option<Vec<T>>, S::Error> {
    let (mut found, mut length) = (Vec::new(), 0);
    connection
        .visit(sql, values, &mut |row| {
            let one = read(row)?;
            length += length_of(&one);
            found.push(one);
            Ok(if length > longest {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })
        .await?;
    Ok((length <= longest).then_some(found))
}

/// Reads the rows of a result.
pub(super) async fn read_all<S: Sql, T: Send>(
    connection: &mut S,
    sql: &'static str,
    values: Parameters<'_>,
    read: for<'r> fn(&S::BorrowedRow<'r>) -> Result<T, S::Error>,
) -> Result<Vec<T>, S::Error> {
    let mut found = Vec::new();
    connection
        .visit(sql, values, &mut |row| {
            found.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    Ok(found)
}

/// The animals of a page without a search, and one more if more follow.
async fn pets<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    longest: usize,
) -> Result<Option<Vec<StorePet>>, S::Error> {
    let first = if query.newest_first { i64::MAX } else { 0 };
    let values: Parameters<'_> = &[
        &query.after.map_or(first, PetId::get),
        &one_more(query.limit),
    ];
    let of_table = &S::plans().pets[usize::from(query.withdrawn)];
    let of_status = &of_table[Plans::of_status(query.status, query.on_offer)];
    let sql = &of_status[usize::from(query.newest_first)];
    read_up_to(
        connection,
        longest,
        sql,
        values,
        |row| pet_with_order(row),
        StorePet::length,
    )
    .await
}

pub(super) async fn on_offer<S: Sql>(
    connection: &mut S,
    (after, limit, oldest_first): (Option<PetId>, Limit, bool),
    longest: usize,
) -> Result<Option<Vec<StorePet>>, S::Error> {
    let start = if oldest_first { 0 } else { i64::MAX };
    let values: Parameters<'_> = &[&after.map_or(start, PetId::get), &one_more(limit)];
    let sql = &S::plans().on_offer[usize::from(oldest_first)];
    let read = |row: &S::BorrowedRow<'_>| pet(row, 0)?.ok_or_else(|| row.invalid(0));
    read_up_to(connection, longest, sql, values, read, StorePet::length).await
}

/// How many animals are available or pending, counted up to `most`.
pub(super) async fn count_on_offer<S: Sql>(
    connection: &mut S,
    most: usize,
) -> Result<usize, S::Error> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let count = connection
        .number(&S::plans().count_on_offer, &[&most])
        .await?;
    Ok(usize::try_from(count).unwrap_or_default())
}

async fn inventory<S: Sql>(connection: &mut S, now: Timestamp) -> Result<Inventory, S::Error> {
    let mut inventory = Inventory {
        available: 0,
        pending: 0,
        sold: 0,
        withdrawn: 0,
        counted_at: now,
    };
    for row in &connection.rows(&S::plans().inventory, &[]).await? {
        let count = row.value::<i64>(1)?.unsigned_abs();
        let status: Option<PetStatus> = row.parsed(0, |status| match status {
            "withdrawn" => Some(None),
            status => status.parse().ok().map(Some),
        })?;
        *match status {
            None => &mut inventory.withdrawn,
            Some(PetStatus::Available) => &mut inventory.available,
            Some(PetStatus::Pending) => &mut inventory.pending,
            Some(PetStatus::Sold) => &mut inventory.sold,
        } = count;
    }
    Ok(inventory)
}

async fn get_order<S: Sql>(connection: &mut S, id: i64) -> Result<Option<Order>, S::Error> {
    Ok(
        read_all(connection, &GET_ORDER, &[&id], |row| order(row, 0))
            .await?
            .pop()
            .flatten(),
    )
}

/// The orders of a page, and one more if more follow.
async fn orders<S: Sql>(
    connection: &mut S,
    query: &OrderQuery,
    longest: usize,
) -> Result<Option<Vec<Order>>, S::Error> {
    // All members, so that the compiler asks what a new one does here.
    let &OrderQuery {
        status,
        pet_id,
        ref reference,
        limit,
        newest_first,
        after,
    } = query;
    let first = if newest_first { i64::MAX } else { 0 };
    let (after, limit) = (after.map_or(first, OrderId::get), one_more(limit));
    let status = status.map(OrderStatus::as_str);
    let pet = pet_id.map(PetId::get);
    let reference = reference.as_ref().map(Text::as_str);
    let filters: (usize, &[&dyn Parameter]) = match (pet, reference, status) {
        (Some(_), ..) => (2, &[&pet, &status, &reference]),
        (_, Some(_), _) => (3, &[&reference, &status]),
        (.., Some(_)) => (1, &[&status]),
        _ => (0, &[]),
    };
    let (by, filters) = filters;
    let values: [&dyn Parameter; 2] = [&after, &limit];
    let sql = &S::plans().orders[by][usize::from(newest_first)];
    let read = |row: &S::BorrowedRow<'_>| order(row, 0)?.ok_or_else(|| row.invalid(0));
    read_up_to(
        connection,
        longest,
        sql,
        &[&values, filters].concat(),
        read,
        Order::length,
    )
    .await
}

async fn names_of_orders<S: Sql>(
    connection: &mut S,
    (status, limit): (Option<OrderStatus>, usize),
) -> Result<Vec<(OrderId, PetName)>, S::Error> {
    let values: Parameters<'_> = &[
        &i64::try_from(limit).unwrap_or(i64::MAX),
        &status.map(OrderStatus::as_str),
    ];
    read_all(connection, NAMES, values, |row| {
        Ok((Cell::read(row, 0)?, Cell::read(row, 1)?))
    })
    .await
}

fn has_one_filter_at_most(query: &OrderQuery) -> bool {
    let OrderQuery {
        status,
        pet_id,
        reference,
        limit: _,
        newest_first: _,
        after: _,
    } = query;
    let filters = [status.is_some(), pet_id.is_some(), reference.is_some()];
    filters.into_iter().filter(|&is_there| is_there).count() <= 1
}

async fn due<S: Sql>(
    connection: &mut S,
    (after, now, limit): (Option<(OrderId, Timestamp)>, Timestamp, u32),
) -> Result<Vec<(OrderId, Timestamp)>, S::Error> {
    // Rows with an earlier time than the year 0 have a value that the service never writes.
    let (end, id) = after.map_or((-62_167_219_200_000, 0), |(id, end)| {
        (end.as_millisecond(), id.get())
    });
    let values: Parameters<'_> = &[&now.as_millisecond(), &end, &id, &i64::from(limit)];
    let read = |row: &S::BorrowedRow<'_>| Ok((Cell::read(row, 0)?, Cell::read(row, 1)?));
    read_all(connection, &S::plans().due, values, read).await
}

async fn reservations<S: Sql>(connection: &mut S) -> Result<Reservations, S::Error> {
    let row = connection
        .row(&S::plans().reservations, &[])
        .await?
        .ok_or_else(S::no_row)?;
    let open = row.value::<i64>(0)?.unsigned_abs();
    Ok(Reservations {
        open,
        first_end: row.optional_time(1)?,
    })
}

async fn contacts_until<S: Sql>(
    connection: &mut S,
    [after, until, limit]: [i64; 3],
) -> Result<Vec<OrderId>, S::Error> {
    let sql = &S::plans().contacts_until;
    read_all(connection, sql, &[&after, &until, &limit], |row| {
        Cell::read(row, 0)
    })
    .await
}

async fn categories<S: Sql>(
    connection: &mut S,
    [first, limit]: [i64; 2],
) -> Result<Vec<Category>, S::Error> {
    read_all(connection, &CATEGORIES, &[&first, &limit], |row| {
        Category::read(row, 0)
    })
    .await
}

async fn has_values<S: Sql>(connection: &mut S, member: &str) -> Result<bool, S::Error> {
    connection
        .row(S::plans().has_values, &[&member])
        .await?
        .ok_or_else(S::no_row)?
        .value(0)
}

fn one_more(limit: Limit) -> i64 {
    i64::from(limit.get()) + 1
}
