//! What the animals of a search have in common, in blocks of the sets.

use std::slice;

use petstore_domain::{
    PetStatus,
    store_area::{PetQuery, Sought, ValueFilter, Word},
};
use roaring::RoaringBitmap;

use super::{
    Parameter, Sql,
    search_sets::{low, of_category, of_list, of_value, pets},
    values,
    word_blocks::{BLOCK_BITS, Blocks, Range},
};
use crate::columns::Columns;

const NEXT_BLOCK: [&str; 2] = [
    "SELECT min(block) FROM value_blocks WHERE value = $1 AND block >= $2",
    "SELECT max(block) FROM value_blocks WHERE value = $1 AND block <= $2",
];
const SET_OF: &str = "SELECT block, pets FROM value_blocks
    WHERE value = $1 AND block >= $2 AND block < $3";

/// What the animals that are merged must have.
pub(super) struct Wanted<'q> {
    query: &'q PetQuery,
    sought: Option<&'q Sought>,
    /// The words of what is sought, those that few animals have first: how many of the blocks that were read.
    words: Vec<(u64, &'q Word)>,
    /// They are in one of these sets, and in all of the others.
    lists: Vec<i64>,
    all: Vec<i64>,
}

impl<'q> Wanted<'q> {
    pub(super) fn of(query: &'q PetQuery, sought: Option<&'q Sought>) -> Self {
        let statuses = PetStatus::ALL.into_iter();
        let lists = statuses
            .filter(|&status| query.status.is_none_or(|wanted| wanted == status))
            .filter(|&status| !(query.on_offer && status == PetStatus::Sold))
            .map(|status| of_list(status, query.withdrawn))
            .collect();
        let all = query.values.iter().map(of_filter);
        let all = all.chain(query.category_id.map(of_category)).collect();
        let words = sought
            .iter()
            .flat_map(|sought| &sought.words)
            .map(|word| (0, word))
            .collect();
        Self {
            query,
            sought,
            words,
            lists,
            all,
        }
    }

    /// The first block from this one on, in ascending or descending order, that may have animals.
    pub(super) async fn next_block<S: Sql>(
        &self,
        connection: &mut S,
        is_descending: bool,
        from: i64,
    ) -> Result<Option<i64>, S::Error> {
        let sets = self.all.first().map_or(&self.lists[..], slice::from_ref);
        let sets = sets.iter().map(|&set| values![set, from]).collect();
        let next = connection
            .rows_each(NEXT_BLOCK[usize::from(is_descending)], sets)
            .await?;
        let next: Result<Vec<Option<i64>>, _> =
            next.iter().flatten().map(|row| row.value(0)).collect();
        let next = next?.into_iter().flatten();
        Ok(if is_descending {
            next.max()
        } else {
            next.min()
        })
    }

    /// The animals from one block up to another one. Words that few animals have are read first, because
    /// the others are only read where these left animals.
    pub(super) async fn find<S: Sql>(
        &mut self,
        connection: &mut S,
        [lowest, until]: [i64; 2],
    ) -> Result<Blocks, S::Error> {
        let sets = self
            .lists
            .iter()
            .chain(&self.all)
            .map(|&set| values![set, lowest, until]);
        let mut sets = connection
            .rows_each(SET_OF, sets.collect())
            .await?
            .into_iter();
        let mut found = union_of::<S>(sets.by_ref().take(self.lists.len()))?;
        for of_value in sets {
            narrow(&mut found, &union_of::<S>([of_value])?);
        }
        if let Some(prefix) = self.query.prefix() {
            let range = Range::beginning(prefix.as_str());
            let named = range
                .find(connection, &blocks_of(&found), str::is_empty)
                .await?;
            narrow(&mut found, &named);
        }
        if let Some(dates) = &self.query.dates {
            let dated = Range::dates(dates)
                .find(connection, &blocks_of(&found), |_| true)
                .await?;
            narrow(&mut found, &dated);
        }
        if let Some(sought) = self.sought {
            let mut with_unique = found.clone();
            narrow(
                &mut with_unique,
                &in_sets(connection, &sought.unique, [lowest, until]).await?,
            );
            for (count, word) in &mut self.words {
                if let Some(have) = with_word(connection, &found, sought, word).await? {
                    *count = have.values().map(RoaringBitmap::len).sum();
                    narrow(&mut found, &have);
                }
            }
            self.words.sort_by_key(|(count, _)| *count);
            for (block, pets) in with_unique {
                *found.entry(block).or_default() |= pets;
            }
        }
        Ok(found)
    }
}

/// The animals of these blocks that have a word, in their names, their values, as a label, or as their number. `None`
/// if there are no blocks, or if every animal has it.
async fn with_word<S: Sql>(
    connection: &mut S,
    found: &Blocks,
    sought: &Sought,
    word: &Word,
) -> Result<Option<Blocks>, S::Error> {
    let blocks = blocks_of(found);
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Ok(None);
    };
    if word.prefix.is_empty() {
        return Ok(None);
    }
    let range = Range::beginning(word.prefix.as_str());
    let mut have = range
        .find(connection, &blocks, |field| sought.looks_at(field, word))
        .await?;
    for (block, pets) in in_sets(connection, &word.labelled, [*first, last + 1]).await? {
        *have.entry(block).or_default() |= pets;
    }
    if let Some(id) = word.id {
        have.entry(id.get() >> BLOCK_BITS)
            .or_default()
            .insert(low(id.get()).into());
    }
    Ok(Some(have))
}

/// The animals that have one of these values.
async fn in_sets<S: Sql>(
    connection: &mut S,
    values: &[ValueFilter],
    [lowest, until]: [i64; 2],
) -> Result<Blocks, S::Error> {
    let sets = values
        .iter()
        .map(|value| values![of_filter(value), lowest, until])
        .collect();
    union_of::<S>(connection.rows_each(SET_OF, sets).await?)
}

fn union_of<S: Sql>(sets: impl IntoIterator<Item = Vec<S::Row>>) -> Result<Blocks, S::Error> {
    let mut found = Blocks::new();
    for row in sets.into_iter().flatten() {
        *found.entry(row.value(0)?).or_default() |= pets(&row, 1)?;
    }
    Ok(found)
}

fn narrow(found: &mut Blocks, others: &Blocks) {
    found.retain(|block, pets| {
        others.get(block).is_some_and(|others| {
            *pets &= others;
            !pets.is_empty()
        })
    });
}

fn blocks_of(found: &Blocks) -> Vec<i64> {
    found.keys().copied().collect()
}

fn of_filter(value: &ValueFilter) -> i64 {
    of_value(value.field.as_str(), &value.key)
}
