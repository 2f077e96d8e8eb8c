//! The inverted index from words and dates to animals, for the search: the table `word_blocks`.
//!
//! A word is a search key of a name or value, together with the field that it belongs to. A date is
//! a word that begins with a byte which no key contains. An entry is a word with the offset of one
//! animal in its block of identifiers. The entries of a block are sorted and packed into rows
//! ([`word_rows`]), so all words with the same prefix are in adjacent rows. A row
//! has the entries from its `first` up to the `first` of the next row (exclusive).

use std::collections::BTreeMap;

use petstore_domain::store_area::DateRange;
use roaring::RoaringBitmap;

use super::{
    Parameter, Sql, Values, values,
    word_rows::{self, PackedRow, Words, read_words},
};
use crate::columns::Columns;

/// The field that stands for the names of animals in a word. No field has an empty name.
pub(super) const NAME_FIELD: &str = "";

/// The number of bits of an offset. The low bits of an identifier are the offset of the animal in
/// its block, and the remaining bits are the number of the block.
const BLOCK_BITS: u32 = 16;

/// The maximum number of bytes of a row, not counting its last word. Four such rows fit into a page
/// of SQLite.
const MAX_WORD_ROW_BYTES: usize = 900;

/// The number of bytes of each row after a row that was too long is split. It leaves room for more
/// entries.
const DIVIDED_ROW_BYTES: usize = MAX_WORD_ROW_BYTES * 2 / 3;

/// The maximum number of blocks that one batch of statements reads. It limits the memory that a
/// search uses.
const MAX_BLOCKS_PER_READ: usize = 4;

/// Selects the rows of the block $1 that may contain words from $2 (inclusive) to $3 (exclusive).
/// The first such row may begin before $2.
const ROWS_IN_RANGE: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first >= coalesce(
        (SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
            ORDER BY first DESC LIMIT 1), $2)
    AND first < $3";
/// Selects the first entry of the row of the block $1 that the entry $2 belongs to.
const ROW_OF_ENTRY: &str = "SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
    ORDER BY first DESC LIMIT 1";
/// Selects the first entries of all rows of the block $1.
const ALL_ROWS: &str = "SELECT first FROM word_blocks WHERE block = $1 ORDER BY first";
/// The minimum number of changed entries in a block for reading the keys of all its rows. For fewer
/// entries, looking up the row of each entry is faster.
const MIN_ENTRIES_TO_READ_ALL_ROWS: usize = 256;
const WORDS: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first = $2";
const PUT: &str = "INSERT INTO word_blocks (block, first, words) VALUES ($1, $2, $3)
    ON CONFLICT (block, first) DO UPDATE SET words = excluded.words";
const REMOVE: &str = "DELETE FROM word_blocks WHERE block = $1 AND first = $2";

/// An entry, with its block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryKey {
    pub(super) block: i64,
    pub(super) entry: Vec<u8>,
}

/// The edit of an entry, or of an animal in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    Insert,
    Remove,
}

/// The entries that change, each with its edit.
pub(super) type EntryChanges = BTreeMap<EntryKey, Edit>;

/// A change of one entry.
struct EntryChange {
    entry: Vec<u8>,
    edit: Edit,
}

/// The primary key of a row: its block and its first entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    block: i64,
    first: Vec<u8>,
}

/// A set of animals: for the number of each block, the offsets of the animals in the block.
pub(super) type Blocks = BTreeMap<i64, RoaringBitmap>;

/// Returns the number of the block of an animal.
pub(super) fn block_of(id: i64) -> i64 {
    id >> BLOCK_BITS
}

/// Returns the offset of an animal in its block.
pub(super) fn offset_in_block(id: i64) -> u16 {
    u16::try_from(id & ((1 << BLOCK_BITS) - 1)).unwrap_or_default()
}

/// Returns the identifier of the animal at an offset in a block.
pub(crate) fn pet_in_block(block: i64, offset: u32) -> i64 {
    (block << BLOCK_BITS) | i64::from(offset)
}

/// Encodes the word for a key in the values of a field, or in a name with [`NAME_FIELD`]. A key has
/// no zero byte.
pub(super) fn encode_word(key: &str, field: &str) -> Vec<u8> {
    [key.as_bytes(), &[0], field.as_bytes(), &[0]].concat()
}

