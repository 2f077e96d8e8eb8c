//! The words of names and values, and dates, in the search: the table `word_blocks`.
//!
//! A word is a key and the field whose value has it. A date is a word whose first byte no key has. An entry is
//! a word and the place of an animal in its block of identifiers. The entries of a block are sorted and
//! packed into rows ([`word_rows`](super::word_rows)), so that all with one beginning are in successive rows. A row has
//! the entries from its `first` up to the `first` of the next row.

use std::collections::BTreeMap;

use petstore_domain::store_area::DateRange;
use roaring::RoaringBitmap;

use super::{
    Parameter, Sql, Values, values,
    word_rows::{self, PackedRow, Words, read_words},
};
use crate::columns::Columns;

/// The number of the lowest bits of an identifier that are the place of an animal in its block. The higher bits are the
/// number of the block.
pub(crate) const BLOCK_BITS: u32 = 16;

/// The maximum number of bytes of a row, without the last word: the row fits into a page of SQLite with three others.
const MAX_WORD_ROW_BYTES: usize = 900;

/// The number of bytes of the rows into which a longer one is divided. They have room for more entries.
const DIVIDED_ROW_BYTES: usize = MAX_WORD_ROW_BYTES * 2 / 3;

/// The maximum number of blocks whose words are read at once.
const MAX_BLOCKS_PER_READ: usize = 4;

/// Selects the rows of a block that can have the words from $2 on and before $3.
const ROWS_IN_RANGE: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first >= coalesce(
        (SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
            ORDER BY first DESC LIMIT 1), $2)
    AND first < $3";
/// Selects the row of a block that can have the entry $2.
const ROW_OF_ENTRY: &str = "SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
    ORDER BY first DESC LIMIT 1";
const ALL_ROWS: &str = "SELECT first FROM word_blocks WHERE block = $1 ORDER BY first";
/// The number of entries of a block from which their rows are found among all rows of the block: to select the row of
/// each entry takes longer.
const MIN_ENTRIES_TO_READ_ALL_ROWS: usize = 256;
const WORDS: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first = $2";
const PUT: &str = "INSERT INTO word_blocks (block, first, words) VALUES ($1, $2, $3)
    ON CONFLICT (block, first) DO UPDATE SET words = excluded.words";
const REMOVE: &str = "DELETE FROM word_blocks WHERE block = $1 AND first = $2";

/// An entry of a block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryKey {
    pub(super) block: i64,
    pub(super) entry: Vec<u8>,
}

/// The entries that change, and whether each is in its block from now on.
pub(super) type EntryChanges = BTreeMap<EntryKey, bool>;

/// The places of animals in blocks, by the numbers of the blocks.
pub(super) type Blocks = BTreeMap<i64, RoaringBitmap>;

/// Returns the number of the block of an animal.
pub(super) fn block_of(id: i64) -> i64 {
    id >> BLOCK_BITS
}

/// Returns the place of an animal in its block.
pub(super) fn low_bits(id: i64) -> u16 {
    u16::try_from(id & ((1 << BLOCK_BITS) - 1)).unwrap_or_default()
}

/// Returns the identifier of the animal at a place in a block.
pub(crate) fn pet_in_block(block: i64, low: u32) -> i64 {
    (block << BLOCK_BITS) | i64::from(low)
}

/// Returns the word of a key, which has no zero byte, in values of a field. The field of the names of animals has an
/// empty name.
///
/// For example, the word of the key `blue` in the field `colour` is `blue\0colour\0`.
pub(super) fn word(key: &str, field: &str) -> Vec<u8> {
    [key.as_bytes(), &[0], field.as_bytes(), &[0]].concat()
}

/// Returns the word of a date. No key begins with its first byte.
///
/// For example, the word of the date `2020-02-29` in the field `born` is `\x01born\02020-02-29\0`.
pub(super) fn date_word(field: &str, date: &str) -> Vec<u8> {
    [&[1], field.as_bytes(), &[0], date.as_bytes(), &[0]].concat()
}

