//! Chooses the category of a new animal: the one that the member typed. If none was typed, the
//! species determines it.
//!
//! A category is a number, which can have a name. The species is a field of the animal, whose
//! choices have labels such as `Cats`.

use petstore_domain::store_area::{Category, FieldSet, Label, PetQuery};

use super::{
    animal_fields::CATEGORY_INPUT, category_names::NO_LAST_USED, parts::constant_limit,
    pet_schema::PetSchema, values,
};
use crate::prelude::*;

/// The name of the submit button by which a member confirms a typed category that does not exist.
///
/// Its value is the name of the new category, or [`NUMBER_IS_CONFIRMED`].
pub(super) const CONFIRMED_CATEGORY: &str = "new-category";

/// The value of [`CONFIRMED_CATEGORY`] that confirms the use of an unused number.
pub(super) const NUMBER_IS_CONFIRMED: &str = "yes";

/// The number of the newest animals of a species among which the most frequent category is found.
const NEWEST_PETS_OF_SPECIES: i64 = 20;

/// The species of a new animal.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Species {
    /// The stored value of the field, such as `cat`.
    value: String,
    /// The label that people see, such as `Cats`.
    pub(super) label: String,
}

impl Species {
    /// Returns the species that is selected in a form; `None` if none is selected, or if the store
    /// has no field for the species.
    pub(super) fn from_form(form: &Form, fields: &FieldSet) -> Option<Self> {
        let field = fields.find("species")?;
        let value = form.get(&values::input_name_of(field)).to_owned();
        if value.is_empty() {
            return None;
        }
        let label = field.display_text(&value).to_owned();
        Some(Self { value, label })
    }

    /// Returns the species in a form without a category, where the species determines the category.
    /// Returns `None` if the form has a category, or no species.
    pub(super) fn without_category(form: &Form, fields: &FieldSet) -> Option<Self> {
        if form.get(CATEGORY_INPUT).is_empty() {
            Self::from_form(form, fields)
        } else {
            None
        }
    }
}

/// The category that was chosen for a species.
pub(super) enum SpeciesCategory {
    /// The category that has the label of the species as its name. The caller looks it up, which
    /// fails if the label is not a valid name of a category.
    Named,
    /// The most frequent category among the newest animals of the species. `label` is the label of
    /// the species, which differs from the name of the category.
    Usual { id: i64, label: Label },
    /// A new category with a free number and the label of the species. It must be added together
    /// with the animal.
    New { id: i64, label: Label },
    /// No category, because there is no free number for a new one.
    NoFreeNumber,
}

/// The category that a new animal gets.
pub(super) struct ChosenCategory {
    pub(super) id: i64,
    /// The name of the category if it must be added together with the animal; `None` if it exists.
    pub(super) new_label: Option<Label>,
}

impl ChosenCategory {
    /// Returns a category that exists, or a number that animals already have.
    fn existing(id: i64) -> Self {
        Self {
            id,
            new_label: None,
        }
    }

    /// Returns a category that must be added together with the animal.
    fn added_with_pet(id: i64, label: Label) -> Self {
        Self {
            id,
            new_label: Some(label),
        }
    }
}

/// Returns the name by which the category of the animal in a form is looked up: the label of the
/// species if it determines the category, otherwise the text that the member typed.
pub(super) fn category_name_to_look_up(form: &Form, fields: &FieldSet) -> String {
    match Species::without_category(form, fields) {
        Some(species) => species.label,
        None => form.get(CATEGORY_INPUT).to_owned(),
    }
}

/// Chooses the category for a species: the category with the label of the species, or else the
/// usual category of such animals, or else a new category.
///
/// The number of a new category is above `last_used`. A caller that adds several new categories at
/// once passes the number of the previous one, because this number still seems free in the store.
pub(super) async fn choose_for_species(
    desk: &Desk<'_>,
    species: &Species,
    schema: PetSchema<'_>,
    last_used: i64,
) -> Result<SpeciesCategory, StoreError> {
    let mut categories = schema.categories.iter();
    if categories.any(|category| forms::is_named(category, &species.label)) {
        return Ok(SpeciesCategory::Named);
    }
    // An invalid label is the name of no category. The lookup of the caller fails, and returns the
    // message for the member.
    let Ok(label) = forms::parse_label(&species.label) else {
        return Ok(SpeciesCategory::Named);
    };

    if let Some(id) = find_usual_category(desk, species, schema.fields).await? {
        return Ok(SpeciesCategory::Usual { id, label });
    }
    match desk.find_free_category_number(last_used).await? {
        Some(id) => Ok(SpeciesCategory::New { id, label }),
        None => Ok(SpeciesCategory::NoFreeNumber),
    }
}

