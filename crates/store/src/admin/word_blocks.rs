//! The words of names and values, and dates, in the search: the table `word_blocks`.
//!
//! A word is a key and the field whose value has it, and a date is a word that no key is. An entry is
//! a word and the place of an animal in its block of identifiers. The entries of a block are sorted and
//! packed into rows, so that all with one beginning are in successive rows. A row has the entries from
//! its `first` to that of the next row.

use std::{collections::BTreeMap, iter};

use petstore_domain::store_area::DateRange;
use roaring::RoaringBitmap;

use super::{Parameter, Sql, values};
use crate::columns::Columns;

/// An identifier without these bits is the number of its block.
pub(crate) const BLOCK_BITS: u32 = 16;

/// A row has about so many bytes at most: it fits into a page of SQLite with three others.
const ROW: usize = 900;

/// From so many blocks, words are read at once.
const BLOCKS: usize = 4;

const OF_RANGE: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first >= coalesce(
        (SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
            ORDER BY first DESC LIMIT 1), $2)
    AND first < $3";
const ROW_OF: &str = "SELECT first FROM word_blocks WHERE block = $1 AND first <= $2
    ORDER BY first DESC LIMIT 1";
const ROWS: &str = "SELECT first FROM word_blocks WHERE block = $1 ORDER BY first";
/// From so many entries of a block on, their rows are found among all rows of the block: to ask for each
/// takes longer.
const MANY: usize = 256;
const WORDS: &str = "SELECT words FROM word_blocks WHERE block = $1 AND first = $2";
const PUT: &str = "INSERT INTO word_blocks (block, first, words) VALUES ($1, $2, $3)
    ON CONFLICT (block, first) DO UPDATE SET words = excluded.words";
const REMOVE: &str = "DELETE FROM word_blocks WHERE block = $1 AND first = $2";

/// By block and entry, whether it is in the block from now on.
pub(super) type Changes = BTreeMap<(i64, Vec<u8>), bool>;

/// The animals of blocks.
pub(super) type Blocks = BTreeMap<i64, RoaringBitmap>;

/// The word of a key, which has no zero byte, in values of a field. The names of animals are the field
/// without a name.
pub(super) fn word(key: &str, field: &str) -> Vec<u8> {
    [key.as_bytes(), &[0], field.as_bytes(), &[0]].concat()
}

/// The word of a date. No key begins with its first byte.
pub(super) fn date(field: &str, date: &str) -> Vec<u8> {
    [&[1], field.as_bytes(), &[0], date.as_bytes(), &[0]].concat()
}

fn field_of(word: &[u8]) -> &str {
    let field = word.rsplit(|&byte| byte == 0).nth(1);
    field
        .and_then(|field| str::from_utf8(field).ok())
        .unwrap_or_default()
}

/// The entry of an animal with this word.
pub(super) fn entry(word: &[u8], low: u16) -> Vec<u8> {
    [word, &low.to_be_bytes()].concat()
}

/// Successive words, from the first up to the last one.
pub(super) struct Range([Vec<u8>; 2]);

impl Range {
    /// The words of all keys with this beginning.
    pub(super) fn beginning(key: &str) -> Self {
        // Above each text that begins with the key.
        Self([key.into(), [key.as_bytes(), &[0xFF]].concat()])
    }

    pub(super) fn dates(dates: &DateRange) -> Self {
        let field = dates.field.as_str();
        let [from, to] = dates.bounds().map(|end| date(field, &end));
        Self([from, [&to[..], &[0xFF]].concat()])
    }

    /// The animals of each of these blocks that have one of the words in a field that `is_sought`.
    pub(super) async fn find<S: Sql>(
        &self,
        connection: &mut S,
        blocks: &[i64],
        is_sought: impl Fn(&str) -> bool + Send + Sync,
    ) -> Result<Blocks, S::Error> {
        let Self([from, until]) = self;
        let mut found = Blocks::new();
        for blocks in blocks.chunks(BLOCKS) {
            let of = blocks
                .iter()
                .map(|&block| values![block, &from[..], &until[..]])
                .collect();
            for (&block, rows) in blocks.iter().zip(connection.rows_each(OF_RANGE, of).await?) {
                let mut bits = vec![0_u8; 1 << (BLOCK_BITS - 3)];
                for row in rows {
                    each(&row, 0, |word, lows| {
                        if word >= &from[..] && word < &until[..] && is_sought(field_of(word)) {
                            for &low in lows {
                                bits[usize::from(low >> 3)] |= 1 << (low & 7);
                            }
                        }
                    })?;
                }
                found.insert(block, RoaringBitmap::from_lsb0_bytes(0, &bits));
            }
        }
        Ok(found)
    }
}

/// The first entry of the row of each of these entries of a block.
async fn rows_of<S: Sql>(
    connection: &mut S,
    block: i64,
    changes: &[(Vec<u8>, bool)],
) -> Result<Vec<Vec<u8>>, S::Error> {
    if changes.len() < MANY {
        let of = changes
            .iter()
            .map(|(entry, _)| values![block, entry.clone()])
            .collect();
        let rows = connection.rows_each(ROW_OF, of).await?;
        let first = |rows: &Vec<S::Row>| rows.first().map_or(Ok(Vec::new()), |row| row.value(0));
        return rows.iter().map(first).collect();
    }
    let all = connection.rows(ROWS, &[&block]).await?;
    let all: Vec<Vec<u8>> = all
        .iter()
        .map(|row| row.value(0))
        .collect::<Result<_, _>>()?;
    let row_of = |entry| all[..all.partition_point(|first| first <= entry)].last();
    Ok(changes
        .iter()
        .map(|(entry, _)| row_of(entry).cloned().unwrap_or_default())
        .collect())
}

