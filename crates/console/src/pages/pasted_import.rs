//! Reads the pasted lines of a spreadsheet as an import: the animals to add, and the categories
//! that they need. Also checks what a single line cannot tell, such as whether a microchip is
//! taken.

use std::collections::{BTreeSet, HashSet};

use petstore_domain::store_area::{Category, FieldPatch, FieldSet, RequestedValue, UniqueKey};

use super::{
    category_choice::{Species, SpeciesCategory, choose_for_species},
    commands::name_with_number,
    paste::{self, LineReader, PastedPet, PetTable},
    pasted_text::PastedText,
    pet_schema::PetSchema,
    value_reader::ValueReader,
    values,
};
use crate::prelude::*;

/// The version of a category that was not read from the store. Nothing reads this version.
const PLACEHOLDER_VERSION: i64 = 0;

/// The pasted lines, parsed into animals, with the categories and fields that were used to parse
/// them.
pub(super) struct Import {
    pub(super) pet_table: PetTable,
    pub(super) fields: FieldSet,
    /// The categories to which the lines can refer: existing ones, and `new_categories`.
    categories: Vec<Category>,
    /// The categories that are added together with the animals: one for each species that has no
    /// category yet.
    pub(super) new_categories: Vec<Category>,
}

impl Import {
    /// Returns the categories and fields that the preview shows.
    pub(super) fn schema(&self) -> PetSchema<'_> {
        PetSchema {
            categories: &self.categories,
            fields: &self.fields,
        }
    }

    /// Whether any line has an age, a year or a month instead of an exact day of birth.
    pub(super) fn has_estimated_births(&self) -> bool {
        let mut lines = self.pet_table.lines.iter();
        lines.any(|line| matches!(&line.result, Ok(pasted_pet) if pasted_pet.is_birth_estimated))
    }
}

/// Parses the pasted lines.
///
/// A line that has a species but no category gets the category of the species. A line whose
/// category is an unused number gets an error.
pub(super) async fn read_import(
    desk: &Desk<'_>,
    text: &PastedText,
    form: &Form,
) -> Result<Import, ApiError> {
    let fields = desk.store().fields().await?;
    let value_reader = ValueReader::new(desk, &fields);

    // The first pass only collects the species, which determine the categories to load.
    let species_reader = LineReader {
        categories: &[],
        values: value_reader,
    };
    let mut species_without_category = BTreeSet::new();
    for line in paste::read_pet_table(text, form, species_reader).lines {
        species_without_category.extend(line.species);
    }

    // This function does not know which column has the categories, so it looks up the text of every
    // cell as the name of one.
    let mut category_names: Vec<&str> = text.cells().map(String::as_str).collect();
    for species in &species_without_category {
        category_names.push(&species.label);
    }
    let mut categories = desk.load_categories_by_names(category_names).await?;
    let new_categories =
        add_categories_of_species(desk, &species_without_category, &fields, &mut categories)
            .await?;

    let line_reader = LineReader {
        categories: &categories,
        values: value_reader,
    };
    let mut pet_table = paste::read_pet_table(text, form, line_reader);
    reject_unused_categories(desk, &mut pet_table, &categories).await?;
    Ok(Import {
        pet_table,
        fields,
        categories,
        new_categories,
    })
}

