//! The blocks of the search: some thousand animals with successive identifiers, packed into few
//! rows. `migrations/sqlite/0016_packed_search.sql` and `0019_words.sql` describe them.

use std::{
    collections::{BTreeMap, HashMap},
    iter,
};

use rusqlite::{Connection, OptionalExtension, Row, types::Type};

use super::super::rows::status;
use crate::domain::{
    PetStatus,
    store_area::{MORE_KEYS, NameKeys},
};

/// The maximum number of animals of a block, so that the number of a key has two bytes.
pub(super) const BLOCK: usize = 4_096;
pub(super) const MOST_KEYS: usize = BLOCK * (1 + MORE_KEYS);
const _: () = assert!(MOST_KEYS <= u16::MAX as usize);

/// A row of names has about so many bytes: it fits into a page of SQLite with three others.
const ROW: usize = 768;

/// The bytes of a name in a row before its key: the identifier and the length of the key.
const NAME_HEAD: usize = 10;

/// The bytes of a kind.
const KIND: usize = 10;

const CONTENT: &str = "SELECT kinds, marks FROM search_blocks WHERE first_id = ?1";
const PUT_BLOCK: &str = "INSERT INTO search_blocks (first_id, size, kinds, marks)
    VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
    SET size = excluded.size, kinds = excluded.kinds, marks = excluded.marks";
const NAMES: &str = "SELECT rank, names FROM search_names WHERE block = ?1 ORDER BY rank";
const PUT_NAMES: &str = "INSERT OR REPLACE INTO search_names (block, rank, key, id, names)
    VALUES (?1, ?2, ?3, ?4, ?5)";
const DELETE_NAMES: &str = "DELETE FROM search_names WHERE block = ?1 AND rank = ?2";
const NAMES_WITH: &str = "SELECT rank, names FROM search_names WHERE block = ?1 AND rank <= ?2
    ORDER BY rank DESC LIMIT 1";
const RANK_OF: &str = "SELECT rank FROM search_names INDEXED BY search_names_by_key
    WHERE block = ?1 AND (key, id) <= (?2, ?3) ORDER BY key DESC, id DESC LIMIT 1";

/// What a search can select keys by, apart from their texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kind {
    /// The status of one that is not withdrawn: 0, 1, 2; of a withdrawn one: 3, 4, 5.
    pub(super) list: u8,
    /// How much the key has in common with another one of the animal (see [`NameKeys::more`]);
    /// [`FIRST`] for the first one.
    pub(super) shared: u8,
    pub(super) category: i64,
}

/// [`Kind::shared`] of the first key of an animal.
pub(super) const FIRST: u8 = u8::MAX;

impl Kind {
    pub(super) fn list(status: PetStatus, withdrawn: bool) -> u8 {
        status as u8 + if withdrawn { 3 } else { 0 }
    }

    /// The kinds in a column.
    pub(super) fn all(column: &[u8]) -> impl Iterator<Item = Self> {
        column.chunks_exact(KIND).filter_map(|kind| {
            let (&[list, shared], category) = kind.split_first_chunk()?;
            Some(Self { list, shared, category: i64::from_le_bytes(category.try_into().ok()?) })
        })
    }
}

/// The numbers of kinds in a column.
pub(super) fn marks(column: &[u8]) -> impl Iterator<Item = usize> {
    column.chunks_exact(2).map(|mark| usize::from(u16::from_le_bytes([mark[0], mark[1]])))
}

/// A key of an animal of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) id: i64,
    pub(super) kind: Kind,
}

impl Entry {
    /// The keys of an animal in a row of its identifier, name, category, status, and whether it is
    /// withdrawn.
    pub(super) fn all_of(row: &Row<'_>) -> rusqlite::Result<impl Iterator<Item = Self> + use<>> {
        let (id, category) = (row.get(0)?, row.get(2)?);
        let list = Kind::list(status(row.get_ref(3)?)?, row.get(4)?);
        let NameKeys { first, more } = NameKeys::of(row.get_ref(1)?.as_str()?);
        let keys = iter::once((first, FIRST)).chain(more);
        Ok(keys.map(move |(key, shared)| Self { key, id, kind: Kind { list, shared, category } }))
    }
}

