//! The operations on the notes of animals.

use petstore_domain::{
    PetId, Problem, Scope,
    store_area::{Command, NoteEdit, NoteEditor, NoteId, NoteText, PetNote},
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    cursor::{self, Walk},
    members::{Body, bodies},
    page::{self, Element},
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
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

/// Lists the notes on an animal: `GET /v1/store/pets/{petId}/notes`, a page with a link to the next one.
pub(crate) async fn list_notes(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::limit(limit.as_ref())?;
    let pet = write::pet_id(query::path_integer(parameter))?;
    let pet_number = pet.to_string();
    let walk = Walk::new(cursor::NOTES, &[Some(&pet_number)]);
    let mut after = None;
    if let Some(cursor) = cursor {
        let (_, id) = walk.decode(&cursor)?;
        after = Some(NoteId::new(id).ok_or_else(cursor::invalid)?);
    }
    let store = &area.app.store;
    store.get_store_pet(pet).await?.ok_or_else(write::no_pet)?;

    let (notes, next) = store.list_notes(pet, after, limit).await?;
    let path = format!("/store/pets/{pet}/notes");
    let next =
        next.and_then(|id| page::next_link(area, &path, limit, &[], &walk.encode("", id.get())));
    let element: Element<PetNote> = Element {
        length: PetNote::length,
        write: json::write_note,
    };
    page::respond(area, request, notes, element, next).await
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
        second,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let (pet, id) = ids(parameter, second)?;
    let note = area.app.store.get_note(id).await?;
    let note = note.filter(|note| note.pet_id == pet).ok_or_else(no_note)?;
    let body = wire::render(|out| json::write_note(out, &note));
    wire::respond_with(area, request, body, note.version)
}

/// Corrects a note: `PATCH /v1/store/pets/{petId}/notes/{noteId}`.
pub(crate) async fn patch_note(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let PatchNote { text } = write.members(PatchNote::NAMES)?.read()?;
    let (pet_id, id) = ids(write.parameter, write.second)?;
    let edit = NoteEdit {
        id,
        pet_id,
        editor: editor(&write),
        preconditions,
    };
    let command = Command::PatchNote { edit, text };
    write.execute(area, command, wire::first_result).await
}

/// Deletes a note: `DELETE /v1/store/pets/{petId}/notes/{noteId}`.
pub(crate) async fn delete_note(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, None).await?;
    let (pet_id, id) = ids(write.parameter, write.second)?;
    let edit = NoteEdit {
        id,
        pet_id,
        editor: editor(&write),
        preconditions,
    };
    let command = Command::DeleteNote(edit);
    write.execute(area, command, wire::first_result).await
}

/// Returns the caller as the one who changes a note: a key for administration may change every note.
fn editor(write: &Write<'_>) -> NoteEditor {
    if write.caller.may(Scope::StoreAdmin) {
        NoteEditor::Manager
    } else {
        NoteEditor::Author(write.caller.actor().actor)
    }
}

/// Returns the identifiers in the path. Fails with 404 if nothing can have them.
fn ids(pet: &str, note: &str) -> Result<(PetId, NoteId), ApiError> {
    let pet = write::pet_id(query::path_integer(pet))?;
    let note = query::path_integer(note).and_then(NoteId::new);
    Ok((pet, note.ok_or_else(no_note)?))
}

fn no_note() -> ApiError {
    ApiError::new(Problem::NotFound, "The animal has no note with this id.")
}
