//! The search for animals. The index has a set of animals for each value of a field, each category
//! and each status (`value_blocks`), and for each word (`word_blocks.rs`). The sets are split into
//! blocks of consecutive identifiers. A search intersects the sets of all conditions of the query.
//!
//! The index lags behind the animals. Triggers record each change of an animal (`value_changes`),
//! with the state that the index still has for it. New animals, between the two identifiers in
//! `search_state`, are not in the index yet. A background task merges changed and new animals into
//! the index. Until then, a search reads these unmerged animals one by one until its page is full.
//! So its result is always exact, and a search is only slower while many animals are unmerged.

use std::{iter, ops::Range};

use futures_util::FutureExt;
use petstore_domain::{
    PetId, PetName, PetStatus,
    store_area::{FieldValues, PetQuery, PhraseMeaning, StorePet},
};
use roaring::RoaringTreemap;

use super::{
    Parameter, Sql, SqlFuture, fields,
    plans::{MAX_PETS_ON_PAGE, MAX_UNMERGED_PER_READ},
    search_blocks::MergedSearch,
    word_blocks::{Blocks, block_of, pet_in_block},
};
use crate::{
    columns::{Cell, Columns},
    tables::read_pet_with_order,
};

/// The number of blocks in the first, the second and each later read of a search. If many animals
/// match, the first block is enough for a page. A later read covers a million identifiers.
const BLOCKS_PER_READ: [i64; 3] = [1, 4, 16];

/// The order of a page, and the identifier after which the page begins.
#[derive(Clone, Copy)]
struct SearchOrder {
    is_descending: bool,
    after: i64,
}

impl SearchOrder {
    /// Returns the order of a query.
    fn new(query: &PetQuery) -> Self {
        let is_descending = query.newest_first;
        // The first page begins before every identifier.
        let start = if is_descending { i64::MAX } else { 0 };
        Self {
            is_descending,
            after: query.after.map_or(start, PetId::get),
        }
    }

    /// Returns the sort key of an identifier or of a block number.
    fn key(self, number: i64) -> i64 {
        if self.is_descending { -number } else { number }
    }

    /// Whether an animal comes after the start of the page.
    fn is_after_start(self, id: i64) -> bool {
        self.key(id) > self.key(self.after)
    }

    /// Returns the range of `count` consecutive blocks that begins with `first` in this order.
    fn blocks(self, first: i64, count: i64) -> Range<i64> {
        if self.is_descending {
            first.saturating_sub(count - 1)..first.saturating_add(1)
        } else {
            first..first.saturating_add(count)
        }
    }

    /// Returns the block that follows a range of blocks in this order.
    fn block_after(self, blocks: &Range<i64>) -> i64 {
        if self.is_descending {
            blocks.start - 1
        } else {
            blocks.end
        }
    }
}

/// The unmerged animals that a search has read.
#[derive(Default)]
struct UnmergedPets {
    /// The animals that were read, whether or not they match the query.
    read_ids: RoaringTreemap,
    /// The animals among them that match the query, in its order.
    matching_ids: Vec<i64>,
}

/// The limits of a search among merged animals.
struct MergedLimits<'u> {
    /// The maximum number of animals to find.
    max_count: usize,
    /// The animal in whose block the search may stop, if there is one.
    last_needed: Option<i64>,
    /// The unmerged animals that were read from their rows. The index may have an older state of
    /// them.
    read_ids: &'u RoaringTreemap,
}

/// Finds the animals on a page of a search. Also returns the identifier of the last one if more
/// animals follow: the next page begins after it.
///
/// The caller must make sure that all statements see the same snapshot.
pub(super) fn find_page<'t, S: Sql>(
    connection: &'t mut S,
    query: &'t PetQuery,
) -> SqlFuture<'t, S, (Vec<StorePet>, Option<PetId>)> {
    async move {
        let page_length = usize::from(query.limit.get());
        let mut ids = find_first_ids(connection, query, page_length + 1).await?;
        let has_more = ids.len() > page_length;
        ids.truncate(page_length);

        let next = if has_more { ids.last().copied() } else { None };
        let pets = read_pets(connection, query, &ids).await?;
        Ok((pets, next))
    }
    .boxed()
}

/// Counts the animals that match a search, up to a maximum.
pub(super) fn count<'t, S: Sql>(
    connection: &'t mut S,
    (query, max_count): &'t (PetQuery, usize),
) -> SqlFuture<'t, S, usize> {
    count_up_to(connection, query, *max_count).boxed()
}

/// Counts the animals that match a search, up to `max_count`, within the snapshot of the caller.
pub(super) async fn count_up_to<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    max_count: usize,
) -> Result<usize, S::Error> {
    Ok(find_first_ids(connection, query, max_count).await?.len())
}

/// Reads the animals with these identifiers, at most [`MAX_PETS_ON_PAGE`], in the order of the
/// query.
async fn read_pets<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    ids: &[PetId],
) -> Result<Vec<StorePet>, S::Error> {
    let Some(last) = ids.last() else {
        return Ok(Vec::new());
    };
    // The statement always has `MAX_PETS_ON_PAGE` parameters, so repeat the last identifier.
    let mut padded_ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    padded_ids.resize(MAX_PETS_ON_PAGE, last.get());
    let values: Vec<&dyn Parameter> = padded_ids.iter().map(|id| id as _).collect();
    let rows = connection
        .rows(&S::plans().choose_search(query).pets, &values)
        .await?;

    let mut pets = Vec::with_capacity(rows.len());
    for row in &rows {
        pets.push(read_pet_with_order(row)?);
    }
    let order = SearchOrder::new(query);
    pets.sort_unstable_by_key(|pet| order.key(pet.id.get()));
    Ok(pets)
}

