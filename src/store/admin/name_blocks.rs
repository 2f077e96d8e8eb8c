//! The keys of names in the search: the table `name_blocks`.
//!
//! An entry is a key, a zero byte, and the place of an animal in its block of identifiers. The entries of
//! a block are sorted and packed into rows, so that all with one beginning are in successive rows. A
//! row has the entries from its `first` to that of the next row.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
};

use roaring::RoaringBitmap;

use super::{Parameter, Sql, values};
use crate::{domain::store_area::NamePrefix, store::columns::Columns};

/// A row has about so many bytes at most: it fits into a page of SQLite with three others.
const ROW: usize = 900;

/// The next block that has names, in ascending and in descending order.
pub(super) const NEXT: [&str; 2] = [
    "SELECT min(block) FROM name_blocks WHERE block >= $1",
    "SELECT max(block) FROM name_blocks WHERE block <= $1",
];
const WITH_PREFIX: &str = "SELECT entries FROM name_blocks WHERE block = $1 AND first >= coalesce(
        (SELECT first FROM name_blocks WHERE block = $1 AND first <= $2
            ORDER BY first DESC LIMIT 1), $2)
    AND first < $3";
const ROW_OF: &str = "SELECT first FROM name_blocks WHERE block = $1 AND first <= $2
    ORDER BY first DESC LIMIT 1";
const ROWS: &str = "SELECT first FROM name_blocks WHERE block = $1 ORDER BY first";
/// From so many entries of a block on, their rows are found among all rows of the block: to ask for each
/// takes longer.
const MANY: usize = 256;
const ENTRIES: &str = "SELECT entries FROM name_blocks WHERE block = $1 AND first = $2";
const PUT: &str = "INSERT INTO name_blocks (block, first, entries) VALUES ($1, $2, $3)
    ON CONFLICT (block, first) DO UPDATE SET entries = excluded.entries";
const REMOVE: &str = "DELETE FROM name_blocks WHERE block = $1 AND first = $2";

/// By block and entry, whether it is in the block from now on.
pub(super) type Changes = BTreeMap<(i64, Vec<u8>), bool>;

/// The entry of an animal with this key, which has no zero byte.
pub(super) fn entry(key: &str, low: u16) -> Vec<u8> {
    [key.as_bytes(), &[0], &low.to_be_bytes()].concat()
}

/// The animals of each of these blocks that have a key with this beginning.
pub(super) async fn find<S: Sql>(
    on: &mut S,
    blocks: Vec<i64>,
    prefix: &NamePrefix,
) -> Result<Vec<RoaringBitmap>, S::Error> {
    let from = prefix.as_str().as_bytes();
    // Above each text that begins with the prefix.
    let until = [from, &[0xFF]].concat();
    let blocks = blocks.into_iter().map(|block| values![block, from.to_vec(), until.clone()]);
    let mut found = Vec::new();
    for rows in on.rows_each(WITH_PREFIX, blocks.collect()).await? {
        let mut pets = RoaringBitmap::new();
        for row in rows {
            each(&row, 0, |entry| {
                if let (true, Some(low)) = (entry.starts_with(from), entry.last_chunk()) {
                    pets.insert(u16::from_be_bytes(*low).into());
                }
            })?;
        }
        found.push(pets);
    }
    Ok(found)
}

/// The first entry of the row of each of these entries of a block.
async fn rows_of<S: Sql>(
    on: &mut S,
    block: i64,
    changes: &[(Vec<u8>, bool)],
) -> Result<Vec<Vec<u8>>, S::Error> {
    if changes.len() < MANY {
        let of = changes.iter().map(|(entry, _)| values![block, entry.clone()]).collect();
        let rows = on.rows_each(ROW_OF, of).await?;
        let first = |rows: &Vec<S::Row>| rows.first().map_or(Ok(Vec::new()), |row| row.value(0));
        return rows.iter().map(first).collect();
    }
    let all = on.rows(ROWS, &[&block]).await?;
    let all: Vec<Vec<u8>> = all.iter().map(|row| row.value(0)).collect::<Result<_, _>>()?;
    let row_of = |entry| all[..all.partition_point(|first| first <= entry)].last();
    Ok(changes.iter().map(|(entry, _)| row_of(entry).cloned().unwrap_or_default()).collect())
}

