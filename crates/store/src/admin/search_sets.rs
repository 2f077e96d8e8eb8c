//! The sets of the search, and how animals get into them. `search.rs` describes them.

use std::{collections::BTreeMap, iter};

use futures_util::FutureExt;
use petstore_domain::{
    PetStatus,
    store_area::{
        FieldKind, FieldSet, FieldValue, FieldValues, StorePet, is_date, name_keys, value_keys,
    },
};
use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

use super::{
    Parameter, Sql, SqlFuture, Values, fields, search_rebuild, values,
    word_blocks::{self, EntryChanges, EntryKey, block_of, low_bits},
    word_rows,
};
use crate::columns::{Cell, Columns};

/// The number of animals that are merged in one transaction, in some ten milliseconds.
const MAX_STEP_PETS: usize = 4_096;
/// The number of bytes of names and values with which a transaction ends sooner.
const MAX_STEP_BYTES: usize = 2 << 20;

/// Counts the animals that wait, up to $1, and the bytes of their names and values. No store reads the names and values
/// for this.
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

/// Takes the changes of 64 animals.
const TAKE_CHANGES: &str = "DELETE FROM value_changes WHERE pet_id IN (
        SELECT DISTINCT pet_id FROM value_changes ORDER BY pet_id LIMIT 64)
    RETURNING pet_id, status, withdrawn, category_id, fields, name";
