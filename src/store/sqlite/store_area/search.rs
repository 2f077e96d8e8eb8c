//! The search by name and category, in the blocks of `search_block.rs`, which `merge.rs` fills.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
};

use rusqlite::{Connection, Row};

use super::{
    super::rows::{identifier, status},
    rows,
    search_block::{self, FIRST, Kind, Names},
};
use crate::domain::{
    PetStatus,
    store_area::{NamePrefix, PetQuery, StorePet},
};

/// While more animals than this are not merged, there is no search: it would take more than 10 ms.
const MOST_UNMERGED: u64 = 15_000;

/// A search that would read more bytes of names one by one also takes more than 10 ms.
const MOST_UNMERGED_BYTES: usize = 16 << 20;

/// So many bytes of names a search reads in less than a millisecond.
pub(super) const FEW_BYTES: u64 = 1 << 20;

const UNMERGED: &str = "SELECT (SELECT count(*) FROM search_pending)
    + max(0, coalesce((SELECT max(id) FROM pets), 0) - last_merged_id,
        coalesce((SELECT max(id) FROM withdrawn_pets), 0) - last_merged_id) FROM search_state";
const UNMERGED_BYTES: &str = "SELECT coalesce((SELECT sum(bytes) FROM search_pending), 0)
    + coalesce((SELECT sum(octet_length(name)) FROM pets WHERE id > last_merged_id), 0)
    + coalesce((SELECT sum(octet_length(name)) FROM withdrawn_pets WHERE id > last_merged_id), 0)
    FROM search_state";
const PENDING: &str = "SELECT id FROM search_pending";
const BLOCKS: &str = "SELECT first_id, kinds, marks FROM search_blocks ORDER BY first_id";

/// How many animals a search reads one by one, or more.
pub(super) fn unmerged(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached(UNMERGED)?.query_row([], |row| row.get(0).map(i64::unsigned_abs))
}

/// The bytes of their names. Does not read the names.
pub(super) fn unmerged_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let mut bytes = connection.prepare_cached(UNMERGED_BYTES)?;
    bytes.query_row([], |row| row.get(0).map(i64::unsigned_abs))
}

/// The animals of a page in the order of the keys by which they are found, and one more if more
/// follow. `None` if too many are not merged.
pub(super) fn find(
    connection: &Connection,
    query: &PetQuery,
    prefix: &NamePrefix,
) -> rusqlite::Result<Option<Vec<(String, StorePet)>>> {
    if unmerged(connection)? > MOST_UNMERGED {
        return Ok(None);
    }
    let pending: rusqlite::Result<_> =
        connection.prepare_cached(PENDING)?.query_map([], |row| row.get(0))?.collect();
    let after = position(query, prefix);
    let mut search = Search {
        query,
        prefix,
        end: prefix.end(),
        after,
        pending: pending?,
        first: BTreeSet::new(),
    };
    if !search.read_unmerged(connection)? {
        return Ok(None);
    }
    search.read_merged(connection)?;
    let mut pets = Vec::with_capacity(search.first.len());
    for (key, id) in mem::take(&mut search.first) {
        // A trigger notes each change, so this can fail only in a damaged database.
        let pet = rows::get_pet(connection, identifier(id)?)?
            .filter(|pet| {
                search.matches(pet) && prefix.find(pet.name.as_str()).as_ref() == Some(&key)
            })
            .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        pets.push((key, pet));
    }
    Ok(Some(pets))
}

/// The position before the first animal of a page: its key and its identifier.
fn position(query: &PetQuery, prefix: &NamePrefix) -> (String, i64) {
    let after = query.after.as_ref();
    let after = after.map(|after| (after.key.clone().unwrap_or_default(), after.id.get()));
    after.unwrap_or_default().max((prefix.as_str().to_owned(), 0))
}

struct Search<'q> {
    query: &'q PetQuery,
    prefix: &'q NamePrefix,
    /// Above all names that begin with it.
    end: Option<String>,
    after: (String, i64),
    /// What the blocks have about these animals is not valid.
    pending: HashSet<i64>,
    /// The first animals that were found, as many as the page needs.
    first: BTreeSet<(String, i64)>,
}