/// Finds the identifiers of the first animals that match a query, in its order: at most
/// `max_count`. Combines two sources: the unmerged animals, which are read one by one, and the
/// index.
async fn find_first_ids<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    max_count: usize,
) -> Result<Vec<PetId>, S::Error> {
    let order = SearchOrder::new(query);
    let meaning = match &query.phrase {
        Some(phrase) => Some(phrase.interpret(&fields::read_fields(connection).await?)),
        None => None,
    };
    let unmerged = find_unmerged(connection, query, meaning.as_ref(), order, max_count).await?;

    // If the unmerged animals fill the page, no animal after the last of them is needed.
    let last_needed = if unmerged.matching_ids.len() == max_count {
        unmerged.matching_ids.last().copied()
    } else {
        None
    };
    let mut search = MergedSearch::new(query, meaning.as_ref());
    let limits = MergedLimits {
        max_count,
        last_needed,
        read_ids: &unmerged.read_ids,
    };
    let merged_ids = find_merged(connection, &mut search, order, &limits).await?;

    let mut ids = unmerged.matching_ids;
    ids.extend(merged_ids);
    ids.sort_unstable_by_key(|&id| order.key(id));
    ids.truncate(max_count);
    Ok(ids.into_iter().filter_map(PetId::new).collect())
}

/// Reads unmerged animals until `max_count` of them match the query or none is left.
async fn find_unmerged<S: Sql>(
    connection: &mut S,
    query: &PetQuery,
    meaning: Option<&PhraseMeaning>,
    order: SearchOrder,
    max_count: usize,
) -> Result<UnmergedPets, S::Error> {
    let statements = &S::plans().choose_search(query).unmerged;
    let sql = statements.choose(order.is_descending);
    let mut pets = UnmergedPets::default();
    let mut after = order.after;
    loop {
        let rows = connection.rows(sql, &[&after]).await?;
        for row in &rows {
            let id = row.value(0)?;
            after = id;
            pets.read_ids.insert(id.unsigned_abs());
            if !is_match(row, id, query, meaning)? {
                continue;
            }
            pets.matching_ids.push(id);
            if pets.matching_ids.len() == max_count {
                return Ok(pets);
            }
        }
        if rows.len() < MAX_UNMERGED_PER_READ {
            return Ok(pets);
        }
    }
}

/// Whether the animal in a row of `Search::unmerged` matches a query.
///
/// The columns after the id are the status, category, name, values and listing. They are null if
/// the animal is not in the table that the query searches, the catalogue or the withdrawn animals.
/// It then does not match.
fn is_match<R: Columns>(
    row: &R,
    id: i64,
    query: &PetQuery,
    meaning: Option<&PhraseMeaning>,
) -> Result<bool, R::Error> {
    let Some(status) = Option::<PetStatus>::read(row, 1)? else {
        return Ok(false);
    };
    let category_id = row.value(2)?;
    let name = PetName::read(row, 3)?;
    let values = if query.has_value_filters() || meaning.is_some() {
        FieldValues::read(row, 4)?
    } else {
        FieldValues::NONE
    };
    let matches_filters = query.matches_values(status, category_id, &name, &values)
        && query.matches_listing(Cell::read(row, 5)?);
    match (matches_filters, meaning, PetId::new(id)) {
        (true, None, _) => Ok(true),
        (true, Some(meaning), Some(id)) => Ok(meaning.matches(id, category_id, &name, &values)),
        _ => Ok(false),
    }
}

/// Appends the first animals of `pets` in this order to `ids`, up to [`MergedLimits::max_count`] in
/// total. Skips animals before the page, and unmerged animals that were already read.
fn append_first(ids: &mut Vec<i64>, pets: Blocks, order: SearchOrder, limits: &MergedLimits<'_>) {
    let candidates = pets.into_iter().flat_map(|(block, offsets)| {
        let offsets = offsets.into_iter();
        offsets.map(move |offset| pet_in_block(block, offset))
    });
    let missing_count = limits.max_count - ids.len();
    let is_on_page =
        |id: &i64| order.is_after_start(*id) && !limits.read_ids.contains(id.unsigned_abs());
    if order.is_descending {
        ids.extend(candidates.rev().filter(is_on_page).take(missing_count));
    } else {
        ids.extend(candidates.filter(is_on_page).take(missing_count));
    }
}

/// Finds the first merged animals in this order that match the search. Reads one range of blocks
/// after the other until the page is full.
async fn find_merged<S: Sql>(
    connection: &mut S,
    search: &mut MergedSearch<'_>,
    order: SearchOrder,
    limits: &MergedLimits<'_>,
) -> Result<Vec<i64>, S::Error> {
    let mut ids = Vec::new();
    let mut start = block_of(order.after);
    let last_needed_block = limits.last_needed.map(block_of);
    let [_, _, later_count] = BLOCKS_PER_READ;
    let block_counts = BLOCKS_PER_READ.into_iter().chain(iter::repeat(later_count));
    for block_count in block_counts {
        let next_block = search
            .next_block(connection, order.is_descending, start)
            .await?;
        let Some(next_block) = next_block else {
            break;
        };
        if let Some(last_needed_block) = last_needed_block
            && order.key(next_block) > order.key(last_needed_block)
        {
            // All animals in this block and in later ones come after the last needed animal.
            break;
        }

        let blocks = order.blocks(next_block, block_count);
        let pets = search.find_in_blocks(connection, blocks.clone()).await?;
        append_first(&mut ids, pets, order, limits);
        if ids.len() == limits.max_count {
            break;
        }
        start = order.block_after(&blocks);
    }
    Ok(ids)
}
