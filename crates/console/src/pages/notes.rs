//! Notes on an animal, as its page shows them.

use petstore_domain::{
    PetId, Role,
    store_area::{NoteEditor, PetNote},
};

use crate::prelude::*;

/// The input with the text of a note.
pub(super) const TEXT: &str = "note-text";

/// Shows the form for a new note, which only members who may write get.
pub(super) fn new_note_form(desk: &Desk<'_>, pet: PetId, errors: &Errors) -> Markup {
    if !desk.may_write() {
        return html! {};
    }
    let input = Input::from_form(TEXT, texts().new_note, &desk.visit.form, errors)
        .with_hint(texts().new_note_hint);
    html! {
        form.fields.no-print method="post" action={ "/animals/" (pet) "/notes" } {
            (desk.key("note"))
            (input.show())
            div { button { (texts().add_note) } }
        }
    }
}

/// Shows a note in the history of its animal.
pub(super) fn entry(desk: &Desk<'_>, note: &PetNote) -> Markup {
    html! {
        div { strong { (texts().note) } }
        div { (markup::lines(note.text.as_str())) }
        div.hint {
            (wording::actor(&note.author)) ", " (markup::time(note.created_at, desk.visit.now))
            @if note.version > 1 {
                ", " (texts().note_corrected) " " (markup::time(note.updated_at, desk.visit.now))
            }
            @if desk.may_write() && editor(desk).may_change(note) {
                " · " a href={ "/animals/notes/" (note.id) } { (texts().correct_note) }
            }
        }
    }
}

/// Returns the member as the one who changes a note: a manager may change every note.
pub(super) fn editor(desk: &Desk<'_>) -> NoteEditor {
    if desk.role() >= Role::Manager {
        NoteEditor::Manager
    } else {
        NoteEditor::Author(desk.session.actor().actor)
    }
}