impl Search<'_> {
    /// Takes an animal, unless it is behind the page. Returns whether one behind it may be on it.
    fn offer(&mut self, key: &str, id: i64) -> bool {
        let is_full = self.first.len() == self.wanted();
        if is_full
            && self
                .first
                .last()
                .is_some_and(|(last, last_id)| (last.as_str(), *last_id) < (key, id))
        {
            return false;
        }
        self.first.insert((key.to_owned(), id));
        if is_full {
            self.first.pop_last();
        }
        true
    }

    /// How many animals the page needs, with one more to see whether more follow.
    fn wanted(&self) -> usize {
        usize::from(self.query.limit.get()) + 1
    }

    /// Returns whether it could read all.
    fn read_unmerged(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let pets = if self.query.withdrawn { "withdrawn_pets" } else { "pets" };
        let columns = format!("SELECT {pets}.id, {pets}.name, {pets}.category_id, {pets}.status");
        let unmerged = format!(
            "{columns} FROM search_pending CROSS JOIN {pets} USING (id) UNION ALL
            {columns} FROM {pets} WHERE id > (SELECT last_merged_id FROM search_state)"
        );
        let mut statement = connection.prepare_cached(&unmerged)?;
        let mut rows = statement.query([])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (id, name) = (row.get(0)?, row.get_ref(1)?.as_str()?);
            bytes += name.len();
            if bytes > MOST_UNMERGED_BYTES {
                return Ok(false);
            }
            let other_category =
                self.query.category_id.is_some_and(|of| Ok(of) != row.get::<_, i64>(2));
            let of_status = status(row.get_ref(3)?)?;
            if other_category || self.query.status.is_some_and(|status| status != of_status) {
                continue;
            }
            let Some(key) = self.prefix.find(name) else {
                continue;
            };
            if (key.as_str(), id) > (self.after.0.as_str(), self.after.1) {
                self.offer(&key, id);
            }
        }
        Ok(true)
    }

    fn read_merged(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut blocks = connection.prepare_cached(BLOCKS)?;
        let mut rows = blocks.query([])?;
        while let Some(block) = rows.next()? {
            self.read_block(connection, block)?;
        }
        Ok(())
    }

    /// Takes the keys of a block, in order.
    fn read_block(&mut self, connection: &Connection, block: &Row<'_>) -> rusqlite::Result<()> {
        let kinds = Kind::all(block.get_ref(1)?.as_blob()?);
        let wanted: Vec<bool> = kinds.map(|kind| self.wants(kind)).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        let mut names = Names::of(connection, block.get(0)?);
        let behind = names.rank_behind((&self.after.0, self.after.1))?;
        let marks = search_block::marks(block.get_ref(2)?.as_blob()?).enumerate().skip(behind);
        for (rank, _) in marks.filter(|&(_, mark)| wanted.get(mark) == Some(&true)) {
            let (key, id) = names.get(rank)?;
            let is_behind = self.end.as_ref().is_some_and(|end| key >= end.as_str());
            if is_behind || (!self.pending.contains(&id) && !self.offer(key, id)) {
                break;
            }
        }
        Ok(())
    }

    fn wants(&self, kind: Kind) -> bool {
        let PetQuery { status, category_id, withdrawn, .. } = *self.query;
        let is_used = kind.shared == FIRST || usize::from(kind.shared) < self.prefix.length();
        is_used
            && category_id.is_none_or(|category| category == kind.category)
            && PetStatus::ALL.into_iter().any(|of| {
                status.is_none_or(|status| status == of) && kind.list == Kind::list(of, withdrawn)
            })
    }

    fn matches(&self, pet: &StorePet) -> bool {
        let PetQuery { status, category_id, withdrawn, .. } = self.query;
        pet.withdrawn.is_some() == *withdrawn
            && status.is_none_or(|status| status == pet.status)
            && category_id.is_none_or(|category| category == pet.category_id)
    }
}