/// Selects the next 256 animals that are not in the sets yet.
const NEW_PETS: &str = "SELECT id FROM (
        SELECT * FROM (SELECT id FROM pets WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS present
        UNION SELECT * FROM (SELECT id FROM withdrawn_pets
            WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS withdrawn
    ) AS new ORDER BY id LIMIT 256";
const SET_LAST_MERGED: &str = "UPDATE search_state SET merged = $1";
const PRESENT_PETS: &str = "SELECT id, status, FALSE, category_id, fields, name FROM pets
    WHERE id >= $1 AND id <= $2
    UNION ALL SELECT id, status, TRUE, category_id, fields, name FROM withdrawn_pets
    WHERE id >= $1 AND id <= $2";
const SET_BLOCK: &str = "SELECT pets FROM value_blocks WHERE value = $1 AND block = $2";
const PUT: &str = "INSERT INTO value_blocks (value, block, pets) VALUES ($1, $2, $3)
    ON CONFLICT (value, block) DO UPDATE SET pets = excluded.pets";
const REMOVE: &str = "DELETE FROM value_blocks WHERE value = $1 AND block = $2";

/// Whether more than `few` animals wait to be merged, or more than `few` times 512 bytes of names and values.
pub fn is_due<'t, S: Sql>(connection: &'t mut S, few: &'t u64) -> SqlFuture<'t, S, bool> {
    async move {
        let few = i64::try_from(*few).unwrap_or(i64::MAX);
        let row = connection
            .only_row(UNMERGED, &[&few.saturating_add(1)])
            .await?;
        let pet_count: i64 = row.value(0)?;
        let byte_count: i64 = row.value(1)?;
        Ok(pet_count > few
            || byte_count >> 9 > few
            || (few == 0 && search_rebuild::has_other_merges(connection).await?))
    }
    .boxed()
}

/// The animals whose present state is to be merged, by identifier, and whether the name of each may have changed.
type PetsToMerge = BTreeMap<i64, bool>;

/// Merges changed animals, and then animals that are not in the sets yet. Returns whether there may be
/// more.
///
/// A change has the state that the sets had of an animal, unless an earlier change of it was merged together
/// with a later state. So the animal leaves the sets of all its changes, and joins the sets of its
/// present state, which cannot be older than the changes. A change without a name left the name as it
/// was.
///
/// `few` is as in [`is_due`]; once a minute, it is 0.
pub fn merge<'t, S: Sql>(connection: &'t mut S, few: &'t u64) -> SqlFuture<'t, S, bool> {
    async move {
        search_rebuild::begin_merge(connection, *few == 0).await?;
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

/// Takes the next changes of animals. The animals leave the sets of the state that each change has.
async fn take_changed_pets<S: Sql>(
    connection: &mut S,
    fields: &FieldSet,
    changes: &mut SetChanges,
) -> Result<PetsToMerge, S::Error> {
    let mut pets = PetsToMerge::new();
    for row in connection.rows(TAKE_CHANGES, &[]).await? {
        let id = row.value(0)?;
        let is_new = row.text(1)?.is_none();
        let has_name = row.text(NAME_COLUMN)?.is_some();
        changes.leave(fields, id, &row)?;
        *pets.entry(id).or_default() |= is_new || has_name;
    }
    Ok(pets)
}

/// Takes the next animals that are in no set yet.
async fn take_new_pets<S: Sql>(connection: &mut S) -> Result<PetsToMerge, S::Error> {
    let mut pets = PetsToMerge::new();
    for row in &connection.rows(NEW_PETS, &[]).await? {
        pets.insert(row.value(0)?, true);
    }
    if let Some((last, _)) = pets.last_key_value() {
        connection.execute(SET_LAST_MERGED, &[last]).await?;
    }
    Ok(pets)
}

/// Reads the present state of animals, whose sets they join.
async fn add_present_pets<S: Sql>(
    connection: &mut S,
    fields: &FieldSet,
    pets: &PetsToMerge,
    changes: &mut SetChanges,
) -> Result<(), S::Error> {
    // After an import, all of them are one range.
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
        let name_may_have_changed = pets.get(&id).copied().unwrap_or_default();
        changes.join(fields, id, row, name_may_have_changed)?;
    }
    Ok(())
}

/// The columns of an animal, after its identifier. The status is null if the animal is in no set.
const STATUS_COLUMN: usize = 1;
const WITHDRAWN_COLUMN: usize = 2;
const CATEGORY_COLUMN: usize = 3;
const FIELDS_COLUMN: usize = 4;
const NAME_COLUMN: usize = 5;

/// A block of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SetBlock {
    set: i64,
    block: i64,
}

/// A change of the animal at a place in a block of a set.
struct PlaceChange {
    low: u32,
    /// Whether the animal is in the set from now on.
    is_in: bool,
}

/// The changes of sets and words that a merge makes.
#[derive(Default)]
struct SetChanges {
    /// The changes of each block: first the animals that leave it, and then the animals that join it.
    sets: BTreeMap<SetBlock, Vec<PlaceChange>>,
    words: EntryChanges,
    /// The length of the names and values that were read.
    bytes: usize,
}

impl SetChanges {
    /// Lets an animal leave the sets of the state in a row.
    fn leave<R: Columns>(&mut self, fields: &FieldSet, id: i64, row: &R) -> Result<(), R::Error> {
        self.add(fields, id, row, row.text(NAME_COLUMN)?, false)
    }

    /// Lets an animal join the sets of the state in a row. The words of its name do not change unless
    /// `name_may_have_changed`.
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
        self.add(fields, id, row, name, true)
    }

    /// Adds the sets of the state in a row, and the words of its values and of `name`.
    fn add<R: Columns>(
        &mut self,
        fields: &FieldSet,
        id: i64,
        row: &R,
        name: Option<&str>,
        is_in: bool,
    ) -> Result<(), R::Error> {
        let Some(status) = Option::<PetStatus>::read(row, STATUS_COLUMN)? else {
            return Ok(());
        };
        // A damaged value must not stop the others.
        let values = FieldValues::read(row, FIELDS_COLUMN).unwrap_or_default();
        let block = block_of(id);
        let low = low_bits(id);

        let status_set = set_of_status(status, row.value(WITHDRAWN_COLUMN)?);
        let value_sets = sets_of_values(fields, row.value(CATEGORY_COLUMN)?, &values);
        for set in iter::once(status_set).chain(value_sets) {
            let changes = self.sets.entry(SetBlock { set, block }).or_default();
            changes.push(PlaceChange {
                low: low.into(),
                is_in,
            });
        }

        let name_length = row.text(NAME_COLUMN)?.map_or(0, str::len);
        let fields_length = row.text(FIELDS_COLUMN)?.map_or(0, str::len);
        self.bytes += name_length + fields_length;
        for word in words_of(fields, name, &values) {
            let entry = word_rows::entry(&word, low);
            self.words.insert(EntryKey { block, entry }, is_in);
        }
        Ok(())
    }

    /// Writes the blocks of sets that change, and the words.
    async fn write<S: Sql>(self, connection: &mut S) -> Result<(), S::Error> {
        let selections = self
            .sets
            .keys()
            .map(|key| values![key.set, key.block])
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
            for PlaceChange { low, is_in } in changes {
                if is_in {
                    after.insert(low)
                } else {
                    after.remove(low)
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

/// Returns the sets of an animal that is merged.
pub(crate) fn sets_of_pet<'p>(
    fields: &'p FieldSet,
    pet: &'p StorePet,
) -> impl Iterator<Item = i64> + 'p {
    let status_set = set_of_status(pet.status, pet.withdrawal.is_some());
    let value_sets = sets_of_values(fields, pet.category_id, &pet.fields);
    iter::once(status_set).chain(value_sets)
}

/// Returns the words of an animal that is merged, in `word_blocks`.
pub(crate) fn words_of_pet<'p>(
    fields: &'p FieldSet,
    pet: &'p StorePet,
) -> impl Iterator<Item = Vec<u8>> + 'p {
    words_of(fields, Some(pet.name.as_str()), &pet.fields)
}

