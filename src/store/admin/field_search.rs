//! The search by the values of fields. Each value has a set of the animals that have it, in blocks
//! of successive identifiers (`value_blocks`), and a search intersects the sets of what it looks for.
//!
//! The sets run behind. Triggers note each change of an animal that has values or had some
//! (`value_changes`), with what the sets have of it. A task merges these changes, and a search reads
//! the changed animals one by one instead, so its result is exact at every moment.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    iter,
};

use futures_util::FutureExt;
use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

use super::{Doing, Parameter, Sql, fields, values};
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{FieldSet, FieldValues, PetPosition, PetQuery, StorePet},
    },
    store::{
        columns::{Cell, Columns},
        tables::{Table, pet_with_order},
    },
};

/// While more changes than this wait to be merged, or so many times 512 bytes of values, there is no search: it
/// would take more than 10 ms.
const MOST_CHANGED: u64 = 8_192;
/// So many changes are merged in one transaction, in some milliseconds, or so many bytes of values.
/// This many changes are read at once.
const STEP: usize = 1_024;
const STEP_BYTES: usize = 2 << 20;
const PART: usize = 64;

/// An identifier without these bits is the number of its block.
const BLOCK_BITS: u32 = 16;

/// How many blocks a search reads at once: few for the first page of what many animals have, and then
/// a million animals.
const BLOCKS: [i64; 2] = [2, 16];

/// How many sets a search looks into: those of three values, the category, and three statuses.
const SETS: usize = 7;

/// How many changes wait, counted up to $1, and the bytes of their values. No store reads the values for
/// this.
const UNMERGED: &str = "SELECT count(*), coalesce(sum(bytes), 0) FROM (
        SELECT coalesce(octet_length(fields), 0)
            + coalesce((SELECT octet_length(fields) FROM pets WHERE id = pet_id), 0) AS bytes
        FROM value_changes LIMIT $1
    ) AS changes";

/// At most $4 changed animals, in this table or not. `values` makes an object of the values of the fields
/// $1, $2 and $3, so that no others are read.
pub(in crate::store) fn changed(table: Table, values: &str) -> String {
    format!(
        "SELECT pet_id, status, category_id, {values} FROM (
            SELECT DISTINCT pet_id FROM value_changes LIMIT $4
        ) AS changed LEFT JOIN {table} ON id = pet_id"
    )
}
const NEXT_BLOCK: [&str; 2] = [
    "SELECT min(block) FROM value_blocks WHERE value = $1 AND block >= $2",
    "SELECT max(block) FROM value_blocks WHERE value = $1 AND block <= $2",
];
const SETS_OF: &str = "SELECT block, value, pets FROM value_blocks
    WHERE value IN ($1, $2, $3, $4, $5, $6, $7) AND block >= $8 AND block < $9 ORDER BY block";
/// One merge after the other.
const ONE_MERGES: &str = "UPDATE value_merges SET number = number + 1";
const TAKE: &str = "DELETE FROM value_changes
    WHERE number IN (SELECT number FROM value_changes ORDER BY number LIMIT $1)
    RETURNING pet_id, status, withdrawn, category_id, fields";
const PRESENT: &str = "SELECT status, FALSE, category_id, fields FROM pets WHERE id = $1
    UNION ALL SELECT status, TRUE, category_id, fields FROM withdrawn_pets WHERE id = $1";
const SET: &str = "SELECT pets FROM value_blocks WHERE value = $1 AND block = $2";
const PUT: &str = "INSERT INTO value_blocks (value, block, pets) VALUES ($1, $2, $3)
    ON CONFLICT (value, block) DO UPDATE SET pets = excluded.pets";
const REMOVE: &str = "DELETE FROM value_blocks WHERE value = $1 AND block = $2";

/// A page of animals, and the position after it if more follow.
pub(in crate::store) type Page = (Vec<StorePet>, Option<PetPosition>);