/// Returns the field of a word that is no date.
fn field_of_word(word: &[u8]) -> &str {
    let field = word.rsplit(|&byte| byte == 0).nth(1);
    field
        .and_then(|field| str::from_utf8(field).ok())
        .unwrap_or_default()
}

/// Successive words, from `start` on and before `end`.
pub(super) struct WordRange {
    start: Vec<u8>,
    end: Vec<u8>,
}

impl WordRange {
    /// Returns the range of the words of all keys that begin with `prefix`.
    pub(super) fn with_prefix(prefix: &str) -> Self {
        Self {
            start: prefix.into(),
            // No text has the byte 0xFF, so this is above each text that begins with the prefix.
            end: [prefix.as_bytes(), &[0xFF]].concat(),
        }
    }

    /// Returns the range of the words of dates in a range.
    pub(super) fn from_dates(dates: &DateRange) -> Self {
        let field = dates.field.as_str();
        let [first, last] = dates.bounds().map(|date| date_word(field, &date));
        Self {
            start: first,
            end: [&last[..], &[0xFF]].concat(),
        }
    }

    /// Finds the animals in each block that have one of the words in a field for which `is_sought` is true.
    pub(super) async fn find_pets<S: Sql>(
        &self,
        connection: &mut S,
        blocks: &[i64],
        is_sought: impl Fn(&str) -> bool + Send + Sync,
    ) -> Result<Blocks, S::Error> {
        let start = &self.start[..];
        let end = &self.end[..];
        let mut pets = Blocks::new();
        for blocks in blocks.chunks(MAX_BLOCKS_PER_READ) {
            let values = blocks.iter().map(|&block| values![block, start, end]);
            let results = connection
                .rows_each(ROWS_IN_RANGE, values.collect())
                .await?;
            for (&block, rows) in blocks.iter().zip(results) {
                let mut bits = vec![0_u8; 1 << (BLOCK_BITS - 3)];
                for row in &rows {
                    read_words(row, 0, |word, lows| {
                        if word >= start && word < end && is_sought(field_of_word(word)) {
                            for &low in lows {
                                bits[usize::from(low >> 3)] |= 1 << (low & 7);
                            }
                        }
                    })?;
                }
                pets.insert(block, RoaringBitmap::from_lsb0_bytes(0, &bits));
            }
        }
        Ok(pets)
    }
}

/// A change of an entry.
struct EntryChange {
    entry: Vec<u8>,
    /// Whether the entry is in its row from now on.
    is_in: bool,
}

/// A row of the table: its block and its first entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    block: i64,
    first: Vec<u8>,
}

/// Writes the rows whose entries change.
pub(super) async fn write_changes<S: Sql>(
    connection: &mut S,
    changes: EntryChanges,
) -> Result<(), S::Error> {
    let changes_by_row = group_by_row(connection, changes).await?;
    let selections = changes_by_row
        .keys()
        .map(|row| values![row.block, row.first.clone()])
        .collect();
    let present_rows = connection.rows_each(WORDS, selections).await?;

    let mut puts: Vec<Values<'_>> = Vec::new();
    let mut removals: Vec<Values<'_>> = Vec::new();
    for ((row, changes), present) in changes_by_row.into_iter().zip(present_rows) {
        let mut words = Words::new();
        for present_row in &present {
            read_words(present_row, 0, |word, lows| {
                words.insert(word.to_vec(), lows.to_vec());
            })?;
        }
        if !apply_changes(&mut words, &changes) {
            continue;
        }
        let RowKey { block, first } = row;
        if words.is_empty() {
            removals.push(values![block, first]);
            continue;
        }
        for new_row in divide_into_rows(&words, first) {
            puts.push(values![block, new_row.first, new_row.bytes]);
        }
    }
    connection.execute_each(PUT, puts).await?;
    connection.execute_each(REMOVE, removals).await?;
    Ok(())
}

