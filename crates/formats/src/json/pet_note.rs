//! Notes on animals as JSON: the bodies of requests, and the representations for clients, the log
//! of changes, and files.

use petstore_domain::{
    NamedActor,
    store_area::{NoteId, NoteText, PetNote},
};
use serde_json::json;

use super::{
    Invalid, Object,
    actor::{read_actor, write_actor},
    as_integer,
    declared::identifier_keywords,
    member_values::{IMPORTED_NUMBER_RULE, Version, importable},
    members::{Members, values},
};

/// The author of a note in a file.
struct Author(NamedActor);

values! {
    NoteId: IMPORTED_NUMBER_RULE,
        |value| Self::new(importable(as_integer(value)?)?),
        identifier_keywords(Self::MAX);
    Author: "an object with the members kind, id and name, such as {\"kind\":\"staff\",\"id\":2,\"name\":\"Nora\"}",
        |value| read_actor(value).map(Self),
        json!({ "type": "object" });
}

/// Writes a note with its text and its author, for clients and for files.
pub fn write_note(out: &mut Vec<u8>, note: &PetNote) {
    write(out, note, Some((&note.text, &note.author)));
}

/// Writes a note without its text and its author, for the log of changes and for remembered
/// responses, which only say that the note exists.
pub(super) fn write_note_without_text(out: &mut Vec<u8>, note: &PetNote) {
    write(out, note, None);
}

/// Writes a note. Its text and its author are null if `content` is `None`.
fn write(out: &mut Vec<u8>, note: &PetNote, content: Option<(&NoteText, &NamedActor)>) {
    let mut object = Object::begin(out);
    object.put("id", &note.id);
    object.put("petId", &note.pet_id);
    object.or_null("text", content, |object, (text, _)| {
        object.put("text", text);
    });
    object.or_null("author", content, |object, (_, author)| {
        write_actor(object.name("author"), author);
    });
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

/// Returns the identifier of the note in a remembered response, which has neither text nor author.
/// Returns `None` if the response is no object with an identifier.
pub fn redacted_note_id(body: &[u8]) -> Option<NoteId> {
    let members = Members::parse_any(body, "The note").ok()?;
    members.required("id").ok()
}
