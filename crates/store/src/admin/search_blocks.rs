//! The search among the merged animals: intersects the sets of a query, one range of blocks at a
//! time.

use std::{ops::Range, slice};

use petstore_domain::{
    PetStatus,
    store_area::{NamePrefix, PetQuery, PhraseMeaning, PhraseWord, Property, ValueFilter},
};
use roaring::RoaringBitmap;

use super::{
    Parameter, Sql, Values,
    pet_sets::{set_of_category, set_of_status, set_of_value},
    search_sets::read_pets,
    values,
    word_blocks::{
        Blocks, NAME_FIELD, WordRange, block_of, find_pets_with_date, offset_in_block, pet_in_block,
    },
};
use crate::columns::Columns;

const FIRST_BLOCK_FROM: &str =
    "SELECT min(block) FROM value_blocks WHERE value = $1 AND block >= $2";
const LAST_BLOCK_UP_TO: &str =
    "SELECT max(block) FROM value_blocks WHERE value = $1 AND block <= $2";
const PETS_IN_SET: &str = "SELECT block, pets FROM value_blocks
    WHERE value = $1 AND block >= $2 AND block < $3";

/// A word of a searched phrase.
struct CountedWord<'q> {
    word: &'q PhraseWord,
    /// The number of animals that had the word in the blocks of the last read. The words are sorted
    /// by this number.
    pet_count: u64,
}

/// A search among the animals that are merged.
pub(super) struct MergedSearch<'q> {
    query: &'q PetQuery,
    meaning: Option<&'q PhraseMeaning>,
    /// The words of the phrase, rarest first.
    words: Vec<CountedWord<'q>>,
    /// The sets of the wanted statuses. An animal must be in one of them.
    status_sets: Vec<i64>,
    /// The sets of the wanted values and category. An animal must be in all of them.
    required_sets: Vec<i64>,
}

impl<'q> MergedSearch<'q> {
    /// Prepares the search for a query. `meaning` is the meaning of its phrase, if it has one.
    pub(super) fn new(query: &'q PetQuery, meaning: Option<&'q PhraseMeaning>) -> Self {
        let mut wanted_statuses = match query.status {
            Some(status) => vec![status],
            None => PetStatus::ALL.to_vec(),
        };
        if query.is_on_offer {
            wanted_statuses.retain(|status| *status != PetStatus::Sold);
        }
        let status_sets = wanted_statuses
            .into_iter()
            .map(|status| set_of_status(status, query.is_withdrawn))
            .collect();

        let mut required_sets: Vec<i64> = query.values.iter().map(set_of_filter).collect();
        required_sets.extend(query.category_id.map(set_of_category));

        let mut words = Vec::new();
        for word in meaning.iter().flat_map(|meaning| &meaning.words) {
            words.push(CountedWord { word, pet_count: 0 });
        }

        Self {
            query,
            meaning,
            words,
            status_sets,
            required_sets,
        }
    }

    /// Returns the first block from `start` on, in ascending or descending order, that may contain
    /// matches.
    pub(super) async fn next_block<S: Sql>(
        &self,
        connection: &mut S,
        is_descending: bool,
        start: i64,
    ) -> Result<Option<i64>, S::Error> {
        // Matches are in every required set, so it suffices to look at one.
        let sets = match self.required_sets.first() {
            Some(set) => slice::from_ref(set),
            None => &self.status_sets[..],
        };
        let sql = if is_descending {
            LAST_BLOCK_UP_TO
        } else {
            FIRST_BLOCK_FROM
        };
        let values: Vec<Values<'_>> = sets.iter().map(|&set| values![set, start]).collect();

        let mut next_blocks: Vec<i64> = Vec::new();
        for row in connection.rows_each(sql, values).await?.iter().flatten() {
            next_blocks.extend(row.value::<Option<i64>>(0)?);
        }
        if is_descending {
            Ok(next_blocks.into_iter().max())
        } else {
            Ok(next_blocks.into_iter().min())
        }
    }

    /// Finds the matching animals in these blocks.
    ///
    /// The words and dates are read only for the blocks that still have candidates. So the cheap
    /// conditions come first, and rare words come before frequent ones.
    pub(super) async fn find_in_blocks<S: Sql>(
        &mut self,
        connection: &mut S,
        blocks: Range<i64>,
    ) -> Result<Blocks, S::Error> {
        let mut pets = self.find_pets_in_sets(connection, &blocks).await?;
        if let Some(is_listed) = self.query.is_listed {
            let unlisted_pets = self.find_unlisted_pets(connection, &blocks).await?;
            if is_listed {
                subtract(&mut pets, &unlisted_pets);
            } else {
                intersect(&mut pets, &unlisted_pets);
            }
        }
        if let Some(prefix) = self.query.prefix() {
            let candidate_blocks = block_numbers(&pets);
            let named_pets =
                find_pets_with_prefix(connection, prefix, &candidate_blocks, |field| {
                    field == NAME_FIELD
                })
                .await?;
            intersect(&mut pets, &named_pets);
        }
        if let Some(dates) = &self.query.dates {
            let dated_pets = find_pets_with_date(connection, dates, &block_numbers(&pets)).await?;
            intersect(&mut pets, &dated_pets);
        }
        if let Some(meaning) = self.meaning {
            self.retain_phrase_matches(connection, &mut pets, meaning, &blocks)
                .await?;
        }
        Ok(pets)
    }

