//! Finds categories for the animals for which a file has a species, but no category.
//!
//! As in the console, an animal gets the category with the label of its species. If there is none,
//! it gets the category that most of the newest animals of the species have. If the store has no
//! animals of the species, it gets a new category.

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
    /// The categories of the newest animals of each species, the newest last. For each species,
    /// there are at most as many as the default length of a page, because the console, too, looks
    /// at this number of animals.
    newest: BTreeMap<String, VecDeque<i64>>,
}

impl UsedCategories {
    /// Records what a resource says about categories: the category that an animal has, or only the
    /// id of a category, which may have no animals.
    fn record(&mut self, resource: &Resource) {
        match resource {
            Resource::Pet(pet) => self.record_pet(pet),
            Resource::Category(category) => self.highest = self.highest.max(category.id),
            Resource::Order(_) | Resource::Note(_) => {}
        }
    }

    /// Records the category of an animal. Unless the animal is withdrawn, it becomes the newest of
    /// its species.
    fn record_pet(&mut self, pet: &StorePet) {
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

    /// Returns the category that is most frequent among the newest animals of a species. Of equally
    /// frequent categories, returns the one with the highest id. Returns `None` if there is no such
    /// animal.
    fn most_frequent(&self, species: &str) -> Option<i64> {
        let mut ids: Vec<i64> = self.newest.get(species)?.iter().copied().collect();
        ids.sort_unstable();
        // Of equally long groups, `max_by_key` returns the last one, which has the highest id.
        let largest_group = ids.chunk_by(i64::eq).max_by_key(|group| group.len())?;
        largest_group.first().copied()
    }
}

/// Sets the category of each species in `csv`. Returns the categories that the store does not have
/// yet.
///
/// A species gets no category if several categories have its label, or if it needs a new category
/// that cannot be added.
pub(super) fn set_species_categories(
    csv: &mut CsvOptions,
    // Within an `Option`, the lifetime of the snapshot behind `&mut` cannot be shortened.
    snapshot: Option<&mut (dyn Snapshot + 'static)>,
) -> Result<Vec<Category>, StoreError> {
    let mut new_categories = Vec::new();
    let mut fields = csv.fields.iter();
    let Some(field) = fields.find(|field| field.name.as_str() == SPECIES).cloned() else {
        return Ok(new_categories);
    };
    let mut used_categories = UsedCategories::default();
    if let Some(snapshot) = snapshot {
        snapshot.visit_resources(&mut |resource| {
            used_categories.record(&resource);
            ControlFlow::Continue(())
        })?;
    }

    for species in choice_values(&field) {
        let label = field.display_text(species);
        let id = match *csv.categories.with_label(label) {
            [id] => Some(id),
            [] => used_categories
                .most_frequent(species)
                .or_else(|| add_new_category(label, &mut used_categories, &mut new_categories)),
            // Several categories have the label.
            _ => None,
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

/// Adds a category with this label and the next id to `new_categories`. Returns its id. Returns
/// `None` if there is no further id, or if the label is invalid.
fn add_new_category(
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