/// Adds the category of each species to `categories`, under the label of the species: a line
/// without a category looks up this label there. Adds nothing if the label is there already.
///
/// Returns the added categories that the store does not have yet.
async fn add_categories_of_species(
    desk: &Desk<'_>,
    all_species: &BTreeSet<Species>,
    fields: &FieldSet,
    categories: &mut Vec<Category>,
) -> Result<Vec<Category>, StoreError> {
    let mut new_categories = Vec::new();
    let mut last_new_id = 0;
    for species in all_species {
        let schema = PetSchema { categories, fields };
        match choose_for_species(desk, species, schema, last_new_id).await? {
            SpeciesCategory::Usual { id, label } => {
                // The name of this category differs from the label, so the second entry adds the
                // label as an alias. The stored entry comes first, because pages show the first
                // name that they find for a number.
                categories.extend(desk.load_category(id).await?);
                categories.push(Category {
                    id,
                    label,
                    version: PLACEHOLDER_VERSION,
                });
            }
            SpeciesCategory::New { id, label } => {
                let category = Category {
                    id,
                    label,
                    version: PLACEHOLDER_VERSION,
                };
                categories.push(category.clone());
                new_categories.push(category);
                // The store does not have this category yet, so the next new one needs a higher
                // number.
                last_new_id = id;
            }
            SpeciesCategory::Named | SpeciesCategory::NoFreeNumber => {}
        }
    }
    Ok(new_categories)
}

/// Sets an error on each line whose category is an unused number, which is probably a typing error.
///
/// A number is in use if a category or an animal has it.
async fn reject_unused_categories(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    categories: &[Category],
) -> Result<(), StoreError> {
    // Many lines have the same category, so each number is looked up only once.
    let mut ids = BTreeSet::new();
    for line in &pet_table.lines {
        if let Ok(pasted_pet) = &line.result {
            ids.insert(pasted_pet.pet.category_id);
        }
    }
    let mut unused_ids = HashSet::new();
    for id in ids {
        let is_known = categories.iter().any(|category| category.id == id);
        if !is_known && !desk.is_category_number_used(id).await? {
            unused_ids.insert(id);
        }
    }

    for line in &mut pet_table.lines {
        let Ok(pasted_pet) = &line.result else {
            continue;
        };
        let id = pasted_pet.pet.category_id;
        if unused_ids.contains(&id) {
            line.result = Err(vec![texts().no_category(id)]);
        }
    }
    Ok(())
}

/// Sets an error on each line that has a taken value of a unique field, such as a microchip.
///
/// A value is taken if an animal in the store or on an earlier line has it.
pub(super) async fn reject_taken_values(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    fields: &FieldSet,
) -> Result<(), StoreError> {
    let mut earlier_keys = HashSet::new();
    for line in &mut pet_table.lines {
        let Ok(PastedPet { fields: patch, .. }) = &line.result else {
            continue;
        };
        let messages = find_taken_values(desk, patch, fields, &mut earlier_keys).await?;
        if !messages.is_empty() {
            line.result = Err(messages);
        }
    }
    Ok(())
}

/// Finds the taken values of an animal, and returns a message for each. Also adds all unique values
/// of the animal to `earlier_keys`, the ones of the lines before it.
async fn find_taken_values(
    desk: &Desk<'_>,
    patch: &FieldPatch,
    fields: &FieldSet,
    earlier_keys: &mut HashSet<UniqueKey>,
) -> Result<Vec<String>, StoreError> {
    let mut messages = Vec::new();
    for field in fields.all() {
        let Some(RequestedValue::Set(value)) = patch.get(field.name.as_str()) else {
            continue;
        };
        let Some(key) = fields.unique_key(field.name.as_str(), value) else {
            continue;
        };
        let mut owner_name = find_owner_name(desk, key.clone()).await?;
        let is_on_earlier_line = !earlier_keys.insert(key);
        if owner_name.is_none() && is_on_earlier_line {
            owner_name = Some(texts().other_new.to_owned());
        }
        if let Some(owner_name) = owner_name {
            messages.push(texts().value_taken(&values::label_of(field), &owner_name));
        }
    }
    Ok(messages)
}

/// Finds the animal in the store that has a unique value, and returns its name and number for a
/// message. Returns `None` if no animal has the value.
async fn find_owner_name(desk: &Desk<'_>, key: UniqueKey) -> Result<Option<String>, StoreError> {
    let owners = desk.store().owners(key).await?;
    let Some(&owner_id) = owners.first() else {
        return Ok(None);
    };
    let owner = desk.store().get_store_pet(owner_id).await?;
    Ok(owner.map(|pet| name_with_number(&pet)))
}