    /// Finds the animals in these blocks that have a wanted status and are in all required sets.
    async fn find_pets_in_sets<S: Sql>(
        &self,
        connection: &mut S,
        blocks: &Range<i64>,
    ) -> Result<Blocks, S::Error> {
        let sets = self.status_sets.iter().chain(&self.required_sets);
        let values = sets.map(|&set| values![set, blocks.start, blocks.end]);
        let mut results = connection.rows_each(PETS_IN_SET, values.collect()).await?;
        let required_results = results.split_off(self.status_sets.len());
        let status_results = results;

        // An animal may have any of the wanted statuses.
        let mut pets = read_union::<S>(status_results)?;
        for result in required_results {
            intersect(&mut pets, &read_union::<S>([result])?);
        }
        Ok(pets)
    }

    /// Finds the animals in these blocks that the window may not show. There is no set for them:
    /// they are few, and they must disappear from the window at once, not only after a merge.
    async fn find_unlisted_pets<S: Sql>(
        &self,
        connection: &mut S,
        blocks: &Range<i64>,
    ) -> Result<Blocks, S::Error> {
        let sql = &S::plans().choose_search(self.query).unlisted;
        let first = pet_in_block(blocks.start, 0);
        let end = pet_in_block(blocks.end, 0);
        let mut pets = Blocks::new();
        for row in connection.rows(sql, &[&first, &end]).await? {
            insert_pet(&mut pets, row.value(0)?);
        }
        Ok(pets)
    }

    /// Keeps only the animals that match the phrase: those with all of its words, and those with
    /// one of its unique values. For example, the phrase `brown 981000000001` keeps the animal with
    /// the unique microchip number `981000000001`, even if that animal does not have the word
    /// `brown`.
    async fn retain_phrase_matches<S: Sql>(
        &mut self,
        connection: &mut S,
        pets: &mut Blocks,
        meaning: &PhraseMeaning,
        blocks: &Range<i64>,
    ) -> Result<(), S::Error> {
        let mut pets_with_unique_value = pets.clone();
        let value_pets = find_pets_in_any_set(connection, &meaning.unique_values, blocks).await?;
        intersect(&mut pets_with_unique_value, &value_pets);

        for CountedWord { word, pet_count } in &mut self.words {
            if let Some(word_pets) = find_pets_with_word(connection, pets, meaning, word).await? {
                *pet_count = word_pets.values().map(RoaringBitmap::len).sum();
                intersect(pets, &word_pets);
            }
        }
        self.words.sort_by_key(|word| word.pet_count);

        unite(pets, pets_with_unique_value);
        Ok(())
    }
}

/// Finds the animals in the blocks of `pets` that match a word: in their names or values, by the
/// label of a choice, by the properties that the word describes, or by their id.
///
/// Returns `None` if the word need not be looked up. Every animal matches a word with an empty
/// prefix, and an empty set `pets` cannot get smaller.
async fn find_pets_with_word<S: Sql>(
    connection: &mut S,
    pets: &Blocks,
    meaning: &PhraseMeaning,
    word: &PhraseWord,
) -> Result<Option<Blocks>, S::Error> {
    if word.prefix.is_empty() {
        return Ok(None);
    }
    let blocks = block_numbers(pets);
    let Some(block_range) = covering_range(&blocks) else {
        return Ok(None);
    };

    let mut word_pets = find_pets_with_prefix(connection, &word.prefix, &blocks, |field| {
        meaning.searches(field, word)
    })
    .await?;
    if let Some(stem) = &word.stem {
        // Stems are not looked up in names.
        let stem_pets = find_pets_with_prefix(connection, stem, &blocks, |field| {
            field != NAME_FIELD && meaning.searches(field, word)
        })
        .await?;
        unite(&mut word_pets, stem_pets);
    }
    let labelled_pets =
        find_pets_in_any_set(connection, &word.labelled_choices, &block_range).await?;
    unite(&mut word_pets, labelled_pets);
    let property_pets = find_pets_with_properties(connection, &word.properties, &blocks).await?;
    unite(&mut word_pets, property_pets);
    if let Some(id) = word.id {
        insert_pet(&mut word_pets, id.get());
    }
    Ok(Some(word_pets))
}

