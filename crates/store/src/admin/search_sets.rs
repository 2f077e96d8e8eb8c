//! The sets of the search, and how animals get into them. `search.rs` describes them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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
    Parameter, Sql, SqlFuture, fields, values,
    word_blocks::{self, BLOCK_BITS},
};
use crate::columns::{Cell, Columns};

/// So many animals are merged in one transaction, in some ten milliseconds, or so many bytes of their
/// names and values.
const STEP: usize = 4_096;
const STEP_BYTES: usize = 2 << 20;

/// How many animals wait, counted up to $1, and the bytes of their names and values. No store reads
/// these for this.
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

/// One merge after the other.
const ONE_MERGES: &str = "UPDATE search_state SET merges = merges + 1";
/// The changes of 64 animals.
const TAKE: &str = "DELETE FROM value_changes WHERE pet_id IN (
        SELECT DISTINCT pet_id FROM value_changes ORDER BY pet_id LIMIT 64)
    RETURNING pet_id, status, withdrawn, category_id, fields, name";
/// The next 256 of those that are not in the sets yet.
const NEW: &str = "SELECT id FROM (
        SELECT * FROM (SELECT id FROM pets WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS present
        UNION SELECT * FROM (SELECT id FROM withdrawn_pets
            WHERE id > (SELECT merged FROM search_state)
            AND id <= (SELECT last FROM search_state) ORDER BY id LIMIT 256) AS withdrawn
    ) AS new ORDER BY id LIMIT 256";
const MERGED: &str = "UPDATE search_state SET merged = $1";
const PRESENT: &str = "SELECT id, status, FALSE, category_id, fields, name FROM pets
    WHERE id >= $1 AND id <= $2
    UNION ALL SELECT id, status, TRUE, category_id, fields, name FROM withdrawn_pets
    WHERE id >= $1 AND id <= $2";
const SET: &str = "SELECT pets FROM value_blocks WHERE value = $1 AND block = $2";
const PUT: &str = "INSERT INTO value_blocks (value, block, pets) VALUES ($1, $2, $3)
    ON CONFLICT (value, block) DO UPDATE SET pets = excluded.pets";
const REMOVE: &str = "DELETE FROM value_blocks WHERE value = $1 AND block = $2";

/// Whether more animals than `few` wait to be merged, or so many times 512 bytes of names and values.
pub fn is_due<'t, S: Sql>(connection: &'t mut S, few: &'t u64) -> SqlFuture<'t, S, bool> {
    async move {
        let few = i64::try_from(*few).unwrap_or(i64::MAX);
        let row = connection
            .row(UNMERGED, &[&few.saturating_add(1)])
            .await?
            .ok_or_else(S::no_row)?;
        Ok(row.value::<i64>(0)? > few || row.value::<i64>(1)? >> 9 > few)
    }
    .boxed()
}

/// Merges changed animals, and then those that are not in the sets yet. Returns whether there may be
/// more.
///
/// A change says what the sets had of an animal, unless an earlier change of it was merged together
/// with a later state. So the animal leaves the sets of all its changes, and joins those of its
/// present state, which cannot be older than the changes. A change without a name left the name as it
/// was.
pub fn merge<'t, S: Sql>(connection: &'t mut S, (): &'t ()) -> SqlFuture<'t, S, bool> {
    async move {
        connection.execute(ONE_MERGES, &[]).await?;
        let fields = fields::set(&connection.rows(fields::LIST, &[]).await?)?;
        let mut changes = Changes::default();
        let (mut taken, mut has_more) = (0, true);
        while has_more && taken < STEP && changes.bytes < STEP_BYTES {
            // By identifier, whether the name may have changed.
            let mut ids = BTreeMap::new();
            for row in connection.rows(TAKE, &[]).await? {
                let id = row.value(0)?;
                let is_new = row.text(1)?.is_none();
                let has_name = changes.add(&fields, id, (&row, 1), false, true)?;
                *ids.entry(id).or_default() |= is_new || has_name;
            }
            if ids.is_empty() {
                let new = connection.rows(NEW, &[]).await?;
                for row in &new {
                    ids.insert(row.value(0)?, true);
                }
                if let Some((last, _)) = ids.last_key_value() {
                    connection.execute(MERGED, &[last]).await?;
                }
            }
            (taken, has_more) = (taken + ids.len(), !ids.is_empty());
            // After an import, all of them are one range.
            let all: Vec<i64> = ids.keys().copied().collect();
            let ranges = all.chunk_by(|id, next| next - id == 1);
            let ranges = ranges.filter_map(|of| Some(values![*of.first()?, *of.last()?]));
            for row in connection
                .rows_each(PRESENT, ranges.collect())
                .await?
                .iter()
                .flatten()
            {
                let id = row.value(0)?;
                let has_name = ids.get(&id).copied().unwrap_or_default();
                changes.add(&fields, id, (row, 1), true, has_name)?;
            }
        }
        changes.write(connection).await?;
        Ok(has_more)
    }
    .boxed()
}

#[derive(Default)]
struct Changes {
    /// By set and block: the animals that leave it, and then those that join it.
    sets: BTreeMap<(i64, i64), Vec<(u32, bool)>>,
    words: word_blocks::Changes,
    /// Of the names and values that were read.
    bytes: usize,
}

