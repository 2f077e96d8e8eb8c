//! Adds many animals at once, from lines that a member pastes from a spreadsheet.
//!
//! A preview shows first how the lines are read. The form of the preview carries the pasted text,
//! so each step parses it again.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use petstore_domain::{
    PetId, PetStatus,
    store_area::{Category, Command, FieldSet, FirstStep, Preconditions, RequestedValue},
};

use super::{
    add_one::page,
    birth_estimate::ensure_birth_estimate_field,
    category_choice::{Species, SpeciesCategory, choose_for_species},
    commands::{CommandFailure, name_with_number},
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

/// The pasted lines, parsed into animals, with the categories and fields that were used to parse
/// them.
struct Import {
    pet_table: PetTable,
    fields: FieldSet,
    /// The categories that the lines can refer to: existing ones, and the ones in `new_categories`.
    categories: Vec<Category>,
    /// The categories that are added together with the animals, one for each species without a
    /// category.
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

/// Parses the pasted lines, and chooses a category for each line that has a species but no
/// category.
///
/// A line gets an error if its category is a number that is not in use.
async fn read_import(desk: &Desk<'_>, text: &PastedText, form: &Form) -> Result<Import, ApiError> {
    let fields = desk.store().fields().await?;
    let values = ValueReader::new(desk, &fields);

    // The first pass only collects the species, to know which categories to load. It needs no
    // categories itself.
    let species_reader = LineReader {
        categories: &[],
        values,
    };
    let mut species_without_category = BTreeSet::new();
    for line in paste::read_pet_table(text, form, species_reader).lines {
        species_without_category.extend(line.species);
    }

    // Any cell can be the name of a category, because the meanings of the columns are not known
    // here.
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
    let mut pet_table = paste::read_pet_table(text, form, reader);
    reject_unused_categories(desk, &mut pet_table, &categories).await?;
    Ok(Import {
        pet_table,
        fields,
        categories,
        new_categories,
    })
}

/// Adds an entry to `categories` for each species whose label does not name a category yet, so that
/// the lines with this species find a category by its label.
///
/// Returns the categories that must be added to the store.
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
                // The stored category comes first, because the page shows the first name of a
                // number. The second entry is only an alias for the label of the species.
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
                last_new_id = id;
            }
            SpeciesCategory::Named | SpeciesCategory::NoFreeNumber => {}
        }
    }
    Ok(new_categories)
}

/// Replaces the animal of a line by an error if its category is a number that neither a category
/// nor an animal has.
///
/// Such a number is probably a typing error.
async fn reject_unused_categories(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    categories: &[Category],
) -> Result<(), StoreError> {
    let mut is_used_by_id = HashMap::new();
    for line in &mut pet_table.lines {
        let Ok(PastedPet { pet, .. }) = &line.result else {
            continue;
        };
        let id = pet.category_id;
        let is_used = match is_used_by_id.entry(id) {
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

/// Replaces the animal of a line by an error if an animal in the store or an earlier line has the
/// same value of a unique field, such as a microchip.
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
            let is_first_use = keys_of_earlier_lines.insert(key);
            if owner_name.is_none() && !is_first_use {
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

/// Returns how messages name an animal; `None` if the store does not have it.
async fn pet_name(desk: &Desk<'_>, id: PetId) -> Result<Option<String>, StoreError> {
    let pet = desk.store().get_store_pet(id).await?;
    Ok(pet.map(|pet| name_with_number(&pet)))
}

/// Handles `POST /add/preview`: shows the animals that the pasted lines would add, without adding
/// them.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = PastedText::read(desk, &desk.visit.form).await?;
    preview_lines(desk, &text, &desk.visit.form, 0).await
}

/// Renders the preview of the pasted lines, or the form for new animals with an error if there are
/// no lines.
///
/// `added_count` is the number of animals that were just added from the lines before these. If
/// there are any, the preview is shown even without further lines, because it says how many were
/// added.
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

/// Handles `POST /add/many`: adds the animals of the lines in the preview in one transaction.
///
/// Longer pastes are added in several steps: if lines remain, the response is the preview of the
/// next ones. If a line or a column has an error, for example because a category was renamed since
/// the preview, nothing is added, and the preview is shown again.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let mut import = read_import(desk, &text, form).await?;
    if has_estimated_births(&import.pet_table) {
        // The lines are parsed again, now with the field that marks the estimated days of birth.
        ensure_birth_estimate_field(desk, import.fields).await?;
        import = read_import(desk, &text, form).await?;
    }
    let pet_table = &import.pet_table;
    let Some(commands) = add_commands(&import) else {
        return preview_lines(desk, &text, form, 0).await;
    };

    let preview = ImportPreview {
        form,
        pet_table,
        schema: import.schema(),
        added_count: 0,
    };
    if needs_confirmation(pet_table, form) {
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
        Err(failure) => {
            let errors = Errors::from_text(&message_with_line(pet_table, &failure));
            Ok(show_preview(desk, &preview, &errors).into())
        }
    }
}

/// Whether the member has not yet confirmed that columns with content are left out.
///
/// The confirmation names the columns. If other columns are left out now, it is not valid any more.
fn needs_confirmation(pet_table: &PetTable, form: &Form) -> bool {
    let left_out_headings = pet_table.left_out_headings();
    let confirmation = texts().left_out(&left_out_headings);
    !left_out_headings.is_empty() && form.raw("left-out") != confirmation
}

/// Whether any line has an age, a year or a month instead of an exact day of birth.
fn has_estimated_births(pet_table: &PetTable) -> bool {
    pet_table
        .lines
        .iter()
        .filter_map(|line| line.result.as_ref().ok())
        .any(|pet| pet.is_birth_estimated)
}

/// Returns the commands that add the animals of all lines and the new categories.
///
/// Returns `None` if a line or a column has an error, or if there are no lines: either all animals
/// are added, or none.
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

/// Renders the preview of the next lines, after the ones that were just added.
///
/// The choices for the table stay: the meanings of its columns, whether it has headings, and its
/// separator.
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

/// Redirects to the page of the added animal, or to the list if several animals were added.
fn redirect_to_added_pets(pet_table: &PetTable, flash: Flash) -> Reply {
    if flash.code == "added" {
        return Reply::Redirect(format!("/animals/{}", flash.id), Some(flash));
    }
    let has_sold_pet = pet_table.lines.iter().any(|line| match &line.result {
        Ok(PastedPet { pet, .. }) => pet.status == PetStatus::Sold,
        Err(_) => false,
    });
    // The list hides sold animals by default. The added ones are at its top, because it begins with
    // the newest.
    let path = if has_sold_pet {
        "/animals?status=all"
    } else {
        "/animals"
    };
    Reply::Redirect(path.to_owned(), Some(flash))
}

/// Returns the message of a failure, with the number of the line that caused it.
///
/// The commands of the animals come first and are in the order of the lines, so the index of a
/// command is the index of its line.
fn message_with_line(pet_table: &PetTable, failure: &CommandFailure) -> String {
    let line = failure.index.and_then(|index| pet_table.lines.get(index));
    match line {
        Some(line) => texts().on_line(line.number, &failure.message),
        None => failure.message.clone(),
    }
}
