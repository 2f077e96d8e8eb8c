//! Reads pages of animals and of orders, and reads results row by row.

use std::ops::ControlFlow;

use petstore_domain::{
    Limit, PetId,
    store_area::{Order, OrderId, OrderQuery, OrderStatus, PetQuery, StorePet, Text},
};

use super::{
    Database, Parameter, Parameters, SharedValue, SlowRead, Sql, Work, plans::OrderFilter,
};
use crate::{
    StoreError,
    columns::Columns,
    tables::{read_order, read_pet, read_pet_with_order},
};

/// A query for a page of the animals that are available or pending.
#[derive(Clone, Copy)]
pub(super) struct OfferQuery {
    /// The animal after which the page begins.
    pub(super) after: Option<PetId>,
    pub(super) limit: Limit,
    pub(super) newest_first: bool,
    /// Whether the page is limited to the animals that the window may show.
    pub(super) is_for_window: bool,
}

/// Reads a page of a query, as a fast read if possible.
///
/// A fast read ([`Database::read`]) must not take longer than microseconds, so it gives up if the
/// texts on the page exceed `max_fast_bytes`. The page is then read again, as a slow read
/// ([`Database::read_slowly`]) of the kind `slow_read`. If `max_fast_bytes` is `None`, there is no
/// fast read.
///
/// `read` reads the page for both. It is called with the query and a maximum number of bytes, and
/// returns `None` if the texts exceed that number.
pub(super) async fn read_page<D: Database, Q: SharedValue + Clone, T: SharedValue>(
    store: &D,
    max_fast_bytes: Option<usize>,
    slow_read: SlowRead,
    query: Q,
    read: Work<D::Sql, (Q, usize), Option<Vec<T>>>,
) -> Result<Vec<T>, StoreError> {
    if let Some(max_bytes) = max_fast_bytes
        && let Some(page) = store.read((query.clone(), max_bytes), read).await?
    {
        return Ok(page);
    }
    let no_limit = usize::MAX;
    let page = store
        .read_slowly(slow_read, (query, no_limit), read)
        .await?;
    // Without a limit, there always is a page.
    Ok(page.unwrap_or_default())
}