impl Changes {
    /// Adds an animal in the columns of its status, whether it is withdrawn, its category, its values
    /// and its name. It is in no set if the first column is null. Returns whether it has a name.
    fn add<R: Columns>(
        &mut self,
        fields: &FieldSet,
        id: i64,
        (row, at): (&R, usize),
        is_in: bool,
        has_name: bool,
    ) -> Result<bool, R::Error> {
        let Some(status) = Option::<PetStatus>::read(row, at)? else {
            return Ok(false);
        };
        // A damaged value must not stop the others.
        let values = FieldValues::read(row, at + 3).unwrap_or_default();
        let (block, low) = (id >> BLOCK_BITS, low(id));
        let list = of_list(status, row.value(at + 1)?);
        for set in [list]
            .into_iter()
            .chain(sets_of(fields, row.value(at + 2)?, &values))
        {
            self.sets
                .entry((set, block))
                .or_default()
                .push((low.into(), is_in));
        }
        let name = row.text(at + 4)?;
        self.bytes += row.text(at + 3)?.map_or(0, str::len) + name.map_or(0, str::len);
        for word in words_of(fields, name.filter(|_| has_name), &values) {
            self.words
                .insert((block, word_blocks::entry(&word, low)), is_in);
        }
        Ok(name.is_some())
    }

    async fn write<S: Sql>(self, connection: &mut S) -> Result<(), S::Error> {
        let sets = self
            .sets
            .keys()
            .map(|&(set, block)| values![set, block])
            .collect();
        let before = connection.rows_each(SET, sets).await?;
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        for (((set, block), changes), row) in self.sets.into_iter().zip(before) {
            let before = row
                .first()
                .map_or_else(|| Ok(RoaringBitmap::new()), |row| pets(row, 0))?;
            let mut after = before.clone();
            for (low, is_in) in changes {
                if is_in {
                    after.insert(low)
                } else {
                    after.remove(low)
                };
            }
            if after.is_empty() {
                remove.push(values![set, block]);
            } else if after != before {
                put.push(values![set, block, encoded(&after)]);
            }
        }
        connection.execute_each(PUT, put).await?;
        connection.execute_each(REMOVE, remove).await?;
        word_blocks::write(connection, self.words).await
    }
}

/// The sets of an animal that is merged, and its words in `word_blocks`.
pub fn entries<'p>(
    fields: &'p FieldSet,
    pet: &'p StorePet,
) -> (
    impl Iterator<Item = i64> + 'p,
    impl Iterator<Item = Vec<u8>> + 'p,
) {
    let list = of_list(pet.status, pet.withdrawn.is_some());
    let sets = [list]
        .into_iter()
        .chain(sets_of(fields, pet.category_id, &pet.fields));
    (sets, words_of(fields, Some(pet.name.as_str()), &pet.fields))
}

/// The words of a name and of values, and their dates.
fn words_of<'p>(
    fields: &'p FieldSet,
    name: Option<&'p str>,
    values: &'p FieldValues,
) -> impl Iterator<Item = Vec<u8>> + 'p {
    let of_name = name
        .into_iter()
        .flat_map(name_keys)
        .map(|key| word_blocks::word(&key, ""));
    let of_value = |(name, value): (&'p str, &FieldValue)| match (fields.find(name), value) {
        (Some(field), FieldValue::Text(text)) if field.kind.has_words() => value_keys(text)
            .iter()
            .map(|key| word_blocks::word(key, name))
            .collect(),
        (Some(field), FieldValue::Text(text)) if field.kind == FieldKind::Date && is_date(text) => {
            vec![word_blocks::date(name, text)]
        }
        _ => Vec::new(),
    };
    of_name.chain(values.iter().flat_map(of_value))
}

/// The sets of a category and of values.
fn sets_of<'p>(
    fields: &'p FieldSet,
    category: i64,
    values: &'p FieldValues,
) -> impl Iterator<Item = i64> + 'p {
    let of_values = values.iter().filter_map(|(name, value)| {
        let key = fields
            .find(name)
            .and_then(|field| field.kind.key(field.is_unique, value));
        key.map(|key| of_value(name, &key))
    });
    iter::once(of_category(category)).chain(of_values)
}

/// The numbers of sets. No field has an empty name.
pub(super) fn of_value(field: &str, key: &str) -> i64 {
    let hash = Sha256::digest([field.as_bytes(), key.as_bytes()].join(&0));
    i64::from_le_bytes(std::array::from_fn(|at| hash[at]))
}

pub(super) fn of_category(id: i64) -> i64 {
    of_value("", &format!("category {id}"))
}

pub(super) fn of_list(status: PetStatus, withdrawn: bool) -> i64 {
    of_value("", &format!("{status} {withdrawn}"))
}

/// The place of an animal in its block.
pub(super) fn low(id: i64) -> u16 {
    u16::try_from(id & ((1 << BLOCK_BITS) - 1)).unwrap_or_default()
}

pub fn pets<R: Columns>(row: &R, at: usize) -> Result<RoaringBitmap, R::Error> {
    let set = row.optional_decoded(at, |bytes| RoaringBitmap::deserialize_from(bytes).ok())?;
    Ok(set.unwrap_or_default())
}

fn encoded(pets: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pets.serialized_size());
    // Nothing can fail in memory.
    let _ = pets.serialize_into(&mut bytes);
    bytes
}