/// The keys of a block, in order.
pub(super) fn load(connection: &Connection, block: i64) -> rusqlite::Result<Vec<Entry>> {
    let (kinds, marks): (Vec<_>, Vec<_>) =
        connection.prepare_cached(CONTENT)?.query_row([block], |row| {
            let (kinds, numbers) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
            Ok((Kind::all(kinds).collect(), marks(numbers).collect()))
        })?;
    let mut entries: Vec<Entry> = Vec::with_capacity(marks.len());
    let mut statement = connection.prepare_cached(NAMES)?;
    let mut rows = statement.query([block])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, u16>(0)? != number(entries.len()) {
            return Err(damaged());
        }
        let mut names = row.get_ref(1)?.as_blob()?;
        while !names.is_empty() {
            let (key, id) = take_name(&mut names)?;
            let kind = marks.get(entries.len()).and_then(|&mark| kinds.get(mark));
            entries.push(Entry { key: key.to_owned(), id, kind: *kind.ok_or_else(damaged)? });
        }
    }
    let in_order = entries.is_sorted_by(|one, next| (&one.key, one.id) < (&next.key, next.id));
    if in_order && entries.len() == marks.len() { Ok(entries) } else { Err(damaged()) }
}

/// Makes these the keys of a block. Writes only the rows that change.
pub(super) fn store(
    connection: &Connection,
    block: i64,
    mut entries: Vec<Entry>,
) -> rusqlite::Result<()> {
    // Most are in order already, and only a stable sort makes use of that.
    entries.sort_by(|one, other| (&one.key, one.id).cmp(&(&other.key, other.id)));
    let mut numbers = HashMap::new();
    let (mut kinds, mut marks) = (Vec::new(), Vec::with_capacity(2 * entries.len()));
    for Entry { kind, .. } in &entries {
        let next = number(numbers.len());
        let mark = *numbers.entry(kind).or_insert_with(|| {
            kinds.extend([kind.list, kind.shared]);
            kinds.extend(kind.category.to_le_bytes());
            next
        });
        marks.extend(mark.to_le_bytes());
    }
    connection.prepare_cached(PUT_BLOCK)?.execute((block, number(entries.len()), kinds, marks))?;

    let mut before: BTreeMap<u16, Vec<u8>> = connection
        .prepare_cached(NAMES)?
        .query_map([block], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut put = connection.prepare_cached(PUT_NAMES)?;
    let mut rest = entries.as_slice();
    while let [first, ..] = rest {
        let rank = number(entries.len() - rest.len());
        let (names, count) = packed(rest);
        if before.remove(&rank).is_none_or(|before| before != names) {
            put.execute((block, rank, &first.key, first.id, names))?;
        }
        rest = &rest[count..];
    }
    let mut delete = connection.prepare_cached(DELETE_NAMES)?;
    for rank in before.into_keys() {
        delete.execute((block, rank))?;
    }
    Ok(())
}

/// The keys of a row, and how many they are.
fn packed(entries: &[Entry]) -> (Vec<u8>, usize) {
    let (mut names, mut count) = (Vec::with_capacity(ROW), 0);
    for Entry { key, id, .. } in entries {
        if !names.is_empty() && names.len() + NAME_HEAD + key.len() > ROW {
            break;
        }
        names.extend(id.to_le_bytes());
        names.extend(number(key.len()).to_le_bytes());
        names.extend(key.as_bytes());
        count += 1;
    }
    (names, count)
}

/// The next name key with its identifier.
fn take_name<'n>(names: &mut &'n [u8]) -> rusqlite::Result<(&'n str, i64)> {
    let (id, rest) = names.split_first_chunk().ok_or_else(damaged)?;
    let (length, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let length = usize::from(u16::from_le_bytes(*length));
    let (key, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
    *names = rest;
    Ok((str::from_utf8(key)?, i64::from_le_bytes(*id)))
}

/// As a number in a row. See [`BLOCK`]; a key has at most some hundred bytes.
fn number(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn damaged() -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(0, "names".to_owned(), Type::Blob)
}

/// Reads the names of a block by their rank, a row at a time.
pub(super) struct Names<'c> {
    connection: &'c Connection,
    block: i64,
    /// The rank of the first name of the row.
    first: u16,
    row: Vec<u8>,
}

impl<'c> Names<'c> {
    pub(super) fn of(connection: &'c Connection, block: i64) -> Self {
        Self { connection, block, first: 0, row: Vec::new() }
    }

    /// How many keys of the block are not behind a position.
    pub(super) fn rank_behind(&mut self, after: (&str, i64)) -> rusqlite::Result<usize> {
        let mut rank_of = self.connection.prepare_cached(RANK_OF)?;
        let rank = rank_of.query_row((self.block, after.0, after.1), |row| row.get(0));
        let Some(rank) = rank.optional()? else {
            return Ok(0);
        };
        self.read_row(rank)?;
        let (mut names, mut rank) = (self.row.as_slice(), usize::from(self.first));
        while !names.is_empty() && take_name(&mut names)? <= after {
            rank += 1;
        }
        Ok(rank)
    }

    /// The key with this rank, and the identifier of its animal.
    pub(super) fn get(&mut self, rank: usize) -> rusqlite::Result<(&str, i64)> {
        if self.get_from_row(rank)?.is_none() {
            self.read_row(number(rank))?;
        }
        self.get_from_row(rank)?.ok_or_else(damaged)
    }

    fn get_from_row(&self, rank: usize) -> rusqlite::Result<Option<(&str, i64)>> {
        let Some(skipped) = rank.checked_sub(self.first.into()) else {
            return Ok(None);
        };
        let mut names = self.row.as_slice();
        for _ in 0..skipped {
            if names.is_empty() {
                return Ok(None);
            }
            take_name(&mut names)?;
        }
        if names.is_empty() { Ok(None) } else { take_name(&mut names).map(Some) }
    }

    fn read_row(&mut self, rank: u16) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(NAMES_WITH)?;
        (self.first, self.row) =
            statement.query_row((self.block, rank), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::super::migrations, *};

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let entry = ("[a-c]{0,2}|[a-zé]{60,64}", 0..6_u8, 0..3_u8, -1..2_i64);
        prop::collection::vec(entry, 0..200).prop_map(|entries| {
            let numbered = (1..).zip(entries);
            numbered
                .map(|(id, (key, list, shared, category))| Entry {
                    key,
                    id,
                    kind: Kind { list, shared, category },
                })
                .collect()
        })
    }

    fn sorted(mut entries: Vec<Entry>) -> Vec<(String, i64, Kind)> {
        entries.sort_by_key(|entry| (entry.key.clone(), entry.id));
        entries.into_iter().map(|Entry { key, id, kind }| (key, id, kind)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn a_block_holds_what_was_stored_last_and_is_read_by_rank(
            before in entries(),
            now in entries(),
        ) {
            let connection = Connection::open_in_memory().unwrap();
            migrations::create(&connection).unwrap();
            for entries in [before, now] {
                let copies = |Entry { key, id, kind }: &Entry| {
                    Entry { key: key.clone(), id: *id, kind: *kind }
                };
                let expected = sorted(entries.iter().map(copies).collect());
                store(&connection, 7, entries).unwrap();
                prop_assert_eq!(&sorted(load(&connection, 7).unwrap()), &expected);

                let mut names = Names::of(&connection, 7);
                for (rank, (key, id, _)) in expected.iter().enumerate() {
                    prop_assert_eq!(names.get(rank).unwrap(), (key.as_str(), *id));
                }
                for (rank, (key, id, _)) in expected.iter().enumerate() {
                    prop_assert_eq!(names.rank_behind((key, *id)).unwrap(), rank + 1);
                    prop_assert_eq!(names.rank_behind((key, *id - 1)).unwrap(), rank);
                }
                prop_assert!(names.get(expected.len()).is_err());
            }
        }
    }
}