/// Writes the rows whose entries change.
pub(super) async fn write<S: Sql>(on: &mut S, changes: Changes) -> Result<(), S::Error> {
    let (mut by_block, mut by_row) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for ((block, entry), is_in) in changes {
        by_block.entry(block).or_default().push((entry, is_in));
    }
    for (block, changes) in by_block {
        let firsts = rows_of(on, block, &changes).await?;
        for (change, first) in changes.into_iter().zip(firsts) {
            by_row.entry((block, first)).or_default().push(change);
        }
    }
    let of = by_row.keys().map(|(block, first)| values![*block, first.clone()]).collect();
    let before = on.rows_each(ENTRIES, of).await?;
    let (mut put, mut remove) = (Vec::new(), Vec::new());
    for (((block, first), changes), before) in by_row.into_iter().zip(before) {
        let mut entries = BTreeSet::new();
        for row in &before {
            each(row, 0, |entry| _ = entries.insert(entry.to_vec()))?;
        }
        for (entry, is_in) in changes {
            if is_in {
                entries.insert(entry)
            } else {
                entries.remove(&entry)
            };
        }
        let entries: Vec<_> = entries.into_iter().collect();
        if entries.is_empty() && !before.is_empty() {
            remove.push(values![block, first.clone()]);
        }
        let mut rows = packed(&entries, ROW);
        if rows.len() > 1 {
            // With room for others.
            rows = packed(&entries, ROW * 2 / 3);
        }
        let names = iter::once(first).chain(rows.iter().skip(1).map(|(first, _)| first.to_vec()));
        put.extend(names.zip(&rows).map(|(first, (_, row))| values![block, first, row.clone()]));
    }
    on.execute_each(PUT, put).await?;
    on.execute_each(REMOVE, remove).await?;
    Ok(())
}

/// Sorted entries in rows of about so many bytes, each with its first entry. An entry has the length of its common beginning with
/// the one before it in a byte, the length of the rest in two, and the rest.
fn packed(entries: &[Vec<u8>], most: usize) -> Vec<(&[u8], Vec<u8>)> {
    let mut rows: Vec<(&[u8], Vec<u8>)> = Vec::new();
    let mut before: &[u8] = &[];
    for entry in entries {
        if rows.last().is_none_or(|(_, row)| row.len() + entry.len() > most) {
            rows.push((entry, Vec::new()));
            before = &[];
        }
        let shared = before.iter().zip(entry).take_while(|(one, other)| one == other).count();
        let shared = u8::try_from(shared).unwrap_or(u8::MAX);
        let rest = &entry[shared.into()..];
        let length = u16::try_from(rest.len()).unwrap_or(u16::MAX);
        if let Some((_, row)) = rows.last_mut() {
            row.push(shared);
            row.extend(length.to_le_bytes());
            row.extend(rest);
        }
        before = entry;
    }
    rows
}

/// Calls `show` with each entry in a column.
pub(in crate::store) fn each<R: Columns>(
    row: &R,
    at: usize,
    mut show: impl FnMut(&[u8]),
) -> Result<(), R::Error> {
    let row_of = |bytes: &[u8]| {
        let (mut rest, mut entry) = (bytes, Vec::new());
        while let Some((&[shared, low, high], behind)) = rest.split_first_chunk() {
            let length = u16::from_le_bytes([low, high]).into();
            let (new, behind) = behind.split_at_checked(length)?;
            entry.truncate(shared.into());
            entry.extend_from_slice(new);
            show(&entry);
            rest = behind;
        }
        rest.is_empty().then_some(())
    };
    row.optional_decoded(at, row_of).map(drop)
}
