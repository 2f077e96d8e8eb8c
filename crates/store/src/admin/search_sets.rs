//! Merges animals into the sets and the words of the search. See `search.rs` for their meaning.

use std::{collections::BTreeMap, iter};

use futures_util::FutureExt;
use petstore_domain::{
    PetStatus,
    store_area::{FieldSet, FieldValues},
};
use roaring::RoaringBitmap;

use super::{
    Parameter, Sql, SqlFuture, Values, fields,
    pet_sets::{set_of_status, sets_of_category_and_values, words_of_name_and_values},
    search_rebuild, values,
    word_blocks::{self, Edit, EntryChanges, EntryKey, block_of, offset_in_block},
    word_rows,
};
use crate::columns::{Cell, Columns};

/// The number of animals after which a merge ends its transaction: some ten milliseconds of work.
const MAX_STEP_PETS: usize = 4_096;
/// The number of bytes of names and values after which a merge ends its transaction early.
const MAX_STEP_BYTES: usize = 2 << 20;
/// The number of bytes of names and values that slow down searches as much as one more unmerged
/// animal.
const BYTES_LIKE_ONE_PET: i64 = 512;

/// Counts the unmerged animals, up to $1, and the bytes of their names and values. Both databases
/// know the length of a text without reading it.
const UNMERGED: &str = "SELECT count(*), coalesce(sum(bytes), 0) FROM (SELECT * FROM (
        SELECT coalesce(octet_length(name), 0) + coalesce(octet_length(fields), 0)
            + coalesce((SELECT octet_length(pets.name) + coalesce(octet_length(pets.fields), 0)
                FROM pets WHERE id = pet_id), 0) AS bytes
        FROM value_changes
        UNION ALL SELECT octet_length(name) + coalesce(octet_length(fields), 0) FROM pets
        WHERE id > (SELECT merged FROM search_state) AND id <= (SELECT last FROM search_state)
        UNION ALL SELECT octet_length(name) + coalesce(octet_length(fields), 0) FROM withdrawn_pets
        WHERE id > (SELECT merged FROM search_state) AND id <= (SELECT last FROM search_state)
    ) AS unmerged LIMIT $1) AS counted";

/// Deletes and returns the changes of 64 animals.
const TAKE_CHANGES: &str = "DELETE FROM value_changes WHERE pet_id IN (
        SELECT DISTINCT pet_id FROM value_changes ORDER BY pet_id LIMIT 64)
    RETURNING pet_id, status, withdrawn, category_id, fields, name";
/// Selects the next 256 new animals, which are in no set yet.
const NEW_PETS: &str = "SELECT id FROM (
        SELECT * FROM (SELECT id FROM pets WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS present
        UNION SELECT * FROM (SELECT id FROM withdrawn_pets
            WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS withdrawn
    ) AS new ORDER BY id LIMIT 256";
const SET_LAST_MERGED: &str = "UPDATE search_state SET merged = $1";
/// Selects the present state of the animals from $1 to $2.
const PRESENT_PETS: &str = "SELECT id, status, FALSE, category_id, fields, name FROM pets
    WHERE id >= $1 AND id <= $2
    UNION ALL SELECT id, status, TRUE, category_id, fields, name FROM withdrawn_pets
    WHERE id >= $1 AND id <= $2";
const SET_BLOCK: &str = "SELECT pets FROM value_blocks WHERE value = $1 AND block = $2";
const PUT: &str = "INSERT INTO value_blocks (value, block, pets) VALUES ($1, $2, $3)
    ON CONFLICT (value, block) DO UPDATE SET pets = excluded.pets";
const REMOVE: &str = "DELETE FROM value_blocks WHERE value = $1 AND block = $2";

// The columns of `TAKE_CHANGES` and `PRESENT_PETS` that follow the identifier of the animal.

/// The status is null if the animal was in no set before the change.
const STATUS_COLUMN: usize = 1;
const WITHDRAWN_COLUMN: usize = 2;
const CATEGORY_COLUMN: usize = 3;
const FIELDS_COLUMN: usize = 4;
const NAME_COLUMN: usize = 5;

/// The animals whose present state must be merged, by their identifiers. Each value says whether
/// the name may differ from the name in the index.
type PetsToMerge = BTreeMap<i64, bool>;

/// Whether a merge is worthwhile.
///
/// A merge is worthwhile if the animals that wait for it are more than `threshold`, or if their
/// names and values have more than `threshold` times 512 bytes. If `threshold` is 0, a merge is
/// also worthwhile if another release has merged animals, because this release may have to merge
/// them again.
///
/// `threshold` is a reference, because [`Work`](super::Work) borrows its input.
pub fn needs_merge<'t, S: Sql>(
    connection: &'t mut S,
    threshold: &'t u64,
) -> SqlFuture<'t, S, bool> {
    async move {
        let threshold = i64::try_from(*threshold).unwrap_or(i64::MAX);
        // One more than the threshold is enough to exceed it, so the count stops there.
        let row = connection
            .only_row(UNMERGED, &[&threshold.saturating_add(1)])
            .await?;
        let pet_count: i64 = row.value(0)?;
        let byte_count: i64 = row.value(1)?;
        Ok(pet_count > threshold
            || byte_count / BYTES_LIKE_ONE_PET > threshold
            || (threshold == 0 && search_rebuild::has_other_merges(connection).await?))
    }
    .boxed()
}