/// Finds the animals in these blocks that have a word with a prefix, in any of its spellings, in a
/// field that `includes_field` accepts.
async fn find_pets_with_prefix<S: Sql>(
    connection: &mut S,
    prefix: &NamePrefix,
    blocks: &[i64],
    includes_field: impl Fn(&str) -> bool + Send + Sync,
) -> Result<Blocks, S::Error> {
    let mut pets = Blocks::new();
    for spelling in prefix.spellings() {
        let range = WordRange::with_prefix(spelling);
        let spelling_pets = range.find_pets(connection, blocks, &includes_field).await?;
        unite(&mut pets, spelling_pets);
    }
    Ok(pets)
}

/// Finds the animals in these blocks that have all properties. Finds none if `properties` is empty.
async fn find_pets_with_properties<S: Sql>(
    connection: &mut S,
    properties: &[Property],
    blocks: &[i64],
) -> Result<Blocks, S::Error> {
    let Some((first_property, other_properties)) = properties.split_first() else {
        return Ok(Blocks::new());
    };
    let mut pets = find_pets_with_property(connection, first_property, blocks).await?;
    for property in other_properties {
        let property_pets = find_pets_with_property(connection, property, blocks).await?;
        intersect(&mut pets, &property_pets);
    }
    Ok(pets)
}

/// Finds the animals in these blocks that have a property. It is enough that one of its values,
/// categories or dates matches.
async fn find_pets_with_property<S: Sql>(
    connection: &mut S,
    property: &Property,
    blocks: &[i64],
) -> Result<Blocks, S::Error> {
    let Some(block_range) = covering_range(blocks) else {
        return Ok(Blocks::new());
    };
    let value_sets = property.values.iter().map(set_of_filter);
    let category_sets = property.categories.iter().map(|&id| set_of_category(id));
    let values = value_sets
        .chain(category_sets)
        .map(|set| values![set, block_range.start, block_range.end])
        .collect();
    let mut pets = read_union::<S>(connection.rows_each(PETS_IN_SET, values).await?)?;
    if let Some(dates) = &property.dates {
        let dated_pets = find_pets_with_date(connection, dates, blocks).await?;
        unite(&mut pets, dated_pets);
    }
    Ok(pets)
}

/// Finds the animals in these blocks that have at least one of the values.
async fn find_pets_in_any_set<S: Sql>(
    connection: &mut S,
    filters: &[ValueFilter],
    blocks: &Range<i64>,
) -> Result<Blocks, S::Error> {
    let values = filters
        .iter()
        .map(|filter| values![set_of_filter(filter), blocks.start, blocks.end])
        .collect();
    let results = connection.rows_each(PETS_IN_SET, values).await?;
    read_union::<S>(results)
}

/// Reads several results of [`PETS_IN_SET`], and returns the union of their sets.
fn read_union<S: Sql>(results: impl IntoIterator<Item = Vec<S::Row>>) -> Result<Blocks, S::Error> {
    let mut pets = Blocks::new();
    for row in results.into_iter().flatten() {
        let block = row.value(0)?;
        *pets.entry(block).or_default() |= read_pets(&row, 1)?;
    }
    Ok(pets)
}

/// Adds `other_pets` to a set.
fn unite(pets: &mut Blocks, other_pets: Blocks) {
    for (block, other_offsets) in other_pets {
        *pets.entry(block).or_default() |= other_offsets;
    }
}

/// Keeps only the animals that are also in `other_pets`.
fn intersect(pets: &mut Blocks, other_pets: &Blocks) {
    pets.retain(|block, offsets| {
        let Some(other_offsets) = other_pets.get(block) else {
            return false;
        };
        *offsets &= other_offsets;
        !offsets.is_empty()
    });
}

/// Removes the animals that are in `other_pets`.
fn subtract(pets: &mut Blocks, other_pets: &Blocks) {
    for (block, other_offsets) in other_pets {
        if let Some(offsets) = pets.get_mut(block) {
            *offsets -= other_offsets;
        }
    }
    pets.retain(|_, offsets| !offsets.is_empty());
}

/// Adds one animal to a set.
fn insert_pet(pets: &mut Blocks, id: i64) {
    let offsets = pets.entry(block_of(id)).or_default();
    offsets.insert(offset_in_block(id).into());
}

/// Returns the numbers of the blocks that contain animals, in ascending order.
fn block_numbers(pets: &Blocks) -> Vec<i64> {
    pets.keys().copied().collect()
}

/// Returns the smallest range that contains all blocks, which must be in ascending order. Returns
/// `None` if there are no blocks.
fn covering_range(blocks: &[i64]) -> Option<Range<i64>> {
    let first = *blocks.first()?;
    let last = *blocks.last()?;
    Some(first..last + 1)
}

/// Returns the number of the set of the animals that have the value of a filter.
fn set_of_filter(filter: &ValueFilter) -> i64 {
    set_of_value(filter.field.as_str(), &filter.key)
}
