//! Adding many animals at once.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use petstore_domain::{
    PetId, PetStatus,
    store_area::{Category, Command, FieldSet, FirstStep, Preconditions, RequestedValue},
};

use super::{
    add_one::page,
    birth_estimate::with_birth_estimate,
    category_choice::{Species, SpeciesCategory, choose_for_species},
    commands::{NotDone, called},
    import_preview::show_preview,
    paste::{self, LineReader, PastedPet, PetTable},
    pasted_columns::COLUMN_INPUT_PREFIX,
    pasted_text::{HEADINGS_INPUT, PastedText, SEPARATOR_INPUT},
    pet_schema::PetSchema,
    preview_forms::ImportPreview,
    value_reader::ValueReader,
    values,
};
use crate::{prelude::*, reply::Flash};

/// The lines that were pasted into a form, read with the categories and the fields of the store.
struct Import {
    pet_table: PetTable,
    fields: FieldSet,
    /// The categories that the lines name, and the categories of their species.
    categories: Vec<Category>,
    /// The categories that the store does not have yet.
    new_categories: Vec<Category>,
}

impl Import {
    fn schema(&self) -> PetSchema<'_> {
        PetSchema {
            categories: &self.categories,
            fields: &self.fields,
        }
    }
}

/// Reads the pasted lines, and chooses a category for each species of a line without a category.
///
/// A line whose category is a number that neither a category nor an animal has gets an error.
async fn read_import(desk: &Desk<'_>, text: &PastedText, form: &Form) -> Result<Import, ApiError> {
    let fields = desk.store().fields().await?;
    let values = ValueReader::new(desk, &fields);

    // The categories to load follow from the species, and these need no categories.
    let reader = LineReader {
        categories: &[],
        values,
    };
    let mut species_without_category = BTreeSet::new();
    for line in paste::read(text, form, reader).lines {
        species_without_category.extend(line.species);
    }

    let mut category_names: Vec<&str> = text.cells().map(String::as_str).collect();
    for species in &species_without_category {
        category_names.push(&species.label);
    }
    let mut categories = desk.load_categories_by_names(category_names).await?;
    let new_categories =
        add_categories_of_species(desk, &species_without_category, &fields, &mut categories)
            .await?;

    let reader = LineReader {
        categories: &categories,
        values,
    };
    let mut pet_table = paste::read(text, form, reader);
    reject_unused_categories(desk, &mut pet_table, &categories).await?;
    Ok(Import {
        pet_table,
        fields,
        categories,
        new_categories,
    })
}

/// Adds a category for each species whose label does not name a category yet, so that its lines find a category.
///
/// Returns the categories that the store does not have yet.
async fn add_categories_of_species(
    desk: &Desk<'_>,
    all_species: &BTreeSet<Species>,
    fields: &FieldSet,
    categories: &mut Vec<Category>,
) -> Result<Vec<Category>, StoreError> {
    let mut new_categories = Vec::new();
    let mut last_used = 0;
    for species in all_species {
        let schema = PetSchema { categories, fields };
        match choose_for_species(desk, species, schema, last_used).await? {
            SpeciesCategory::Usual { id, label } => {
                // The page shows the first category with this number, which is the one with its own name.
                categories.extend(desk.load_category(id).await?);
                categories.push(Category {
                    id,
                    label,
                    version: 1,
                });
            }
            SpeciesCategory::New { id, label } => {
                let category = Category {
                    id,
                    label,
                    version: 0,
                };
                categories.push(category.clone());
                new_categories.push(category);
                last_used = id;
            }
            SpeciesCategory::Named | SpeciesCategory::NoFreeNumber => {}
        }
    }
    Ok(new_categories)
}

/// Turns a line into an error if its category is a number that neither a category nor an animal has.
async fn reject_unused_categories(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    categories: &[Category],
) -> Result<(), StoreError> {
    let mut usage_by_id = HashMap::new();
    for line in &mut pet_table.lines {
        let Ok(PastedPet { pet, .. }) = &line.result else {
            continue;
        };
        let id = pet.category_id;
        let is_used = match usage_by_id.entry(id) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let is_named = categories.iter().any(|category| category.id == id);
                *entry.insert(is_named || desk.is_category_number_used(id).await?)
            }
        };
        if !is_used {
            line.result = Err(vec![texts().no_category(id)]);
        }
    }
    Ok(())
}

/// Turns a line into an error if an animal or an earlier line has the same value of a unique field.
async fn reject_taken_values(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    fields: &FieldSet,
) -> Result<(), ApiError> {
    let mut keys_of_earlier_lines = HashSet::new();
    for line in &mut pet_table.lines {
        let Ok(PastedPet { fields: patch, .. }) = &line.result else {
            continue;
        };
        let mut messages = Vec::new();
        for field in fields.all() {
            let Some(RequestedValue::Set(value)) = patch.get(field.name.as_str()) else {
                continue;
            };
            let Some(key) = fields.unique_key(field.name.as_str(), value) else {
                continue;
            };

            let owners = desk.store().owners(key.clone()).await?;
            let mut owner_name = match owners.first() {
                Some(owner) => pet_name(desk, *owner).await?,
                None => None,
            };
            let is_first_line = keys_of_earlier_lines.insert(key);
            if owner_name.is_none() && !is_first_line {
                owner_name = Some(texts().other_new.to_owned());
            }
            if let Some(owner_name) = owner_name {
                messages.push(texts().value_taken(&values::label_of(field), &owner_name));
            }
        }
        if !messages.is_empty() {
            line.result = Err(messages);
        }
    }
    Ok(())
}

/// Returns how a message names an animal, if the store has the animal.
async fn pet_name(desk: &Desk<'_>, id: PetId) -> Result<Option<String>, StoreError> {
    let pet = desk.store().get_store_pet(id).await?;
    Ok(pet.map(|pet| called(&pet)))
}