/// Merges a batch of animals into the sets: first changed ones, then new ones. Returns whether
/// there may be more.
///
/// A recorded change has the state of the animal before the change. Normally, the sets still have
/// that state. They have a later one if the merge of an earlier change has already read a later
/// state. So an animal leaves the sets of all of its recorded changes, and then joins the sets of
/// its present state, which cannot be older than the changes. A recorded change has no name if the
/// name did not change.
///
/// `threshold` is as in [`needs_merge`]. It is 0 once a minute.
pub fn merge<'t, S: Sql>(connection: &'t mut S, threshold: &'t u64) -> SqlFuture<'t, S, bool> {
    async move {
        search_rebuild::count_merge(connection).await?;
        if *threshold == 0 {
            search_rebuild::restart_after_other_merges(connection).await?;
        }
        let fields = fields::read_fields(connection).await?;
        let mut changes = SetChanges::default();
        let mut pet_count = 0;
        let mut has_more = true;
        while has_more && pet_count < MAX_STEP_PETS && changes.bytes < MAX_STEP_BYTES {
            let mut pets = take_changed_pets(connection, &fields, &mut changes).await?;
            if pets.is_empty() {
                pets = take_new_pets(connection).await?;
            }
            add_present_pets(connection, &fields, &pets, &mut changes).await?;
            pet_count += pets.len();
            has_more = !pets.is_empty();
        }
        changes.write(connection).await?;
        Ok(has_more)
    }
    .boxed()
}

/// Takes the next recorded changes. Each animal leaves the sets of the state in its changes.
async fn take_changed_pets<S: Sql>(
    connection: &mut S,
    fields: &FieldSet,
    changes: &mut SetChanges,
) -> Result<PetsToMerge, S::Error> {
    let mut pets = PetsToMerge::new();
    for row in connection.rows(TAKE_CHANGES, &[]).await? {
        let id = row.value(0)?;
        let is_new = row.text(STATUS_COLUMN)?.is_none();
        let has_name = row.text(NAME_COLUMN)?.is_some();
        changes.leave(fields, id, &row)?;
        // An animal can have several changes. One of them with a name is enough.
        let name_may_have_changed = pets.entry(id).or_default();
        *name_may_have_changed |= is_new || has_name;
    }
    Ok(pets)
}

/// Takes the next new animals, which are in no set yet.
async fn take_new_pets<S: Sql>(connection: &mut S) -> Result<PetsToMerge, S::Error> {
    let mut pets = PetsToMerge::new();
    for row in &connection.rows(NEW_PETS, &[]).await? {
        // The index does not have the name yet.
        let name_may_have_changed = true;
        pets.insert(row.value(0)?, name_may_have_changed);
    }
    if let Some((last, _)) = pets.last_key_value() {
        connection.execute(SET_LAST_MERGED, &[last]).await?;
    }
    Ok(pets)
}

/// Reads the present state of animals. Each animal joins the sets of its present state.
async fn add_present_pets<S: Sql>(
    connection: &mut S,
    fields: &FieldSet,
    pets: &PetsToMerge,
    changes: &mut SetChanges,
) -> Result<(), S::Error> {
    // After an import, all identifiers form a single range.
    let ids: Vec<i64> = pets.keys().copied().collect();
    let mut ranges: Vec<Values<'_>> = Vec::new();
    for range in ids.chunk_by(|id, next| next - id == 1) {
        if let (Some(&first), Some(&last)) = (range.first(), range.last()) {
            ranges.push(values![first, last]);
        }
    }
    let results = connection.rows_each(PRESENT_PETS, ranges).await?;
    for row in results.iter().flatten() {
        let id = row.value(0)?;
        // The statement selects only animals in `pets`.
        let name_may_have_changed = pets.get(&id).copied().unwrap_or_default();
        changes.join(fields, id, row, name_may_have_changed)?;
    }
    Ok(())
}

/// One block of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SetBlock {
    set: i64,
    block: i64,
}

