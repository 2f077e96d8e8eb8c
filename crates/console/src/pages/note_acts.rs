//! The actions that add, correct and delete a note on an animal, and the page of a note.

use petstore_domain::{
    PetId,
    store_area::{Command, FieldSet, NoteEdit, NoteId, NoteText, PetNote},
};

use super::{
    animal,
    commands::CommandFailure,
    notes::{TEXT_INPUT, editor_for},
    parts::missing_page,
};
use crate::{ask::Question, prelude::*, reply::Flash};

/// Parses the text of a note, or returns the message that says why it is rejected.
fn parse_text(typed_text: &str) -> Result<NoteText, String> {
    if !markup::is_visible(typed_text) {
        return Err(texts().note_missing.to_owned());
    }
    if typed_text.contains('\0') {
        return Err(texts().not_in_text.to_owned());
    }
    // Browsers send a line break as CR LF, which should count as one character.
    let text = typed_text.trim().replace("\r\n", "\n");
    NoteText::new(text).ok_or_else(|| texts().too_long(texts().note, NoteText::MAX_LENGTH))
}

/// Parses the text in the submitted form, or returns the error of its input.
fn parse_submitted_text(desk: &Desk<'_>) -> Result<NoteText, Errors> {
    parse_text(desk.visit.form.get(TEXT_INPUT))
        .map_err(|message| Errors::for_field(TEXT_INPUT, message))
}

/// Handles `POST /animals/{id}/notes`: adds a note on the animal in the path.
pub(super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = match parse_submitted_text(desk) {
        Ok(text) => text,
        Err(errors) => return animal::show(desk, &errors).await,
    };
    let Some(pet_id) = desk.path_id(PetId::new) else {
        return Ok(missing_page(texts().no_pet));
    };
    let command = Command::AddNote {
        pet_id,
        text,
        author: desk.session.actor(),
    };
    match desk.execute(vec![command]).await? {
        Ok(_) => Ok(redirect_to_animal(pet_id, "note-added")),
        Err(failure) => animal::show(desk, &to_errors(&failure)).await,
    }
}

/// Returns the errors of a refused command on a note. They are about no field of the store, because
/// a note has no such fields.
fn to_errors(failure: &CommandFailure) -> Errors {
    failure.to_errors(&FieldSet::default())
}

/// Redirects to the page of an animal, with a message.
fn redirect_to_animal(pet: PetId, message_code: &str) -> Reply {
    Reply::Redirect(
        format!("/animals/{pet}"),
        Some(Flash::new(message_code, pet.get())),
    )
}

/// Handles `GET /animals/notes/{id}`: renders the page of the note in the path, with the errors of
/// a rejected form.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(note) = load_note(desk).await? else {
        return Ok(missing_page(texts().no_note));
    };
    let pet_name = match desk.store().get_store_pet(note.pet_id).await? {
        Some(pet) => markup::plain_name(pet.name.as_str()),
        // No page deletes an animal, but an operator can do so by hand.
        None => String::new(),
    };
    let title = texts().note_on(&pet_name);
    let content = html! {
        (errors.summary())
        h1 { (title) }
        p { a href={ "/animals/" (note.pet_id) } { (texts().show_animal(&pet_name)) } }
        section.card.stack {
            ol.history { li { (note_markup(desk, &note)) } }
            @if editor_for(desk).may_change(&note) { (edit_forms(desk, &note, errors)) }
            @else { p { (texts().not_your_note) } }
        }
    };
    Ok(Page::new(title, content)
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Renders the text of a note, its author and its time.
fn note_markup(desk: &Desk<'_>, note: &PetNote) -> Markup {
    html! {
        div { (markup::lines(note.text.as_str())) }
        div.hint {
            (wording::actor(&note.author)) ", " (markup::time(note.created_at, desk.visit.now))
        }
    }
}

/// Renders the forms that correct and delete a note.
fn edit_forms(desk: &Desk<'_>, note: &PetNote, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let mut input = Input::from_form(TEXT_INPUT, texts().note, form, errors).make_multiline();
    // A rejected form keeps its text, even if the text is empty.
    let is_rejected = !errors.is_empty();
    if !is_rejected && form.raw(TEXT_INPUT).is_empty() {
        input.value = note.text.as_str();
    }
    let path = format!("/animals/notes/{}", note.id);
    html! {
        form.fields method="post" action=(path) {
            (desk.idempotency_field("correct"))
            input type="hidden" name="version" value=(note.version);
            (input.show())
            div { button.main { (texts().save) } }
        }
        form method="post" action={ (path) "/delete" } {
            (desk.idempotency_field("delete"))
            input type="hidden" name="version" value=(note.version);
            button.danger { (texts().delete_note) }
        }
    }
}

/// Handles `POST /animals/notes/{id}`: corrects the text of the note in the path.
pub(super) async fn save(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let text = match parse_submitted_text(desk) {
        Ok(text) => text,
        Err(errors) => return show(desk, &errors).await,
    };
    let Some(note) = load_note(desk).await? else {
        return Ok(missing_page(texts().no_note));
    };
    let command = Command::PatchNote {
        edit: note_edit(desk, &note),
        text: Some(text),
    };
    execute_on_note(desk, &note, command, "note-changed").await
}

/// Handles `POST /animals/notes/{id}/delete`: deletes the note in the path. The member must confirm
/// it, because a deleted text cannot be restored.
pub(super) async fn delete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Some(note) = load_note(desk).await? else {
        return Ok(missing_page(texts().no_note));
    };
    if !editor_for(desk).may_change(&note) {
        return show(desk, &Errors::from_text(texts().not_your_note)).await;
    }
    let question = Question {
        title: texts().delete_note_question.to_owned(),
        effects: vec![texts().delete_note_effect.to_owned()],
        confirm_label: texts().delete_note,
        back_path: &format!("/animals/{}", note.pet_id),
    };
    if let Some(question_page) = question.ask(desk, &note_markup(desk, &note)) {
        return Ok(question_page);
    }
    let command = Command::DeleteNote(note_edit(desk, &note));
    execute_on_note(desk, &note, command, "note-deleted").await
}

/// Loads the note in the path; `None` if it does not exist.
async fn load_note(desk: &Desk<'_>) -> Result<Option<PetNote>, ApiError> {
    match desk.path_id(NoteId::new) {
        Some(id) => Ok(desk.store().get_note(id).await?),
        None => Ok(None),
    }
}

/// Returns the edit of a note by the member. The edit requires that the note still has the version
/// in the form.
fn note_edit(desk: &Desk<'_>, note: &PetNote) -> NoteEdit {
    NoteEdit {
        id: note.id,
        pet_id: note.pet_id,
        editor: editor_for(desk),
        preconditions: desk.preconditions(),
    }
}

/// Executes a command on a note, and redirects to the page of its animal. If the command is
/// refused, renders the page of the note with the reason. `message_code` is the code of the flash
/// message that the page of the animal then shows.
async fn execute_on_note(
    desk: &Desk<'_>,
    note: &PetNote,
    command: Command,
    message_code: &str,
) -> Result<Reply, ApiError> {
    match desk.execute(vec![command]).await? {
        Ok(_) => Ok(redirect_to_animal(note.pet_id, message_code)),
        Err(failure) => show(desk, &to_errors(&failure)).await,
    }
}
