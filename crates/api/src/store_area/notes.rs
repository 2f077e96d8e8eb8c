//! The operations on the notes of animals.

use petstore_domain::{
    PetId, Problem, Scope,
    store_area::{Command, NoteEdit, NoteEditor, NoteId, NoteText, PetNote, Preconditions},
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    cursor::{self, Walk},
    members::{Body, bodies},
    page::{self, ElementRenderer},
    preconditions,
    shared::StoreArea,
    subjects, wire,
    write::Write,
};
use crate::{context::Call, query};

bodies! {
    AddNote: text;
    PatchNote: text;
}

/// The body of `addNote`.
pub(super) struct AddNote {
    text: NoteText,
}

/// The body of `patchNote`.
pub(super) struct PatchNote {
    text: Option<NoteText>,
}

/// Lists the notes on an animal: `GET /v1/store/pets/{petId}/notes`.
pub(crate) async fn list_notes(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::parse_limit(limit.as_ref())?;
    let pet = subjects::pet_id_in_path(parameter)?;
    let walk = Walk::new(cursor::NOTES, &[Some(&pet.to_string())]);
    let after = walk.id_before_page(cursor.as_deref(), NoteId::new)?;
    subjects::find_pet(area, pet).await?;

    let (notes, last_id) = area.app.store.list_notes(pet, after, limit).await?;
    let path = format!("/store/pets/{pet}/notes");
    let next =
        last_id.and_then(|id| page::next_link(area, &path, limit, &[], &walk.encode_id(id.get())));
    let renderer: ElementRenderer<PetNote> = ElementRenderer {
        texts_length: PetNote::length,
        write: json::write_note,
    };
    page::respond(area, request, notes, renderer, next).await
}

/// Adds a note: `POST /v1/store/pets/{petId}/notes`.
pub(crate) async fn add_note(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read(area, call, Some(Accepted::Json)).await?;
    let AddNote { text } = write.members(AddNote::NAMES)?.read()?;
    let command = Command::AddNote {
        pet_id: write.pet_id()?,
        text,
        author: write.caller.actor(),
    };
    write.execute(area, command, wire::created_result).await
}

/// Reads a note: `GET /v1/store/pets/{petId}/notes/{noteId}`.
pub(crate) async fn get_note(
    area: &StoreArea,
    Call {
        request,
        parameter,
        second_parameter,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let (pet_id, id) = ids_in_path(parameter, second_parameter)?;
    let stored_note = area.app.store.get_note(id).await?;
    let note = stored_note
        .filter(|note| note.pet_id == pet_id)
        .ok_or_else(no_note)?;
    let body = wire::render(|out| json::write_note(out, &note));
    wire::respond_with_body(area, request, body, note.version)
}

/// Corrects a note: `PATCH /v1/store/pets/{petId}/notes/{noteId}`.
pub(crate) async fn patch_note(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let PatchNote { text } = write.members(PatchNote::NAMES)?.read()?;
    let edit = note_edit(&write, preconditions)?;
    let command = Command::PatchNote { edit, text };
    write.execute(area, command, wire::first_result).await
}

/// Deletes a note: `DELETE /v1/store/pets/{petId}/notes/{noteId}`.
pub(crate) async fn delete_note(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let edit = note_edit(&write, preconditions)?;
    let command = Command::DeleteNote(edit);
    write.execute(area, command, wire::first_result).await
}

/// Returns which note a request changes or deletes, who does so, and under which preconditions.
fn note_edit(write: &Write<'_>, preconditions: Preconditions) -> Result<NoteEdit, ApiError> {
    let (pet_id, id) = ids_in_path(write.parameter, write.second_parameter)?;
    Ok(NoteEdit {
        id,
        pet_id,
        editor: note_editor(write),
        preconditions,
    })
}

/// Returns the caller as the editor of a note. A key with the scope for administration may change every
/// note; other keys may change only their own.
fn note_editor(write: &Write<'_>) -> NoteEditor {
    if write.caller.may(Scope::StoreAdmin) {
        NoteEditor::Manager
    } else {
        NoteEditor::Author(write.caller.actor().actor)
    }
}

/// Parses the ids of an animal and its note from the path. Fails with 404 if one cannot exist.
fn ids_in_path(pet: &str, note: &str) -> Result<(PetId, NoteId), ApiError> {
    let pet_id = subjects::pet_id_in_path(pet)?;
    let note_id = query::path_integer(note).and_then(NoteId::new);
    Ok((pet_id, note_id.ok_or_else(no_note)?))
}

/// Returns the 404 for a note.
fn no_note() -> ApiError {
    ApiError::new(Problem::NotFound, "The animal has no note with this id.")
}