/// Packs words into one row, or into several rows that have room for more entries. The first row stays in the place of
/// the present one, even if its first entry is another one now.
fn divide_into_rows(words: &Words, first: Vec<u8>) -> Vec<PackedRow> {
    let mut rows = word_rows::pack(words, MAX_WORD_ROW_BYTES);
    if rows.len() > 1 {
        rows = word_rows::pack(words, DIVIDED_ROW_BYTES);
    }
    if let Some(first_row) = rows.first_mut() {
        first_row.first = first;
    }
    rows
}

/// Groups changes by the rows whose entries change.
async fn group_by_row<S: Sql>(
    connection: &mut S,
    changes: EntryChanges,
) -> Result<BTreeMap<RowKey, Vec<EntryChange>>, S::Error> {
    let mut changes_by_block: BTreeMap<i64, Vec<EntryChange>> = BTreeMap::new();
    for (EntryKey { block, entry }, is_in) in changes {
        let block_changes = changes_by_block.entry(block).or_default();
        block_changes.push(EntryChange { entry, is_in });
    }

    let mut changes_by_row: BTreeMap<RowKey, Vec<EntryChange>> = BTreeMap::new();
    for (block, block_changes) in changes_by_block {
        let firsts = first_entries_of_rows(connection, block, &block_changes).await?;
        for (change, first) in block_changes.into_iter().zip(firsts) {
            let row = RowKey { block, first };
            changes_by_row.entry(row).or_default().push(change);
        }
    }
    Ok(changes_by_row)
}

/// Returns, for each changed entry of a block, the first entry of its row. It is empty if the entry is before all rows.
async fn first_entries_of_rows<S: Sql>(
    connection: &mut S,
    block: i64,
    changes: &[EntryChange],
) -> Result<Vec<Vec<u8>>, S::Error> {
    let mut firsts: Vec<Vec<u8>> = Vec::with_capacity(changes.len());
    if changes.len() < MIN_ENTRIES_TO_READ_ALL_ROWS {
        let values = changes
            .iter()
            .map(|change| values![block, &change.entry[..]])
            .collect();
        for rows in connection.rows_each(ROW_OF_ENTRY, values).await? {
            firsts.push(match rows.first() {
                Some(row) => row.value(0)?,
                None => Vec::new(),
            });
        }
        return Ok(firsts);
    }

    let mut all_firsts: Vec<Vec<u8>> = Vec::new();
    for row in connection.rows(ALL_ROWS, &[&block]).await? {
        all_firsts.push(row.value(0)?);
    }
    for change in changes {
        let row_count = all_firsts.partition_point(|first| *first <= change.entry);
        firsts.push(all_firsts[..row_count].last().cloned().unwrap_or_default());
    }
    Ok(firsts)
}

/// Changes the entries of a row. Returns whether there was a difference.
fn apply_changes(words: &mut Words, changes: &[EntryChange]) -> bool {
    let mut has_changed = false;
    for EntryChange { entry, is_in } in changes {
        let Some((word, low)) = entry.split_last_chunk() else {
            continue;
        };
        let low = u16::from_be_bytes(*low);
        has_changed |= if *is_in {
            add_entry(words, word, low)
        } else {
            remove_entry(words, word, low)
        };
    }
    has_changed
}

/// Adds an entry. Returns whether it was absent.
fn add_entry(words: &mut Words, word: &[u8], low: u16) -> bool {
    let Some(lows) = words.get_mut(word) else {
        words.insert(word.to_vec(), vec![low]);
        return true;
    };
    let Err(position) = lows.binary_search(&low) else {
        return false;
    };
    lows.insert(position, low);
    true
}

/// Removes an entry. Returns whether it was present.
fn remove_entry(words: &mut Words, word: &[u8], low: u16) -> bool {
    let Some(lows) = words.get_mut(word) else {
        return false;
    };
    let Ok(position) = lows.binary_search(&low) else {
        return false;
    };
    lows.remove(position);
    if lows.is_empty() {
        words.remove(word);
    }
    true
}
