//! The rules for adding, changing and deleting notes.

use jiff::Timestamp;

use super::{
    ChangeType, Decision, NoteEdit, NoteText, PetNote, PresentState, Refusal,
    shared_rules::{NO_PET, require_preconditions, require_subject},
};
use crate::{NamedActor, PetId};

/// The message about a note that does not exist.
const NO_NOTE: &str = "The animal has no note with this id.";

/// Decides how a note is added. A withdrawn animal can also get notes, for example when its new
/// owner calls later.
pub(super) fn add_note(
    pet_id: PetId,
    text: &NoteText,
    author: &NamedActor,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    require_subject(present.pet.as_ref(), NO_PET)?;
    if present.note_count >= PetNote::MAX_COUNT {
        return Err(Refusal::TooManyNotes);
    }
    let id = present.next_note.ok_or(Refusal::NoIdentifierLeft)?;
    let note = PetNote {
        id,
        pet_id,
        author: author.clone(),
        created_at: now,
        updated_at: now,
        version: 1,
        text: text.clone(),
    };
    Ok(Decision::new(ChangeType::NoteAdded, None, note))
}

/// Decides how the text of a note is changed.
pub(super) fn patch_note(
    edit: &NoteEdit,
    text: Option<&NoteText>,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let note = require_editable_note(edit, present)?;
    let new_text = match text {
        Some(text) if *text != note.text => text,
        _ => return Ok(Decision::without_change(note)),
    };
    let after = PetNote {
        text: new_text.clone(),
        version: note.version + 1,
        updated_at: now,
        ..note.clone()
    };
    Ok(Decision::new(ChangeType::NoteChanged, Some(note), after))
}

/// Decides how a note is permanently deleted.
pub(super) fn delete_note(edit: &NoteEdit, present: &PresentState) -> Result<Decision, Refusal> {
    let note = require_editable_note(edit, present)?;
    Ok(Decision::deletion(ChangeType::NoteDeleted, note))
}

/// Returns the note that an edit is about. Refuses the edit if the note does not belong to the
/// animal, the editor may not change the note, or a precondition fails.
fn require_editable_note<'p>(
    edit: &NoteEdit,
    present: &'p PresentState,
) -> Result<&'p PetNote, Refusal> {
    let note = require_subject(present.note.as_ref(), NO_NOTE)?;
    if note.pet_id != edit.pet_id {
        return Err(Refusal::NotFound(NO_NOTE));
    }
    if !edit.editor.may_change(note) {
        return Err(Refusal::NoteOfAnotherAuthor);
    }
    require_preconditions(&edit.preconditions, Some(note))?;
    Ok(note)
}
