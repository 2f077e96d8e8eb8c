//! The category of a new animal. The form names it, or it follows from the species.

use petstore_domain::store_area::{Category, FieldSet, Label, PetQuery};

use super::{pet_schema::PetSchema, values};
use crate::prelude::*;

/// A species that somebody chose for a new animal.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Species {
    /// The value of the field, such as `cat`.
    value: String,
    /// The label for people, such as `Cats`.
    pub(super) label: String,
}

impl Species {
    /// Returns the species in a form, if it says one.
    pub(super) fn from_form(form: &Form, fields: &FieldSet) -> Option<Self> {
        let field = fields.find("species")?;
        let value = form.get(&values::input_of(field)).to_owned();
        if value.is_empty() {
            return None;
        }
        let label = field.display_text(&value).to_owned();
        Some(Self { value, label })
    }

    /// Returns the species in a form that names no category.
    pub(super) fn without_category(form: &Form, fields: &FieldSet) -> Option<Self> {
        if form.get("category").is_empty() {
            Self::from_form(form, fields)
        } else {
            None
        }
    }
}

/// The category of a species, for an animal for which nobody typed a category.
pub(super) enum SpeciesCategory {
    /// The category that has the label of the species as its name. If the label cannot be a name, there is none.
    Named,
    /// The category that most of the newest animals of the species are in, with the label of the species.
    Usual { id: i64, label: Label },
    /// A category that is added together with the animal: a free number, and the label of the species.
    New { id: i64, label: Label },
    /// No category, because all numbers for a new category are used.
    NoFreeNumber,
}

/// Chooses the category of a species: the category of its name, or its usual category, or a new one.
///
/// A new category gets a number above `last_used`.
pub(super) async fn choose_for_species(
    desk: &Desk<'_>,
    species: &Species,
    schema: PetSchema<'_>,
    last_used: i64,
) -> Result<SpeciesCategory, StoreError> {
    let has_category = schema
        .categories
        .iter()
        .any(|category| forms::is_named(category, &species.label));
    let Ok(label) = forms::parse_label(&species.label) else {
        return Ok(SpeciesCategory::Named);
    };
    if has_category {
        return Ok(SpeciesCategory::Named);
    }

    if let Some(id) = usual_category(desk, species, schema.fields).await? {
        return Ok(SpeciesCategory::Usual { id, label });
    }
    match desk.find_free_category_number(last_used).await? {
        Some(id) => Ok(SpeciesCategory::New { id, label }),
        None => Ok(SpeciesCategory::NoFreeNumber),
    }
}

/// Returns the number of the category that most of the newest animals of a species are in.
///
/// A store that has its cats in a category "Kittens and cats" does not need a category "Cats".
async fn usual_category(
    desk: &Desk<'_>,
    species: &Species,
    fields: &FieldSet,
) -> Result<Option<i64>, StoreError> {
    let Ok(species_filter) = fields.parse_filter("species", &species.value) else {
        return Ok(None);
    };
    let query = PetQuery {
        values: vec![species_filter],
        newest_first: true,
        ..PetQuery::default()
    };
    let (pets, _) = desk.store().list_store_pets(&query).await?;

    let mut ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
    ids.sort_unstable();
    let largest_group = ids.chunk_by(i64::eq).max_by_key(|group| group.len());
    Ok(largest_group.and_then(<[i64]>::first).copied())
}

/// The category that a new animal gets.
pub(super) struct ChosenCategory {
    pub(super) id: i64,
    /// The name of a category that is added together with the animal; `None` if the store has the category.
    pub(super) new_label: Option<Label>,
}

impl ChosenCategory {
    fn existing(id: i64) -> Self {
        Self {
            id,
            new_label: None,
        }
    }

    fn new(id: i64, label: Label) -> Self {
        Self {
            id,
            new_label: Some(label),
        }
    }
}

/// Chooses the category of the animal in a form, from its species if the form names no category.
///
/// Returns the message for people if no category fits.
pub(super) async fn choose(
    desk: &Desk<'_>,
    form: &Form,
    schema: PetSchema<'_>,
) -> Result<Result<ChosenCategory, String>, StoreError> {
    let Some(species) = Species::without_category(form, schema.fields) else {
        return choose_typed(desk, form, schema.categories).await;
    };
    let category = match choose_for_species(desk, &species, schema, 0).await? {
        SpeciesCategory::Named => {
            forms::find_category(&species.label, schema.categories).map(ChosenCategory::existing)
        }
        SpeciesCategory::Usual { id, .. } => Ok(ChosenCategory::existing(id)),
        SpeciesCategory::New { id, label } => Ok(ChosenCategory::new(id, label)),
        SpeciesCategory::NoFreeNumber => Err(texts().no_free_number.to_owned()),
    };
    Ok(category)
}

/// Chooses the category that was typed into a form.
///
/// The button that confirms a new category sends its name, and the button that confirms an unused number sends `yes`.
/// Without this confirmation, the category must exist, because a new one can be a mistake in typing.
async fn choose_typed(
    desk: &Desk<'_>,
    form: &Form,
    categories: &[Category],
) -> Result<Result<ChosenCategory, String>, StoreError> {
    let typed_category = form.get("category");
    if typed_category.is_empty() {
        return Ok(Err(texts().species_or_category.to_owned()));
    }

    let is_confirmed = ["yes", typed_category].contains(&form.get("new-category"));
    if is_confirmed && let Some(label) = new_category_name(typed_category, categories) {
        let category = match desk.find_free_category_number(0).await? {
            Some(id) => Ok(ChosenCategory::new(id, label)),
            None => Err(texts().no_free_number.to_owned()),
        };
        return Ok(category);
    }

    let id = match forms::find_category(typed_category, categories) {
        Ok(id) => id,
        Err(message) => return Ok(Err(message)),
    };
    if !is_confirmed && !desk.is_category_number_used(id).await? {
        return Ok(Err(texts().no_category(id)));
    }
    Ok(Ok(ChosenCategory::existing(id)))
}

/// Returns the typed category as the name of a new category, if it is neither the number nor the name of a category.
pub(super) fn new_category_name(typed_category: &str, categories: &[Category]) -> Option<Label> {
    let is_number_or_name = forms::find_category(typed_category, categories).is_ok();
    // Several categories can have the name.
    let is_name = categories
        .iter()
        .any(|category| forms::is_named(category, typed_category));
    if is_number_or_name || is_name {
        return None;
    }
    forms::parse_label(typed_category).ok()
}
