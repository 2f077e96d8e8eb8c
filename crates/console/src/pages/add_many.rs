//! Adds many animals at once, from lines that a member pastes from a spreadsheet.
//!
//! A preview first shows how the lines are parsed. The server does not store the pasted text: the
//! form of the preview carries it, so each step parses it again.

use std::collections::{BTreeSet, HashMap, HashSet, hash_map::Entry};

use petstore_domain::{
    PetStatus,
    store_area::{
        Category, Command, FieldSet, FirstStep, Preconditions, RequestedValue, UniqueKey,
    },
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
    /// The categories to which the lines can refer: existing ones, and `new_categories`.
    categories: Vec<Category>,
    /// The categories that are added together with the animals: one for each species that has no
    /// category yet.
    new_categories: Vec<Category>,
}

impl Import {
    /// Returns the categories and fields that the preview shows.
    fn schema(&self) -> PetSchema<'_> {
        PetSchema {
            categories: &self.categories,
            fields: &self.fields,
        }
    }
}

/// Parses the pasted lines. A line that has a species but no category gets the category of the
/// species.
///
/// A line whose category is an unused number gets an error.
async fn read_import(desk: &Desk<'_>, text: &PastedText, form: &Form) -> Result<Import, ApiError> {
    let fields = desk.store().fields().await?;
    let values = ValueReader::new(desk, &fields);

    // The first pass only collects the species, which determine the categories to load.
    let species_reader = LineReader {
        categories: &[],
        values,
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

/// Adds an entry with the label of each species to `categories`, unless it has one, because a line
/// without a category looks up its species there.
///
/// Returns the categories that must be added to the store. The versions of the added entries are
/// placeholders, because only their numbers and labels are used.
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
                // The name of this category differs from the label, so the second entry adds the label
                // as an alias. The stored entry comes first, because pages show the first name that
                // they find for a number.
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

/// Sets an error on each line that has a taken value of a unique field, such as a microchip. A value
/// is taken if an animal in the store or on an earlier line has it.
async fn reject_taken_values(
    desk: &Desk<'_>,
    pet_table: &mut PetTable,
    fields: &FieldSet,
) -> Result<(), ApiError> {
    let mut earlier_keys = HashSet::new();
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

            let mut owner_name = find_owner_name(desk, key.clone()).await?;
            let is_on_earlier_line = !earlier_keys.insert(key);
            if owner_name.is_none() && is_on_earlier_line {
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

/// Finds the animal in the store that has a unique value. Returns its name and number for a message;
/// `None` if no animal has the value.
async fn find_owner_name(desk: &Desk<'_>, key: UniqueKey) -> Result<Option<String>, StoreError> {
    let owners = desk.store().owners(key).await?;
    let Some(&owner_id) = owners.first() else {
        return Ok(None);
    };
    let owner = desk.store().get_store_pet(owner_id).await?;
    Ok(owner.map(|pet| name_with_number(&pet)))
}

/// Handles `POST /add/preview`: shows the animals that the pasted lines would add, but adds nothing.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = PastedText::read(desk, &desk.visit.form).await?;
    preview_lines(desk, &text, &desk.visit.form, 0).await
}

/// Renders the preview of the pasted lines. Without lines, renders the form for new animals with an
/// error instead.
///
/// `added_count` is the number of animals that were just added from earlier lines. If it is not 0,
/// the preview is shown even without lines, because it reports this number.
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
/// A long paste is added in several steps: if lines remain, the response is the preview of the next
/// ones. If a line or a column has an error, nothing is added, and the preview is shown again. This
/// can happen although the preview had no error, for example if a category was renamed in the meantime.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let mut import = read_import(desk, &text, form).await?;
    if has_estimated_births(&import.pet_table) {
        // The second parse uses the field for estimates, which the store may not have had before.
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

/// Whether the member must still confirm that columns with content are left out.
///
/// The submitted confirmation is the sentence that the checkbox showed, with the headings of the given
/// columns. So it is not valid for other columns.
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
/// Returns `None` if a line or a column has an error, or if there are no lines. The lines without
/// errors are not added either, so that the member can correct the paste as a whole.
fn add_commands(import: &Import) -> Option<Vec<Command>> {
    let pet_table = &import.pet_table;
    if pet_table.lines.is_empty() || !pet_table.column_errors.is_empty() {
        return None;
    }

    // The animals come first, because `message_with_line` uses the index of a command as the index
    // of a line.
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

/// Renders the preview of the lines that follow the ones that were just added.
///
/// The member's choices for the table stay the same: the meanings of the columns, whether the first
/// line has headings, and the separator.
async fn preview_remaining_lines(desk: &Desk<'_>, pet_table: &PetTable) -> Result<Reply, ApiError> {
    let mut inputs = vec![("lines".to_owned(), pet_table.remaining_text.clone())];
    for (name, value) in desk.visit.form.fields() {
        let is_table_choice = name.starts_with(COLUMN_INPUT_PREFIX)
            || name == HEADINGS_INPUT
            || name == SEPARATOR_INPUT;
        if is_table_choice {
            inputs.push((name.clone(), value.clone()));
        }
    }
    let next_form: Form = inputs.into_iter().collect();
    let text = PastedText::read(desk, &next_form).await?;
    preview_lines(desk, &text, &next_form, pet_table.lines.len()).await
}

/// Redirects to the page of the added animal, or to the list if several animals were added.
fn redirect_to_added_pets(pet_table: &PetTable, flash: Flash) -> Reply {
    // The code for exactly one added animal, whose number is `flash.id`.
    if flash.code == "added" {
        return Reply::Redirect(format!("/animals/{}", flash.id), Some(flash));
    }
    let has_sold_pet = pet_table.lines.iter().any(|line| {
        let result = line.result.as_ref();
        result.is_ok_and(|pasted_pet| pasted_pet.pet.status == PetStatus::Sold)
    });
    // The list hides sold animals by default, so it must show all statuses to include them. The
    // added animals are at the top, because the newest come first.
    let path = if has_sold_pet {
        "/animals?status=all"
    } else {
        "/animals"
    };
    Reply::Redirect(path.to_owned(), Some(flash))
}

/// Returns the message of a failure, with the number of the line that caused it.
///
/// The index of a command is the index of its line, because [`add_commands`] puts the animals first,
/// in the order of the lines.
fn message_with_line(pet_table: &PetTable, failure: &CommandFailure) -> String {
    let line = failure.index.and_then(|index| pet_table.lines.get(index));
    match line {
        Some(line) => texts().on_line(line.number, &failure.message),
        None => failure.message.clone(),
    }
}
