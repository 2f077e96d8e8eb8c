//! The search for animals. Each value of a field, each category and each status has a set of the animals
//! that have it, in blocks of successive identifiers (`value_blocks`); `word_blocks.rs` has those of
//! words. A search intersects the sets of what it looks for.
//!
//! The sets run behind. Triggers note each change of an animal (`value_changes`), with what the sets
//! have of it. Animals between the two identifiers of `search_state` are not in the sets yet. A task
//! merges all these, and a search reads them one by one until its page is full, so its result is exact
//! at every moment, and only takes longer while many are not merged.

use std::iter;

use futures_util::FutureExt;
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{FieldValues, PetQuery, Sought, StorePet},
};
use roaring::RoaringTreemap;

use super::{
    Parameter, Sql, SqlFuture, fields,
    plans::{PAGE, Search, UNREAD},
    search_blocks::Wanted,
    word_blocks::BLOCK_BITS,
};
use crate::{
    columns::{Cell, Columns},
    tables::pet_with_order,
};

/// How many blocks a search reads at once: few for the first page of what many animals have, and at last
/// a million animals.
const BLOCKS: [i64; 3] = [1, 4, 16];

/// A page of animals, and the position after it if more follow.
type Page = (Vec<StorePet>, Option<PetId>);

/// The animals of a page that has a category, a name or values, in the order of their identifiers.
/// All statements see the store at one moment.
pub(super) fn find<'t, S: Sql>(
    connection: &'t mut S,
    query: &'t PetQuery,
) -> SqlFuture<'t, S, Page> {
    async move {
        let wanted = usize::from(query.limit.get()) + 1;
        let mut found = first(connection, query, wanted).await?;
        let has_more = found.len() == wanted;
        found.truncate(wanted - 1);
        let next = found.last().filter(|_| has_more).copied();
        let mut pets: Vec<StorePet> = Vec::with_capacity(found.len());
        if let Some(last) = found.last() {
            let ids: Vec<i64> = (0..PAGE)
                .map(|at| found.get(at).unwrap_or(last).get())
                .collect();
            let ids: Vec<&dyn Parameter> = ids.iter().map(|id| id as _).collect();
            for row in connection.rows(&reads_of::<S>(query).pets, &ids).await? {
                pets.push(pet_with_order(&row)?);
            }
            let order = Order::of(query);
            pets.sort_unstable_by_key(|pet| order.key(pet.id.get()));
        }
        Ok((pets, next))
    }
    .boxed()
}

/// How many animals of any page the query finds, up to so many.
pub(super) fn count<'t, S: Sql>(
    connection: &'t mut S,
    (query, most): &'t (PetQuery, usize),
) -> SqlFuture<'t, S, usize> {
    count_up_to(connection, query, *most).boxed()
}

/// The same, as a part of other work.
pub(super) async fn count_up_to<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    most: usize,
) -> Result<usize, S::Error> {
    Ok(first(connection, query, most).await?.len())
}

/// The statements for the table that has the animals.
fn reads_of<S: Sql>(query: &PetQuery) -> &'static Search {
    &S::plans().search[usize::from(query.withdrawn)]
}

/// The first animals that a query finds, in its order.
async fn first<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    wanted: usize,
) -> Result<Vec<PetId>, S::Error> {
    let order = Order::of(query);
    let sought = match &query.phrase {
        Some(phrase) => Some(phrase.among(&fields::list(connection).await?)),
        None => None,
    };
    let (mut read, mut found, mut after) = (RoaringTreemap::new(), Vec::new(), order.after);
    'read: loop {
        let sql = &reads_of::<S>(query).unmerged[usize::from(order.is_descending)];
        let rows = connection.rows(sql, &[&after]).await?;
        for row in &rows {
            after = row.value(0)?;
            read.insert(after.unsigned_abs());
            let Some(status) = Option::<PetStatus>::read(row, 1)? else {
                continue;
            };
            let name = PetName::read(row, 3)?;
            let fields = if query.looks_at_values() || sought.is_some() {
                FieldValues::read(row, 4)?
            } else {
                FieldValues::NONE
            };
            let is_sought = |sought: &Sought| {
                PetId::new(after).is_some_and(|id| sought.has(id, &name, &fields))
            };
            if query.has(status, row.value(2)?, &name, &fields)
                && sought.as_ref().is_none_or(is_sought)
            {
                found.push(after);
                if found.len() == wanted {
                    break 'read;
                }
            }
        }
        if rows.len() < UNREAD {
            break;
        }
    }
    // What is behind a full page is neither read nor wanted.
    let end = found.last().filter(|_| found.len() == wanted).copied();
    let mut in_common = Wanted::of(query, sought.as_ref());
    found.extend(in_sets(connection, &mut in_common, order, (wanted, end), &read).await?);
    found.sort_unstable_by_key(|&id| order.key(id));
    Ok(found
        .into_iter()
        .take(wanted)
        .filter_map(PetId::new)
        .collect())
}

/// The order of a page, and the identifier behind which it begins.
#[derive(Clone, Copy)]
struct Order {
    is_descending: bool,
    after: i64,
}

impl Order {
    fn of(query: &PetQuery) -> Self {
        let is_descending = query.newest_first;
        let first = if is_descending { i64::MAX } else { 0 };
        Self {
            is_descending,
            after: query.after.map_or(first, PetId::get),
        }
    }

    /// By which identifiers and blocks are sorted.
    fn key(self, number: i64) -> i64 {
        if self.is_descending { -number } else { number }
    }

    /// Whether an animal is on this page or behind it.
    fn has(self, id: i64) -> bool {
        self.key(id) > self.key(self.after)
    }
}

/// The first animals of an order that are in all sets, without those that were read. At most so many,
/// and none that are behind the block of the second identifier.
async fn in_sets<S: Sql>(
    connection: &mut S,
    wanted: &mut Wanted<'_>,
    order: Order,
    (most, end): (usize, Option<i64>),
    read: &RoaringTreemap,
) -> Result<Vec<i64>, S::Error> {
    let (mut found, mut from) = (Vec::new(), order.after >> BLOCK_BITS);
    for blocks in BLOCKS.into_iter().chain(iter::repeat(BLOCKS[2])) {
        let next = wanted
            .next_block(connection, order.is_descending, from)
            .await?;
        let is_wanted =
            |block: &i64| end.is_none_or(|end| order.key(*block) <= order.key(end >> BLOCK_BITS));
        let Some(next) = next.filter(is_wanted) else {
            break;
        };
        let (lowest, until) = if order.is_descending {
            (next.saturating_sub(blocks - 1), next.saturating_add(1))
        } else {
            (next, next.saturating_add(blocks))
        };
        let by_block = wanted.find(connection, [lowest, until]).await?.into_iter();
        let id = |block: i64, low| (block << BLOCK_BITS) | i64::from(low);
        let is_next = |id: &i64| order.has(*id) && !read.contains(id.unsigned_abs());
        let missing = most - found.len();
        if order.is_descending {
            let ids = by_block
                .rev()
                .flat_map(|(block, pets)| pets.into_iter().rev().map(move |low| id(block, low)));
            found.extend(ids.filter(is_next).take(missing));
        } else {
            let ids =
                by_block.flat_map(|(block, pets)| pets.into_iter().map(move |low| id(block, low)));
            found.extend(ids.filter(is_next).take(missing));
        }
        if found.len() == most {
            break;
        }
        from = if order.is_descending {
            lowest - 1
        } else {
            until
        };
    }
    Ok(found)
}