/// Shows the animals that the submitted lines would add. Changes nothing.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = PastedText::read(desk, &desk.visit.form).await?;
    preview_lines(desk, &text, &desk.visit.form, 0).await
}

/// Shows a preview of the lines in a form, or the form again if no line can be added.
///
/// `added_count` is the number of animals of earlier lines that were just added.
async fn preview_lines(
    desk: &Desk<'_>,
    text: &PastedText,
    form: &Form,
    added_count: usize,
) -> Result<Reply, ApiError> {
    let mut import = read_import(desk, text, form).await?;
    reject_taken_values(desk, &mut import.pet_table, &import.fields).await?;

    let mut errors = Errors::default();
    let has_no_lines = import.pet_table.lines.is_empty();
    if let Some(problem) = text.problem() {
        errors.add("lines", problem);
    } else if has_no_lines {
        errors.add("lines", texts().nothing_pasted);
    }
    if added_count == 0 && has_no_lines {
        return Ok(page(desk, form, import.schema(), &errors).into());
    }
    let preview = ImportPreview {
        form,
        pet_table: &import.pet_table,
        schema: import.schema(),
        added_count,
    };
    Ok(show_preview(desk, &preview, &errors).into())
}

/// Adds the animals of the first lines in one transaction. A preview of the lines after these follows.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let mut import = read_import(desk, &text, form).await?;
    if has_estimated_births(&import.pet_table) {
        with_birth_estimate(desk, import.fields).await?;
        import = read_import(desk, &text, form).await?;
    }
    let pet_table = &import.pet_table;
    let Some(commands) = add_commands(&import) else {
        // For example, a category was renamed since the preview.
        return preview_lines(desk, &text, form, 0).await;
    };

    let preview = ImportPreview {
        form,
        pet_table,
        schema: import.schema(),
        added_count: 0,
    };
    let left_out_headings = pet_table.left_out_headings();
    let confirmation = texts().left_out(&left_out_headings);
    if !left_out_headings.is_empty() && form.raw("left-out") != confirmation {
        let errors = Errors::for_field("left-out", texts().leave_out_first);
        return Ok(show_preview(desk, &preview, &errors).into());
    }

    match desk.execute(commands).await? {
        Ok(flash) => {
            desk.store().note_step(FirstStep::Import).await?;
            if pet_table.remaining_count > 0 {
                preview_remaining_lines(desk, pet_table).await
            } else {
                Ok(redirect_to_added_pets(pet_table, flash))
            }
        }
        Err(not_done) => {
            let errors = Errors::from_text(&message_about_line(pet_table, &not_done));
            Ok(show_preview(desk, &preview, &errors).into())
        }
    }
}

/// Whether a line has an age, a year or a month in place of a day of birth.
fn has_estimated_births(pet_table: &PetTable) -> bool {
    let mut pets = pet_table
        .lines
        .iter()
        .filter_map(|line| line.result.as_ref().ok());
    pets.any(|pet| pet.is_birth_estimated)
}

/// Returns the commands that add the animals of all lines, and their new categories.
///
/// Returns `None` if a line or a column has an error, or if there are no lines.
fn add_commands(import: &Import) -> Option<Vec<Command>> {
    let pet_table = &import.pet_table;
    if pet_table.lines.is_empty() || !pet_table.column_errors.is_empty() {
        return None;
    }

    let mut commands = Vec::new();
    for line in &pet_table.lines {
        let PastedPet { pet, fields, .. } = line.result.clone().ok()?;
        commands.push(Command::AddPet(pet, fields, Vec::new()));
    }
    for category in &import.new_categories {
        commands.push(Command::PutCategory {
            id: category.id,
            label: category.label.clone(),
            preconditions: Preconditions::ABSENT,
        });
    }
    Some(commands)
}

/// Shows a preview of the lines after the lines that were just added. Their columns have the same meanings.
async fn preview_remaining_lines(desk: &Desk<'_>, pet_table: &PetTable) -> Result<Reply, ApiError> {
    let mut inputs = vec![("lines".to_owned(), pet_table.remaining_text.clone())];
    for (name, value) in desk.visit.form.fields() {
        if name.starts_with(COLUMN_INPUT_PREFIX)
            || [HEADINGS_INPUT, SEPARATOR_INPUT].contains(&&**name)
        {
            inputs.push((name.clone(), value.clone()));
        }
    }
    let next_form: Form = inputs.into_iter().collect();
    let text = PastedText::read(desk, &next_form).await?;
    preview_lines(desk, &text, &next_form, pet_table.lines.len()).await
}

/// Redirects to the page of the added animal, or to the list if there are several.
fn redirect_to_added_pets(pet_table: &PetTable, flash: Flash) -> Reply {
    if flash.code == "added" {
        return Reply::See(format!("/animals/{}", flash.id), Some(flash));
    }
    let has_sold_pet = pet_table.lines.iter().any(|line| match &line.result {
        Ok(PastedPet { pet, .. }) => pet.status == PetStatus::Sold,
        Err(_) => false,
    });
    // The list begins with the newest animals, and shows sold ones only if it is asked for them.
    let path = if has_sold_pet {
        "/animals?status=all"
    } else {
        "/animals"
    };
    Reply::See(path.to_owned(), Some(flash))
}

/// Returns the message about commands that were not carried out, with the number of the line that is the reason.
fn message_about_line(pet_table: &PetTable, not_done: &NotDone) -> String {
    let line = not_done.index.and_then(|index| pet_table.lines.get(index));
    match line {
        Some(line) => texts().on_line(line.number, &not_done.why),
        None => not_done.why.clone(),
    }
}
