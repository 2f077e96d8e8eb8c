//! Renders the notes on an animal, as its page shows them.

use petstore_domain::{
    PetId, Role,
    store_area::{ChangeType, JournalEntry, NoteEditor, PetNote},
};

use crate::prelude::*;

/// The name of the input for the text of a note.
pub(super) const TEXT_INPUT: &str = "note-text";

/// Renders the form for a new note, or nothing for a member who may not write.
pub(super) fn new_note_form(desk: &Desk<'_>, pet: PetId, errors: &Errors) -> Markup {
    if !desk.may_write() {
        return html! {};
    }
    let input = Input::from_form(TEXT_INPUT, texts().new_note, &desk.visit.form, errors)
        .with_hint(texts().new_note_hint);
    html! {
        form.fields.no-print method="post" action={ "/animals/" (pet) "/notes" } {
            (desk.idempotency_field("note"))
            (input.show())
            div { button { (texts().add_note) } }
        }
    }
}

/// Renders a note as an item of the history of its animal.
///
/// `changes` are the changes on the same page of the history. If the last correction of the note is
/// among them, the item can name who made it.
pub(super) fn history_item(desk: &Desk<'_>, note: &PetNote, changes: &[JournalEntry]) -> Markup {
    html! {
        div { strong { (texts().note) } }
        div { (markup::lines(note.text.as_str())) }
        div.hint {
            (wording::actor(&note.author)) ", " (markup::time(note.created_at, desk.visit.now))
            @if note.version > 1 {
                ", " (correction_words(note, changes)) " " (markup::time(note.updated_at, desk.visit.now))
            }
            @if desk.may_write() && editor_for(desk).may_change(note) {
                " · " a href={ "/animals/notes/" (note.id) } { (texts().correct_note) }
            }
        }
    }
}

/// Returns the wording for the last correction of a note.
///
/// The wording names the person who made the correction, if the correction is among `changes` and
/// this person is not the author of the note.
fn correction_words(note: &PetNote, changes: &[JournalEntry]) -> String {
    let correction = changes.iter().find(|change| {
        change.kind == ChangeType::NoteChanged
            && change.subject.id == Some(note.id.get())
            && change.version == Some(note.version)
    });
    match correction {
        Some(change) if change.actor.actor != note.author.actor => {
            texts().note_corrected_by(&wording::actor(&change.actor))
        }
        _ => texts().note_corrected.to_owned(),
    }
}

/// Returns the editor by whose rights the member edits notes. A manager may edit every note, and
/// other members only their own.
pub(super) fn editor_for(desk: &Desk<'_>) -> NoteEditor {
    if desk.role() >= Role::Manager {
        NoteEditor::Manager
    } else {
        NoteEditor::Author(desk.session.actor().actor)
    }
}