/// Encodes the word for a date in the values of a field. No key begins with the first byte.
pub(super) fn encode_date_word(field: &str, date: &str) -> Vec<u8> {
    [&[1], field.as_bytes(), &[0], date.as_bytes(), &[0]].concat()
}

/// Returns the field of a word that is not a date: the part between its last two zero bytes.
fn field_of_word(word: &[u8]) -> &str {
    let field = word.rsplit(|&byte| byte == 0).nth(1);
    field
        .and_then(|field| str::from_utf8(field).ok())
        .unwrap_or_default()
}

/// A range of words, from `start` (inclusive) to `end` (exclusive).
pub(super) struct WordRange {
    start: Vec<u8>,
    end: Vec<u8>,
}

impl WordRange {
    /// Returns the range of the words whose key begins with `prefix`.
    pub(super) fn with_prefix(prefix: &str) -> Self {
        Self {
            start: prefix.into(),
            // UTF-8 never contains the byte 0xFF, so no text with the prefix is above this end.
            end: [prefix.as_bytes(), &[0xFF]].concat(),
        }
    }

    /// Returns the range of the words for a range of dates.
    pub(super) fn from_dates(dates: &DateRange) -> Self {
        let field = dates.field.as_str();
        let [first, last] = dates.bounds().map(|date| encode_date_word(field, &date));
        Self {
            start: first,
            // The last date belongs to the range, and its word is below this end.
            end: [&last[..], &[0xFF]].concat(),
        }
    }

    /// Finds the animals in `blocks` that have a word of this range in a field that
    /// `includes_field` accepts.
    pub(super) async fn find_pets<S: Sql>(
        &self,
        connection: &mut S,
        blocks: &[i64],
        includes_field: impl Fn(&str) -> bool + Send + Sync,
    ) -> Result<Blocks, S::Error> {
        let start = &self.start[..];
        let end = &self.end[..];
        let mut pets = Blocks::new();
        for chunk in blocks.chunks(MAX_BLOCKS_PER_READ) {
            let values = chunk.iter().map(|&block| values![block, start, end]);
            let results = connection
                .rows_each(ROWS_IN_RANGE, values.collect())
                .await?;
            for (&block, rows) in chunk.iter().zip(results) {
                pets.insert(block, self.find_offsets(&rows, &includes_field)?);
            }
        }
        Ok(pets)
    }

    /// Finds animals of one block, and returns their offsets in the block. An animal is found if it
    /// has a word of this range in a field that `includes_field` accepts. `rows` are the rows of
    /// [`ROWS_IN_RANGE`], whose only column has the words.
    fn find_offsets<R: Columns>(
        &self,
        rows: &[R],
        includes_field: impl Fn(&str) -> bool,
    ) -> Result<RoaringBitmap, R::Error> {
        // One bit for each offset in the block, the lowest bit of each byte first. So bit 2 of
        // byte 1 is for the offset 10.
        let mut bits = vec![0_u8; 1 << (BLOCK_BITS - 3)];
        for row in rows {
            read_words(row, 0, |word, offsets| {
                let is_in_range = word >= &self.start[..] && word < &self.end[..];
                if is_in_range && includes_field(field_of_word(word)) {
                    for &offset in offsets {
                        bits[usize::from(offset >> 3)] |= 1 << (offset & 7);
                    }
                }
            })?;
        }
        Ok(RoaringBitmap::from_lsb0_bytes(0, &bits))
    }
}

/// Finds the animals in `blocks` that have a date in a range.
pub(super) async fn find_pets_with_date<S: Sql>(
    connection: &mut S,
    dates: &DateRange,
    blocks: &[i64],
) -> Result<Blocks, S::Error> {
    // All words of the range are dates of one field, so no field needs to be excluded.
    WordRange::from_dates(dates)
        .find_pets(connection, blocks, |_| true)
        .await
}

