//! Notes on animals as JSON: the bodies of requests, and the representations for clients, the log
//! of changes, and files.

use petstore_domain::{
    NamedActor,
    store_area::{NoteId, PetNote},
};
use serde_json::json;

use super::{
    Invalid, Object,
    actor::{read_actor, write_actor},
    as_integer,
    declared::identifier_keywords,
    member_values::{IMPORTED_NUMBER_RULE, Version, importable_number},
    members::{Members, values},
};

/// The author of a note in a file.
struct Author(NamedActor);

values! {
    NoteId: IMPORTED_NUMBER_RULE,
        |value| Self::new(importable_number(as_integer(value)?)?),
        identifier_keywords(Self::MAX);
    Author: "an object with the members kind, id and name, such as {\"kind\":\"staff\",\"id\":2,\"name\":\"Nora\"}",
        |value| read_actor(value).map(Self),
        json!({ "type": "object" });
}

/// Writes a note with its text and its author, for clients and for files.
pub fn write_note(out: &mut Vec<u8>, note: &PetNote) {
    let mut object = begin_note(out, note);
    object.put("text", &note.text);
    write_actor(object.begin_member("author"), &note.author);
    end_note(object, note);
}

/// Writes a note without its text and its author, for the log of changes and for remembered
/// responses, which only say that the note exists.
pub(super) fn write_note_without_text(out: &mut Vec<u8>, note: &PetNote) {
    let mut object = begin_note(out, note);
    object.null("text");
    object.null("author");
    end_note(object, note);
}

/// Writes the members of a note before its text and its author.
fn begin_note<'o>(out: &'o mut Vec<u8>, note: &PetNote) -> Object<'o> {
    let mut object = Object::begin(out);
    object.put("id", &note.id);
    object.put("petId", &note.pet_id);
    object
}

/// Writes the members of a note after its text and its author, and ends the object.
fn end_note(mut object: Object<'_>, note: &PetNote) {
    object.time("createdAt", note.created_at);
    object.time("updatedAt", note.updated_at);
    object.integer("version", note.version);
    object.end();
}

/// Reads a note from an export.
pub(crate) fn read_note(object: &[u8]) -> Result<PetNote, Invalid> {
    let names = [
        "id",
        "petId",
        "text",
        "author",
        "createdAt",
        "updatedAt",
        "version",
    ];
    let members = Members::parse(object, "The note", &names)?;
    let Author(author) = members.required("author")?;
    let Version(version) = members.required("version")?;
    Ok(PetNote {
        id: members.required("id")?,
        pet_id: members.required("petId")?,
        text: members.required("text")?,
        author,
        created_at: members.required("createdAt")?,
        updated_at: members.required("updatedAt")?,
        version,
    })
}

/// Returns the identifier of the note in a remembered response, which has neither the text nor the
/// author. Returns `None` if the response is not an object with an identifier.
pub fn redacted_note_id(body: &[u8]) -> Option<NoteId> {
    let members = Members::parse_with_any_names(body, "The note").ok()?;
    members.required("id").ok()
}
