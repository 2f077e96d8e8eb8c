//! Adds many animals at once, from lines that a member pastes from a spreadsheet.
//!
//! A preview first shows how the lines are parsed. The server does not store the pasted text: the
//! form of the preview carries it, so each step parses it again.

use petstore_domain::{
    PetStatus,
    store_area::{Command, FirstStep, Preconditions},
};

use super::{
    add_one::add_page,
    birth_estimate::ensure_birth_estimate_field,
    commands::CommandFailure,
    import_preview::show_preview,
    paste::{PastedPet, PetTable},
    pasted_columns::COLUMN_INPUT_PREFIX,
    pasted_import::{Import, read_import, reject_taken_values},
    pasted_text::{HEADINGS_INPUT, LEFT_OUT_INPUT, LINES_INPUT, PastedText, SEPARATOR_INPUT},
    preview_forms::ImportPreview,
};
use crate::{prelude::*, reply::Flash};

/// The number of added animals in a preview that does not follow an addition.
const NONE_ADDED: usize = 0;

/// Handles `POST /add/preview`: shows the animals that the pasted lines would add, but adds
/// nothing.
pub(super) async fn preview(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let import = read_import(desk, &text, form).await?;
    show_preview_or_form(desk, &text, form, import).await
}

/// Shows the preview of the pasted lines. Without lines, shows the form for new animals with an
/// error instead.
async fn show_preview_or_form(
    desk: &Desk<'_>,
    text: &PastedText,
    form: &Form,
    mut import: Import,
) -> Result<Reply, ApiError> {
    reject_taken_values(desk, &mut import.pet_table, &import.fields).await?;
    let errors = errors_of_text(text, &import.pet_table);
    if import.pet_table.lines.is_empty() {
        return Ok(add_page(desk, form, import.schema(), &errors).into());
    }
    let preview = preview_of(&import, form, NONE_ADDED);
    Ok(show_preview(desk, &preview, &errors).into())
}

/// Returns what the preview of an import shows. `added_count` is the number of animals from earlier
/// lines that were just added.
fn preview_of<'p>(import: &'p Import, form: &'p Form, added_count: usize) -> ImportPreview<'p> {
    ImportPreview {
        form,
        pet_table: &import.pet_table,
        schema: import.schema(),
        added_count,
    }
}

/// Returns the error if the pasted text cannot be read as a table, or has no lines with animals.
fn errors_of_text(text: &PastedText, pet_table: &PetTable) -> Errors {
    let mut errors = Errors::default();
    if let Some(problem) = text.problem() {
        errors.add(LINES_INPUT, problem);
    } else if pet_table.lines.is_empty() {
        errors.add(LINES_INPUT, texts().nothing_pasted);
    }
    errors
}

/// Handles `POST /add/many`: adds the animals of the lines in the preview in one transaction.
///
/// If a line or a column has an error, nothing is added, and the preview is shown again. This can
/// happen although the preview had no error, for example if a category was renamed in the meantime.
pub(super) async fn add_many(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let text = PastedText::read(desk, form).await?;
    let mut import = read_import(desk, &text, form).await?;
    if import.has_estimated_births() {
        // The second parse uses the field for estimates, which the store may not have had before.
        ensure_birth_estimate_field(desk, import.fields).await?;
        import = read_import(desk, &text, form).await?;
    }
    match commands_for_import(&import) {
        Some(commands) => execute_import(desk, &import, commands).await,
        None => show_preview_or_form(desk, &text, form, import).await,
    }
}

/// Executes the commands of an import.
///
/// Shows the preview again with an error if the commands fail, or if the member must first confirm
/// that columns are left out. A long paste is added in several steps: if lines remain, the response
/// is the preview of the next ones.
async fn execute_import(
    desk: &Desk<'_>,
    import: &Import,
    commands: Vec<Command>,
) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let pet_table = &import.pet_table;
    let preview = preview_of(import, form, NONE_ADDED);
    if needs_confirmation(pet_table, form) {
        let errors = Errors::for_field(LEFT_OUT_INPUT, texts().leave_out_first);
        return Ok(show_preview(desk, &preview, &errors).into());
    }

    match desk.execute(commands).await? {
        Ok(flash) => {
            desk.store().note_step(FirstStep::Import).await?;
            if pet_table.remaining_count > 0 {
                show_next_preview(desk, pet_table).await
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
/// The submitted confirmation is the sentence that the checkbox showed. The sentence has the
/// headings of the columns, so a confirmation for other columns does not count.
fn needs_confirmation(pet_table: &PetTable, form: &Form) -> bool {
    let left_out_headings = pet_table.left_out_headings();
    if left_out_headings.is_empty() {
        return false;
    }
    form.raw(LEFT_OUT_INPUT) != texts().left_out(&left_out_headings)
}

/// Returns the commands that add the animals of all lines and the new categories.
///
/// Returns `None` if a line or a column has an error, or if there are no lines. The lines without
/// errors are not added either, so that the member can correct the paste as a whole.
fn commands_for_import(import: &Import) -> Option<Vec<Command>> {
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

/// Shows the preview of the lines that follow the ones that were just added. It is shown even
/// without lines, because it reports how many animals were added.
///
/// The member's choices for the table stay the same: the meanings of the columns, whether the first
/// line has headings, and the separator.
async fn show_next_preview(desk: &Desk<'_>, added_table: &PetTable) -> Result<Reply, ApiError> {
    let mut inputs = vec![(LINES_INPUT.to_owned(), added_table.remaining_text.clone())];
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
    let mut import = read_import(desk, &text, &next_form).await?;
    reject_taken_values(desk, &mut import.pet_table, &import.fields).await?;
    let preview = preview_of(&import, &next_form, added_table.lines.len());
    let errors = errors_of_text(&text, &import.pet_table);
    Ok(show_preview(desk, &preview, &errors).into())
}

/// Redirects to the page of the added animal, or to the list if several animals were added.
fn redirect_to_added_pets(pet_table: &PetTable, flash: Flash) -> Reply {
    // This code means exactly one added animal, whose number is `flash.id`.
    let has_added_one = flash.code == "added";
    if has_added_one {
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
/// The index of a command is the index of its line, because [`commands_for_import`] puts the
/// animals first, in the order of the lines.
fn message_with_line(pet_table: &PetTable, failure: &CommandFailure) -> String {
    let failed_line = failure.index.and_then(|index| pet_table.lines.get(index));
    match failed_line {
        Some(line) => texts().on_line(line.number, &failure.message),
        None => failure.message.clone(),
    }
}