/// The change of one animal in a block of a set.
struct OffsetChange {
    offset: u32,
    edit: Edit,
}

/// The pending changes of a merge to sets and words.
#[derive(Default)]
struct SetChanges {
    /// The changes of each block, in the order in which they apply: an animal leaves the sets of
    /// its former state before it joins the sets of its present state.
    sets: BTreeMap<SetBlock, Vec<OffsetChange>>,
    words: EntryChanges,
    /// The total length of the names and values that were read.
    bytes: usize,
}

impl SetChanges {
    /// Removes an animal from the sets of the state in a row.
    fn leave<R: Columns>(&mut self, fields: &FieldSet, id: i64, row: &R) -> Result<(), R::Error> {
        self.record_edit(fields, id, row, row.text(NAME_COLUMN)?, Edit::Remove)
    }

    /// Adds an animal to the sets of the state in a row. The words of its name stay as they are
    /// unless `name_may_have_changed`.
    fn join<R: Columns>(
        &mut self,
        fields: &FieldSet,
        id: i64,
        row: &R,
        name_may_have_changed: bool,
    ) -> Result<(), R::Error> {
        let name = if name_may_have_changed {
            row.text(NAME_COLUMN)?
        } else {
            None
        };
        self.record_edit(fields, id, row, name, Edit::Insert)
    }

    /// Records that an animal is inserted into the sets of the state in a row, or removed from
    /// them. Also records this for the words of its values and of `name`.
    fn record_edit<R: Columns>(
        &mut self,
        fields: &FieldSet,
        id: i64,
        row: &R,
        name: Option<&str>,
        edit: Edit,
    ) -> Result<(), R::Error> {
        let Some(status) = Option::<PetStatus>::read(row, STATUS_COLUMN)? else {
            // The animal was in no set.
            return Ok(());
        };
        // A damaged value must not stop the merge of other animals.
        let values = FieldValues::read(row, FIELDS_COLUMN).unwrap_or_default();
        let block = block_of(id);
        let offset = offset_in_block(id);

        let status_set = set_of_status(status, row.value(WITHDRAWN_COLUMN)?);
        let category = row.value(CATEGORY_COLUMN)?;
        let other_sets = sets_of_category_and_values(fields, category, &values);
        for set in iter::once(status_set).chain(other_sets) {
            let changes = self.sets.entry(SetBlock { set, block }).or_default();
            changes.push(OffsetChange {
                offset: offset.into(),
                edit,
            });
        }

        let name_length = row.text(NAME_COLUMN)?.map_or(0, str::len);
        let fields_length = row.text(FIELDS_COLUMN)?.map_or(0, str::len);
        self.bytes += name_length + fields_length;
        for word in words_of_name_and_values(fields, name, &values) {
            let entry = word_rows::encode_entry(&word, offset);
            self.words.insert(EntryKey { block, entry }, edit);
        }
        Ok(())
    }

    /// Writes the changed blocks of sets, and the changed words.
    async fn write<S: Sql>(self, connection: &mut S) -> Result<(), S::Error> {
        let selections = self
            .sets
            .keys()
            .map(|&SetBlock { set, block }| values![set, block])
            .collect();
        let results = connection.rows_each(SET_BLOCK, selections).await?;

        let mut puts: Vec<Values<'_>> = Vec::new();
        let mut removals: Vec<Values<'_>> = Vec::new();
        for ((SetBlock { set, block }, changes), rows) in self.sets.into_iter().zip(results) {
            let before = match rows.first() {
                Some(row) => read_pets(row, 0)?,
                None => RoaringBitmap::new(),
            };
            let mut after = before.clone();
            for OffsetChange { offset, edit } in changes {
                match edit {
                    Edit::Insert => after.insert(offset),
                    Edit::Remove => after.remove(offset),
                };
            }
            if after.is_empty() {
                removals.push(values![set, block]);
            } else if after != before {
                puts.push(values![set, block, encode_pets(&after)]);
            }
        }
        connection.execute_each(PUT, puts).await?;
        connection.execute_each(REMOVE, removals).await?;
        word_blocks::write_changes(connection, self.words).await
    }
}

/// Reads a column with the offsets of the animals in a block. A null stands for no animals.
pub(crate) fn read_pets<R: Columns>(row: &R, column: usize) -> Result<RoaringBitmap, R::Error> {
    let pets = row.optional_decoded(column, |bytes| RoaringBitmap::deserialize_from(bytes).ok())?;
    Ok(pets.unwrap_or_default())
}

/// Encodes the offsets of the animals in a block, as [`read_pets`] reads them.
fn encode_pets(pets: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pets.serialized_size());
    // Writing to memory cannot fail.
    let _ = pets.serialize_into(&mut bytes);
    bytes
}