/// Writes the rows whose entries change.
pub(super) async fn write<S: Sql>(connection: &mut S, changes: Changes) -> Result<(), S::Error> {
    let (mut by_block, mut by_row) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for ((block, entry), is_in) in changes {
        by_block.entry(block).or_default().push((entry, is_in));
    }
    for (block, changes) in by_block {
        let firsts = rows_of(connection, block, &changes).await?;
        for (change, first) in changes.into_iter().zip(firsts) {
            by_row.entry((block, first)).or_default().push(change);
        }
    }
    let of = by_row
        .keys()
        .map(|(block, first)| values![*block, first.clone()])
        .collect();
    let before = connection.rows_each(WORDS, of).await?;
    let (mut put, mut remove) = (Vec::new(), Vec::new());
    for (((block, first), changes), before) in by_row.into_iter().zip(before) {
        let mut words = BTreeMap::new();
        for row in &before {
            each(row, 0, |word, lows| {
                _ = words.insert(word.to_vec(), lows.to_vec())
            })?;
        }
        if !changed(&mut words, &changes) {
            continue;
        }
        if words.is_empty() {
            remove.push(values![block, first.clone()]);
        }
        let mut rows = packed(&words, ROW);
        if rows.len() > 1 {
            // With room for others.
            rows = packed(&words, ROW * 2 / 3);
        }
        let names = iter::once(first).chain(rows.iter().skip(1).map(|(first, _)| first.clone()));
        put.extend(
            names
                .zip(&rows)
                .map(|(first, (_, row))| values![block, first, row.clone()]),
        );
    }
    connection.execute_each(PUT, put).await?;
    connection.execute_each(REMOVE, remove).await?;
    Ok(())
}

/// Changes the entries of a row. Returns whether there was a difference.
fn changed(words: &mut BTreeMap<Vec<u8>, Vec<u16>>, changes: &[(Vec<u8>, bool)]) -> bool {
    let mut is_other = false;
    for (entry, is_in) in changes {
        let Some((word, low)) = entry.split_last_chunk() else {
            continue;
        };
        let low = u16::from_be_bytes(*low);
        match (words.get_mut(word), is_in) {
            (None, false) => continue,
            (None, true) => _ = words.insert(word.to_vec(), vec![low]),
            (Some(lows), is_in) => match (lows.binary_search(&low), is_in) {
                (Err(at), true) => lows.insert(at, low),
                (Ok(_), false) if lows.len() == 1 => _ = words.remove(word),
                (Ok(at), false) => _ = lows.remove(at),
                _ => continue,
            },
        }
        is_other = true;
    }
    is_other
}

/// Words in rows of about so many bytes, each with its first entry. The migration describes them.
fn packed(words: &BTreeMap<Vec<u8>, Vec<u16>>, most: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut before: &[u8] = &[];
    for (word, lows) in words {
        let mut lows = &lows[..];
        while let Some(&first) = lows.first() {
            if rows
                .last()
                .is_none_or(|(_, row)| row.len() + word.len() > most)
            {
                rows.push((entry(word, first), Vec::new()));
                before = &[];
            }
            let Some((_, row)) = rows.last_mut() else {
                break;
            };
            let shared = before
                .iter()
                .zip(word)
                .take_while(|(one, other)| one == other)
                .count();
            let shared = u8::try_from(shared).unwrap_or(u8::MAX);
            let rest = &word[shared.into()..];
            row.push(shared);
            row.extend(u16::try_from(rest.len()).unwrap_or(u16::MAX).to_le_bytes());
            row.extend(rest);
            let (at, mut count, mut last) = (row.len(), 0_u16, 0);
            row.extend([0; 2]);
            for &low in lows {
                // A row has one of them at least.
                if count > 0 && row.len() >= most {
                    break;
                }
                let mut difference = low - last;
                while difference > 0x7F {
                    row.push(0x80 | difference.to_le_bytes()[0]);
                    difference >>= 7;
                }
                row.push(difference.to_le_bytes()[0]);
                (count, last) = (count + 1, low);
            }
            row[at..at + 2].copy_from_slice(&count.to_le_bytes());
            lows = &lows[count.into()..];
            before = word;
        }
    }
    rows
}

/// Calls `show` with each word in a column, and the places of its animals.
pub(crate) fn each<R: Columns>(
    row: &R,
    at: usize,
    mut show: impl FnMut(&[u8], &[u16]),
) -> Result<(), R::Error> {
    let row_of = |bytes: &[u8]| {
        let (mut rest, mut word, mut lows) = (bytes, Vec::new(), Vec::new());
        while let Some((&[shared, low, high], behind)) = rest.split_first_chunk() {
            let (new, behind) = behind.split_at_checked(u16::from_le_bytes([low, high]).into())?;
            word.truncate(shared.into());
            word.extend_from_slice(new);
            let (&count, behind) = behind.split_first_chunk()?;
            rest = behind;
            lows.clear();
            let mut place = 0;
            for _ in 0..u16::from_le_bytes(count) {
                let (mut difference, mut shift) = (0, 0);
                loop {
                    let (&byte, behind) = rest.split_first()?;
                    rest = behind;
                    difference |= u32::from(byte & 0x7F) << shift;
                    shift += 7;
                    if byte < 0x80 || shift > 14 {
                        break;
                    }
                }
                place += difference;
                lows.push(u16::try_from(place).ok()?);
            }
            show(&word, &lows);
        }
        rest.is_empty().then_some(())
    };
    row.optional_decoded(at, row_of).map(drop)
}