/// Returns the words of a name and of values, and the dates among the values.
fn words_of<'p>(
    fields: &'p FieldSet,
    name: Option<&'p str>,
    values: &'p FieldValues,
) -> impl Iterator<Item = Vec<u8>> + 'p {
    let name_words = name
        .into_iter()
        .flat_map(name_keys)
        .map(|key| word_blocks::word(&key, ""));
    let value_words = values
        .iter()
        .flat_map(|(name, value)| words_of_value(fields, name, value));
    name_words.chain(value_words)
}

/// Returns the words of a value, or its date. A value of another kind has none.
fn words_of_value(fields: &FieldSet, name: &str, value: &FieldValue) -> Vec<Vec<u8>> {
    let (Some(field), FieldValue::Text(text)) = (fields.find(name), value) else {
        return Vec::new();
    };
    if field.kind.has_words() {
        let keys = value_keys(text);
        return keys
            .iter()
            .map(|key| word_blocks::word(key, name))
            .collect();
    }
    if field.kind == FieldKind::Date && is_date(text) {
        return vec![word_blocks::date_word(name, text)];
    }
    Vec::new()
}

/// Returns the sets of a category and of values.
fn sets_of_values<'p>(
    fields: &'p FieldSet,
    category: i64,
    values: &'p FieldValues,
) -> impl Iterator<Item = i64> + 'p {
    let value_sets = values.iter().flat_map(|(name, value)| {
        let keys = fields.find(name).map_or_else(Vec::new, |field| {
            field.kind.search_keys(field.is_unique, value)
        });
        keys.into_iter().map(|key| set_of_value(name, &key))
    });
    iter::once(set_of_category(category)).chain(value_sets)
}

/// Returns the number of the set of a value. No field has an empty name, so other sets have one.
pub(super) fn set_of_value(field: &str, key: &str) -> i64 {
    let hash = Sha256::digest([field.as_bytes(), key.as_bytes()].join(&0));
    i64::from_le_bytes(std::array::from_fn(|index| hash[index]))
}

pub(super) fn set_of_category(id: i64) -> i64 {
    set_of_value("", &format!("category {id}"))
}

/// Returns the number of the set of a status, for animals in the catalogue or withdrawn ones.
pub(super) fn set_of_status(status: PetStatus, is_withdrawn: bool) -> i64 {
    set_of_value("", &format!("{status} {is_withdrawn}"))
}

/// Reads the places of animals in a column. There are none if the column has no value.
pub(crate) fn read_pets<R: Columns>(row: &R, column: usize) -> Result<RoaringBitmap, R::Error> {
    let pets = row.optional_decoded(column, |bytes| RoaringBitmap::deserialize_from(bytes).ok())?;
    Ok(pets.unwrap_or_default())
}

fn encode_pets(pets: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pets.serialized_size());
    // Nothing can fail in memory.
    let _ = pets.serialize_into(&mut bytes);
    bytes
}