/// Reads each row of a result with `read_row`. Stops and returns `None` once the texts, which
/// `text_length` measures, exceed `max_bytes`.
async fn read_up_to<S: Sql, T: Send>(
    connection: &mut S,
    max_bytes: usize,
    sql: &'static str,
    values: Parameters<'_>,
    read_row: for<'r> fn(&S::BorrowedRow<'r>) -> Result<T, S::Error>,
    text_length: fn(&T) -> usize,
) -> Result<Option<Vec<T>>, S::Error> {
    let mut items = Vec::new();
    let mut total_bytes = 0;
    connection
        .visit(sql, values, &mut |row| {
            let item = read_row(row)?;
            total_bytes += text_length(&item);
            items.push(item);
            if total_bytes > max_bytes {
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;

    if total_bytes > max_bytes {
        return Ok(None);
    }
    Ok(Some(items))
}

/// Reads each row of a result with `read_row`.
pub(super) async fn read_all<S: Sql, T: Send>(
    connection: &mut S,
    sql: &'static str,
    values: Parameters<'_>,
    read_row: for<'r> fn(&S::BorrowedRow<'r>) -> Result<T, S::Error>,
) -> Result<Vec<T>, S::Error> {
    let mut items = Vec::new();
    connection
        .visit(sql, values, &mut |row| {
            items.push(read_row(row)?);
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    Ok(items)
}

/// Returns the number of rows to read for a page: one more than its limit, because the additional
/// row shows that another page follows.
pub(super) fn rows_to_read(limit: Limit) -> i64 {
    i64::from(limit.get()) + 1
}

/// Returns the identifier after which a page begins. The first page begins before all identifiers.
fn page_start(after: Option<i64>, newest_first: bool) -> i64 {
    match after {
        Some(after) => after,
        None if newest_first => i64::MAX,
        None => 0,
    }
}

/// Reads a page of animals for a query without a search, and one more animal if more follow.
/// Returns `None` if their texts exceed `max_bytes`.
pub(super) async fn read_pets<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    max_bytes: usize,
) -> Result<Option<Vec<StorePet>>, S::Error> {
    let start = page_start(query.after.map(PetId::get), query.newest_first);
    let values: Parameters<'_> = &[&start, &rows_to_read(query.limit)];
    let sql = S::plans().choose_pet_page(query);
    let read_row = |row: &S::BorrowedRow<'_>| read_pet_with_order(row);
    read_up_to(
        connection,
        max_bytes,
        sql,
        values,
        read_row,
        StorePet::length,
    )
    .await
}

/// Reads a page of the animals that are available or pending, and one more animal if more follow.
/// Does not read their orders. Returns `None` if their texts exceed `max_bytes`.
pub(super) async fn read_offers<S: Sql>(
    connection: &mut S,
    query: OfferQuery,
    max_bytes: usize,
) -> Result<Option<Vec<StorePet>>, S::Error> {
    let start = page_start(query.after.map(PetId::get), query.newest_first);
    let values: Parameters<'_> = &[&start, &rows_to_read(query.limit)];
    let plans = S::plans();
    let statements = if query.is_for_window {
        &plans.in_window
    } else {
        &plans.on_offer
    };
    let sql = statements.choose(query.newest_first);
    let read_row = |row: &S::BorrowedRow<'_>| read_pet(row, 0)?.ok_or_else(|| row.invalid(0));
    read_up_to(
        connection,
        max_bytes,
        sql,
        values,
        read_row,
        StorePet::length,
    )
    .await
}

/// Reads a page of orders, and one more order if more follow. Returns `None` if their texts exceed
/// `max_bytes`.
pub(super) async fn read_orders<S: Sql>(
    connection: &mut S,
    query: &OrderQuery,
    max_bytes: usize,
) -> Result<Option<Vec<Order>>, S::Error> {
    // Destructure all members, so that a new filter does not compile until it is handled here.
    let OrderQuery {
        status,
        pet_id,
        reference,
        limit,
        newest_first,
        after,
    } = query;
    let start = page_start(after.map(OrderId::get), *newest_first);
    let row_count = rows_to_read(*limit);
    let status = status.map(OrderStatus::as_str);
    let pet = pet_id.map(PetId::get);
    let reference = reference.as_ref().map(Text::as_str);

    // The most selective filter comes first. `OrderFilter` documents the parameters of each
    // statement.
    let mut values: Vec<&dyn Parameter> = vec![&start, &row_count];
    let filter = if pet.is_some() {
        values.extend([&pet as &dyn Parameter, &status, &reference]);
        OrderFilter::Pet
    } else if reference.is_some() {
        values.extend([&reference as &dyn Parameter, &status]);
        OrderFilter::Reference
    } else if status.is_some() {
        values.push(&status);
        OrderFilter::Status
    } else {
        OrderFilter::None
    };

    let sql = S::plans().choose_order_page(filter, *newest_first);
    let read_row = |row: &S::BorrowedRow<'_>| read_order(row, 0)?.ok_or_else(|| row.invalid(0));
    read_up_to(connection, max_bytes, sql, &values, read_row, Order::length).await
}

/// Whether a query has at most one filter. An index then finds exactly the rows of the page. With
/// two filters, the index serves only one of them, so the statement also scans rows that do not
/// match.
pub(super) fn has_at_most_one_filter(query: &OrderQuery) -> bool {
    // Destructure all members, so that a new filter does not compile until it is handled here.
    let OrderQuery {
        status,
        pet_id,
        reference,
        limit: _,
        newest_first: _,
        after: _,
    } = query;
    let filter_count = usize::from(status.is_some())
        + usize::from(pet_id.is_some())
        + usize::from(reference.is_some());
    filter_count <= 1
}