/// The animals of a page with values, in the order of their identifiers. `None` if too many are not
/// merged. `pets_of` selects animals with [`PAGE`] identifiers, each with its open order; `changed`: see [`changed`].
pub(in crate::store) fn find<'t, S: Sql>(
    on: &'t mut S,
    query: &'t PetQuery,
    [pets_of, changed]: &'static [String; 2],
) -> Doing<'t, S, Option<Page>> {
    async move {
        let (order, wanted) = (Order::of(query), usize::from(query.limit.get()) + 1);
        let Some(mut found) = first(on, query, changed, wanted).await? else { return Ok(None) };
        let has_more = found.len() == wanted;
        found.truncate(wanted - 1);
        let next = found.last().filter(|_| has_more).map(|&id| PetPosition { key: None, id });
        let mut pets: Vec<StorePet> = Vec::with_capacity(found.len());
        if let Some(last) = found.last() {
            let ids: Vec<i64> = (0..PAGE).map(|at| found.get(at).unwrap_or(last).get()).collect();
            let ids: Vec<&dyn Parameter> = ids.iter().map(|id| id as _).collect();
            for row in on.rows(pets_of, &ids).await? {
                let pet = pet_with_order(&row)?;
                // Another one changed it since.
                if query.has(pet.status, pet.category_id, &pet.fields) {
                    pets.push(pet);
                }
            }
            pets.sort_unstable_by_key(|pet| order.key(pet.id.get()));
        }
        Ok(Some((pets, next)))
    }
    .boxed()
}

/// How many animals of any page the query finds, up to so many. `None` as for [`find`].
pub(in crate::store) fn count<'t, S: Sql>(
    on: &'t mut S,
    (query, most): &'t (PetQuery, usize),
    [_, changed]: &'static [String; 2],
) -> Doing<'t, S, Option<usize>> {
    async move { Ok(first(on, query, changed, *most).await?.map(|found| found.len())) }.boxed()
}

/// The first animals that a query finds, in its order.
async fn first<S: Sql>(
    on: &mut S,
    query: &PetQuery,
    changed: &'static str,
    wanted: usize,
) -> Result<Option<Vec<PetId>>, S::Error> {
    // Before the sets, so that what is merged meanwhile is not missed.
    if is_due(on, &MOST_CHANGED).await? {
        return Ok(None);
    }
    let Some(first) = query.values.first() else { return Ok(None) };
    let name = |at| query.values.get(at).unwrap_or(first).field.as_str();
    let most = i64::try_from(MOST_CHANGED).unwrap_or(i64::MAX).saturating_add(1);
    let changed = on.rows(changed, &[&name(0), &name(1), &name(2), &most]).await?;
    if changed.len() as u64 > MOST_CHANGED {
        return Ok(None);
    }
    let order = Order::of(query);
    let (mut read, mut found) = (HashSet::new(), Vec::new());
    for row in &changed {
        let id: i64 = row.value(0)?;
        read.insert(id);
        let Some(status) = Option::<PetStatus>::read(row, 1)? else { continue };
        if order.has(id) && query.has(status, row.value(2)?, &FieldValues::read(row, 3)?) {
            found.push(id);
        }
    }
    found.extend(in_sets(on, query, order, wanted, &read).await?);
    found.sort_unstable_by_key(|&id| order.key(id));
    Ok(Some(found.into_iter().take(wanted).filter_map(PetId::new).collect()))
}

/// The order of a page, and the identifier behind which it begins.
#[derive(Clone, Copy)]
struct Order {
    is_descending: bool,
    after: i64,
}

impl Order {
    fn of(query: &PetQuery) -> Self {
        let is_descending = query.on_offer && !query.oldest_first;
        let after = query.after.as_ref();
        let first = if is_descending { i64::MAX } else { 0 };
        Self { is_descending, after: after.map_or(first, |after| after.id.get()) }
    }

    /// By which identifiers and blocks are sorted.
    fn key(self, number: i64) -> i64 {
        if self.is_descending { -number } else { number }
    }

    /// Whether an animal is on this page or behind it.
    fn has(self, id: i64) -> bool {
        self.key(id) > self.key(self.after)
    }
}

/// How many animals a page can have.
pub(in crate::store) const PAGE: usize = 100;

