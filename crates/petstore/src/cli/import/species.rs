//! Finds the categories of animals for which a file has only a species.
//!
//! As in the console, the category of a species is the one with its label, or else the category of
//! most of its newest animals, or else a new category.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::ControlFlow,
};

use petstore_domain::{
    Limit,
    store_area::{Category, FieldDefinition, FieldValue, Label, Resource, StorePet},
};
use petstore_formats::files::CsvOptions;
use petstore_store::{StoreError, bulk::Snapshot};

/// The name of the field with the species.
const SPECIES: &str = "species";

/// The categories that the animals of a store have.
#[derive(Default)]
struct UsedCategories {
    /// The highest id of a category so far.
    highest: i64,
    /// The categories of the newest animals of each species, the newest last. Their number is at
    /// most the default length of a page, as in the console.
    newest: BTreeMap<String, VecDeque<i64>>,
}

impl UsedCategories {
    /// Records the category of an animal, or the id of a category.
    fn add(&mut self, resource: &Resource) {
        match resource {
            Resource::Pet(pet) => self.add_pet(pet),
            Resource::Category(category) => self.highest = self.highest.max(category.id),
            Resource::Order(_) | Resource::Note(_) => {}
        }
    }

    /// Records the category of an animal. Unless the animal is withdrawn, it becomes the newest of
    /// its species.
    fn add_pet(&mut self, pet: &StorePet) {
        self.highest = self.highest.max(pet.category_id);
        let Some(FieldValue::Text(species)) = pet.fields.get(SPECIES) else {
            return;
        };
        if pet.withdrawal.is_some() {
            return;
        }
        let newest = self.newest.entry(species.clone()).or_default();
        // Animals are visited in the order of their ids, so the first one is the oldest.
        newest.push_back(pet.category_id);
        if newest.len() > usize::from(Limit::default().get()) {
            newest.pop_front();
        }
    }

    /// Returns the category that most of the newest animals of a species have; `None` without such
    /// animals.
    fn most_frequent(&self, species: &str) -> Option<i64> {
        let mut ids: Vec<i64> = self.newest.get(species)?.iter().copied().collect();
        ids.sort_unstable();
        let largest_group = ids.chunk_by(i64::eq).max_by_key(|group| group.len())?;
        largest_group.first().copied()
    }
}

/// Sets the category of each species in `csv`, and returns the categories that the store does not have
/// yet. A species gets none if several categories have its label.
pub(super) fn find_species_categories(
    catalogue: Option<&mut (dyn Snapshot + 'static)>,
    csv: &mut CsvOptions,
) -> Result<Vec<Category>, StoreError> {
    let mut new_categories = Vec::new();
    let mut fields = csv.fields.iter();
    let Some(field) = fields.find(|field| field.name.as_str() == SPECIES).cloned() else {
        return Ok(new_categories);
    };
    let mut used_categories = UsedCategories::default();
    if let Some(catalogue) = catalogue {
        catalogue.visit_resources(&mut |resource| {
            used_categories.add(&resource);
            ControlFlow::Continue(())
        })?;
    }

    for species in choice_values(&field) {
        let label = field.display_text(species);
        let id = match *csv.categories.with_label(label) {
            [id] => Some(id),
            [_, _, ..] => None,
            [] => used_categories
                .most_frequent(species)
                .or_else(|| add_category(label, &mut used_categories, &mut new_categories)),
        };
        if let Some(id) = id {
            csv.categories.set_species_category(species, id);
        }
    }
    Ok(new_categories)
}

/// Returns the values of the choices of a field.
fn choice_values(field: &FieldDefinition) -> &[String] {
    match &field.choices {
        Some(choices) => choices.values(),
        None => &[],
    }
}

/// Adds a category with this label and the next id. Returns `None` if there is no further id, or if
/// the label is invalid.
fn add_category(
    label: &str,
    used_categories: &mut UsedCategories,
    new_categories: &mut Vec<Category>,
) -> Option<i64> {
    let label = Label::new(label.to_owned())?;
    let id = used_categories.highest.checked_add(1)?;
    used_categories.highest = id;
    new_categories.push(Category {
        id,
        label,
        version: 1,
    });
    Some(id)
}