/// Finds the category that is most frequent among the newest animals of a species.
///
/// For example, if most cats are in "Kittens and cats", a new cat belongs there, too. Of equally
/// frequent categories, returns the one with the highest number. Returns `None` if the store has no
/// animals of the species, or if animals cannot have this species.
async fn find_usual_category(
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
        limit: constant_limit(NEWEST_PETS_OF_SPECIES),
        ..PetQuery::default()
    };
    let (pets, _) = desk.store().list_store_pets(&query).await?;

    let mut ids: Vec<i64> = pets.iter().map(|pet| pet.category_id).collect();
    // `chunk_by` only groups adjacent numbers, so equal numbers must be adjacent.
    ids.sort_unstable();
    // Of equally long groups, `max_by_key` returns the last one, which has the highest number.
    let largest_group = ids.chunk_by(i64::eq).max_by_key(|group| group.len());
    Ok(largest_group.and_then(<[i64]>::first).copied())
}

/// Chooses the category of the animal in a form: the one that the member typed. If none was typed,
/// the species determines the category.
///
/// If no category can be chosen, adds an error for its input and returns `None`.
pub(super) async fn choose_category(
    desk: &Desk<'_>,
    form: &Form,
    schema: PetSchema<'_>,
    errors: &mut Errors,
) -> Result<Option<ChosenCategory>, StoreError> {
    let Some(species) = Species::without_category(form, schema.fields) else {
        return choose_typed_category(desk, form, schema.categories, errors).await;
    };
    let category = match choose_for_species(desk, &species, schema, NO_LAST_USED).await? {
        SpeciesCategory::Named => {
            forms::find_category(&species.label, schema.categories).map(ChosenCategory::existing)
        }
        SpeciesCategory::Usual { id, .. } => Ok(ChosenCategory::existing(id)),
        SpeciesCategory::New { id, label } => Ok(ChosenCategory::added_with_pet(id, label)),
        SpeciesCategory::NoFreeNumber => Err(texts().no_free_number.to_owned()),
    };
    Ok(errors.ok_or_add(CATEGORY_INPUT, category))
}

/// Chooses the category whose name or number was typed into a form.
///
/// A category that does not exist could be a typing error, so the member must confirm it with the
/// button [`CONFIRMED_CATEGORY`]. A confirmed name becomes a new category. If the member must
/// confirm or correct the category, adds an error for its input and returns `None`.
async fn choose_typed_category(
    desk: &Desk<'_>,
    form: &Form,
    categories: &[Category],
    errors: &mut Errors,
) -> Result<Option<ChosenCategory>, StoreError> {
    let typed_category = form.get(CATEGORY_INPUT);
    if typed_category.is_empty() {
        errors.add(CATEGORY_INPUT, texts().species_or_category);
        return Ok(None);
    }

    let confirmation = form.get(CONFIRMED_CATEGORY);
    let is_confirmed = confirmation == NUMBER_IS_CONFIRMED || confirmation == typed_category;
    if is_confirmed && let Some(label) = new_category_name(typed_category, categories) {
        let free_number = desk.find_free_category_number(NO_LAST_USED).await?;
        let id = errors.ok_or_add(CATEGORY_INPUT, free_number.ok_or(texts().no_free_number));
        return Ok(id.map(|id| ChosenCategory::added_with_pet(id, label)));
    }

    let id = forms::find_category(typed_category, categories);
    let Some(id) = errors.ok_or_add(CATEGORY_INPUT, id) else {
        return Ok(None);
    };
    if !is_confirmed && !desk.is_category_number_used(id).await? {
        errors.add(CATEGORY_INPUT, texts().no_category(id));
        return Ok(None);
    }
    Ok(Some(ChosenCategory::existing(id)))
}

/// Returns the typed text as the name of a new category. Returns `None` if the text is a number or
/// the name of an existing category, or cannot be a name.
pub(super) fn new_category_name(typed_category: &str, categories: &[Category]) -> Option<Label> {
    let is_number_or_name = forms::find_category(typed_category, categories).is_ok();
    // `find_category` also fails if several categories have the name.
    let is_existing_name = categories
        .iter()
        .any(|category| forms::is_named(category, typed_category));
    if is_number_or_name || is_existing_name {
        return None;
    }
    forms::parse_label(typed_category).ok()
}