/// The first animals of an order that are in all sets, without those that were read.
async fn in_sets<S: Sql>(
    on: &mut S,
    query: &PetQuery,
    order: Order,
    wanted: usize,
    read: &HashSet<i64>,
) -> Result<Vec<i64>, S::Error> {
    let statuses = PetStatus::ALL.into_iter();
    let lists: Vec<i64> = statuses
        .filter(|&status| query.status.is_none_or(|wanted| wanted == status))
        .filter(|&status| !(query.on_offer && status == PetStatus::Sold))
        .map(|status| of_list(status, query.withdrawn))
        .collect();
    let mut all: Vec<i64> =
        query.values.iter().map(|value| of_value(value.field.as_str(), &value.key)).collect();
    all.extend(query.category_id.map(of_category));
    let Some(&first) = all.first() else { return Ok(Vec::new()) };
    let sets: Vec<i64> = all.iter().chain(&lists).copied().collect();
    let (mut found, mut from) = (Vec::new(), order.after >> BLOCK_BITS);
    for blocks in BLOCKS.into_iter().chain(iter::repeat(BLOCKS[1])) {
        let sql = NEXT_BLOCK[usize::from(order.is_descending)];
        let next = on.rows(sql, &[&first, &from]).await?;
        let Some(next) = next.first().map(|row| row.value::<Option<i64>>(0)).transpose()?.flatten()
        else {
            break;
        };
        let (lowest, until) = if order.is_descending {
            (next.saturating_sub(blocks - 1), next.saturating_add(1))
        } else {
            (next, next.saturating_add(blocks))
        };
        let set = |at: usize| sets.get(at).copied().unwrap_or(first);
        let numbers: [i64; SETS] = std::array::from_fn(set);
        let mut parameters: Vec<&dyn Parameter> =
            numbers.iter().map(|number| number as &dyn Parameter).collect();
        parameters.extend([&lowest as &dyn Parameter, &until]);
        let mut by_block: BTreeMap<i64, BTreeMap<i64, RoaringBitmap>> = BTreeMap::new();
        for row in on.rows(SETS_OF, &parameters).await? {
            let pets = row.optional_decoded(2, decoded)?.unwrap_or_default();
            let block = order.key(row.value(0)?);
            by_block.entry(block).or_default().insert(row.value(1)?, pets);
        }
        for (block, sets) in by_block {
            let block = order.key(block);
            let mut pets = lists
                .iter()
                .filter_map(|list| sets.get(list))
                .fold(RoaringBitmap::new(), |pets, of_list| pets | of_list);
            for value in &all {
                pets = sets.get(value).map(|of_value| &pets & of_value).unwrap_or_default();
            }
            let id = |low| (block << BLOCK_BITS) | i64::from(low);
            let is_next = |id: &i64| order.has(*id) && !read.contains(id);
            let missing = wanted - found.len();
            if order.is_descending {
                found.extend(pets.into_iter().rev().map(id).filter(is_next).take(missing));
            } else {
                found.extend(pets.into_iter().map(id).filter(is_next).take(missing));
            }
            if found.len() == wanted {
                return Ok(found);
            }
        }
        from = if order.is_descending { lowest - 1 } else { until };
    }
    Ok(found)
}

/// Whether more changes than `few` wait to be merged, or so many times 512 bytes of values.
pub(in crate::store) fn is_due<'t, S: Sql>(on: &'t mut S, few: &'t u64) -> Doing<'t, S, bool> {
    async move {
        let few = i64::try_from(*few).unwrap_or(i64::MAX);
        let row = on.row(UNMERGED, &[&few.saturating_add(1)]).await?.ok_or_else(S::no_row)?;
        Ok(row.value::<i64>(0)? > few || row.value::<i64>(1)? >> 9 > few)
    }
    .boxed()
}