/// Applies changes of entries to their rows: splits rows that become too long, and deletes empty
/// ones.
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
    for ((key, row_changes), rows) in changes_by_row.into_iter().zip(present_rows) {
        // There is at most one row, and none if the changed entries sort before all rows.
        let mut words = match rows.first() {
            Some(row) => words_of_row(row)?,
            None => Words::new(),
        };
        let has_changed = apply_changes(&mut words, &row_changes);
        if !has_changed {
            continue;
        }
        let RowKey { block, first } = key;
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

/// Reads the words of a row of [`WORDS`], whose only column has them.
fn words_of_row<R: Columns>(row: &R) -> Result<Words, R::Error> {
    let mut words = Words::new();
    read_words(row, 0, |word, offsets| {
        words.insert(word.to_vec(), offsets.to_vec());
    })?;
    Ok(words)
}

/// Packs words into one row if they fit, and otherwise into several rows with room for more
/// entries. The first row keeps the key `first` of the present row, even if it now begins with
/// another entry.
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

/// Groups changes by the row that they affect.
async fn group_by_row<S: Sql>(
    connection: &mut S,
    changes: EntryChanges,
) -> Result<BTreeMap<RowKey, Vec<EntryChange>>, S::Error> {
    let mut changes_by_block: BTreeMap<i64, Vec<EntryChange>> = BTreeMap::new();
    for (EntryKey { block, entry }, edit) in changes {
        let block_changes = changes_by_block.entry(block).or_default();
        block_changes.push(EntryChange { entry, edit });
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

/// Returns, for each change in a block, the first entry of the row that the change affects. It is
/// empty if the changed entry sorts before all rows.
async fn first_entries_of_rows<S: Sql>(
    connection: &mut S,
    block: i64,
    changes: &[EntryChange],
) -> Result<Vec<Vec<u8>>, S::Error> {
    if changes.len() < MIN_ENTRIES_TO_READ_ALL_ROWS {
        look_up_each_row(connection, block, changes).await
    } else {
        find_among_all_rows(connection, block, changes).await
    }
}

/// Finds the rows of changed entries with one statement per entry. See [`first_entries_of_rows`].
async fn look_up_each_row<S: Sql>(
    connection: &mut S,
    block: i64,
    changes: &[EntryChange],
) -> Result<Vec<Vec<u8>>, S::Error> {
    let values = changes
        .iter()
        .map(|change| values![block, &change.entry[..]])
        .collect();
    let mut firsts: Vec<Vec<u8>> = Vec::with_capacity(changes.len());
    for rows in connection.rows_each(ROW_OF_ENTRY, values).await? {
        firsts.push(match rows.first() {
            Some(row) => row.value(0)?,
            None => Vec::new(),
        });
    }
    Ok(firsts)
}

/// Finds the rows of changed entries among the keys of all rows of the block. See
/// [`first_entries_of_rows`].
async fn find_among_all_rows<S: Sql>(
    connection: &mut S,
    block: i64,
    changes: &[EntryChange],
) -> Result<Vec<Vec<u8>>, S::Error> {
    let mut all_firsts: Vec<Vec<u8>> = Vec::new();
    for row in connection.rows(ALL_ROWS, &[&block]).await? {
        all_firsts.push(row.value(0)?);
    }
    let mut firsts: Vec<Vec<u8>> = Vec::with_capacity(changes.len());
    for change in changes {
        let row_count = all_firsts.partition_point(|first| *first <= change.entry);
        firsts.push(all_firsts[..row_count].last().cloned().unwrap_or_default());
    }
    Ok(firsts)
}

/// Applies changes to the words of a row. Returns whether any of them made a difference.
fn apply_changes(words: &mut Words, changes: &[EntryChange]) -> bool {
    let mut has_changed = false;
    for EntryChange { entry, edit } in changes {
        let Some((word, offset)) = entry.split_last_chunk() else {
            // Never occurs, because `encode_entry` appends an offset to every word.
            continue;
        };
        let offset = u16::from_be_bytes(*offset);
        has_changed |= match edit {
            Edit::Insert => insert_entry(words, word, offset),
            Edit::Remove => remove_entry(words, word, offset),
        };
    }
    has_changed
}

/// Inserts an entry. Returns whether it was absent.
fn insert_entry(words: &mut Words, word: &[u8], offset: u16) -> bool {
    let Some(offsets) = words.get_mut(word) else {
        words.insert(word.to_vec(), vec![offset]);
        return true;
    };
    let Err(position) = offsets.binary_search(&offset) else {
        return false;
    };
    offsets.insert(position, offset);
    true
}

/// Removes an entry. Returns whether it was present.
fn remove_entry(words: &mut Words, word: &[u8], offset: u16) -> bool {
    let Some(offsets) = words.get_mut(word) else {
        return false;
    };
    let Ok(position) = offsets.binary_search(&offset) else {
        return false;
    };
    offsets.remove(position);
    if offsets.is_empty() {
        words.remove(word);
    }
    true
}