/// Merges the oldest changes. Returns whether there may be more.
///
/// A change says what the sets had of an animal, unless an earlier change of it was merged together
/// with a later state. So the animal leaves the sets of all its changes, and joins those of its
/// present state, which cannot be older than the changes.
pub(in crate::store) fn merge<'t, S: Sql>(on: &'t mut S, (): &'t ()) -> Doing<'t, S, bool> {
    async move {
        on.execute(ONE_MERGES, &[]).await?;
        let fields = fields::set(&on.rows(fields::LIST, &[]).await?)?;
        let mut sets: Sets = BTreeMap::new();
        let (mut taken, mut bytes, mut has_more) = (0, 0, true);
        while has_more && taken < STEP && bytes < STEP_BYTES {
            let part = on.rows(TAKE, &[&i64::try_from(PART).unwrap_or(i64::MAX)]).await?;
            (taken, has_more) = (taken + part.len(), part.len() == PART);
            let mut ids = BTreeSet::new();
            let mut put = |id: i64, row: &S::Row, at: usize, is_in: bool| {
                bytes += row.text(at + 3)?.map_or(0, str::len);
                for set in sets_of(&fields, row, at)? {
                    sets.entry((set, id >> BLOCK_BITS)).or_default().push((low(id), is_in));
                }
                Ok(())
            };
            for row in &part {
                let id = row.value(0)?;
                ids.insert(id);
                put(id, row, 1, false)?;
            }
            let present = ids.iter().map(|id| values![*id]).collect();
            for (&id, rows) in ids.iter().zip(on.rows_each(PRESENT, present).await?) {
                rows.iter().try_for_each(|row| put(id, row, 0, true))?;
            }
        }
        let of_sets = sets.keys().map(|&(set, block)| values![set, block]).collect();
        let before = on.rows_each(SET, of_sets).await?;
        let (mut put, mut remove) = (Vec::new(), Vec::new());
        for (((set, block), changes), row) in sets.into_iter().zip(before) {
            let before = row.first().map(|row| row.optional_decoded(0, decoded)).transpose()?;
            let mut pets = before.flatten().unwrap_or_default();
            for (low, is_in) in changes {
                if is_in {
                    pets.insert(low)
                } else {
                    pets.remove(low)
                };
            }
            if pets.is_empty() {
                remove.push(values![set, block]);
            } else {
                put.push(values![set, block, encoded(&pets)]);
            }
        }
        on.execute_each(PUT, put).await?;
        on.execute_each(REMOVE, remove).await?;
        Ok(has_more)
    }
    .boxed()
}

/// By set and block: the animals that leave it, and then those that join it.
type Sets = BTreeMap<(i64, i64), Vec<(u32, bool)>>;

/// The sets that an animal is in, in the columns of its status, whether it is withdrawn, its category
/// and its values. It is in none without values, or if the first column is null.
fn sets_of<R: Columns>(fields: &FieldSet, row: &R, at: usize) -> Result<Vec<i64>, R::Error> {
    // A damaged value must not stop the others.
    let values = FieldValues::read(row, at + 3).unwrap_or_default();
    let Some(status) = Option::<PetStatus>::read(row, at)? else { return Ok(Vec::new()) };
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let mut sets = vec![of_list(status, row.value(at + 1)?), of_category(row.value(at + 2)?)];
    for (name, value) in values.iter() {
        let key = fields.find(name).and_then(|field| field.kind.key(field.is_unique, value));
        sets.extend(key.map(|key| of_value(name, &key)));
    }
    Ok(sets)
}

/// The numbers of sets. No field has an empty name.
fn of_value(field: &str, key: &str) -> i64 {
    let hash = Sha256::digest([field.as_bytes(), key.as_bytes()].join(&0));
    i64::from_le_bytes(std::array::from_fn(|at| hash[at]))
}

fn of_category(id: i64) -> i64 {
    of_value("", &format!("category {id}"))
}

fn of_list(status: PetStatus, withdrawn: bool) -> i64 {
    of_value("", &format!("{status} {withdrawn}"))
}

/// The place of an animal in its block.
fn low(id: i64) -> u32 {
    u32::try_from(id & ((1 << BLOCK_BITS) - 1)).unwrap_or_default()
}

fn decoded(bytes: &[u8]) -> Option<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes).ok()
}

fn encoded(pets: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pets.serialized_size());
    // Nothing can fail in memory.
    let _ = pets.serialize_into(&mut bytes);
    bytes
}
