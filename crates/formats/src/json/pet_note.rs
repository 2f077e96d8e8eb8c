//! Notes on animals as JSON: the bodies of requests, and the representations for clients, for the log of changes and for
//! files.

use petstore_domain::{
    NamedActor,
    store_area::{NoteId, PetNote},
};
use serde_json::json;

use super::{
    Invalid, Object,
    actor::{read_actor, write_actor},
    declared::keywords_of_identifier,
    integer,
    member_values::{UP_TO_HIGHEST_IMPORTED, Version, importable},
    members::{Members, values},
};

/// The author of a note in a file.
struct Author(NamedActor);

values! {
    NoteId: UP_TO_HIGHEST_IMPORTED,
        |value| Self::new(importable(integer(value)?)?),
        keywords_of_identifier(Self::MAX);
    Author: "an object with the members kind, id and name, such as {\"kind\":\"staff\",\"id\":2,\"name\":\"Nora\"}",
        |value| read_actor(value).map(Self),
        json!({ "type": "object" });
}

/// Writes a note for clients and for files, with its text and its author.
pub fn write_note(out: &mut Vec<u8>, note: &PetNote) {
    write(out, note, Some(note));
}

/// Writes a note for the log of changes and for remembered responses: that it exists, without its text and its author.
pub(super) fn write_note_without_text(out: &mut Vec<u8>, note: &PetNote) {
    write(out, note, None);
}

/// Writes a note. `content` is the note again, if its text and its author are to be seen.
fn write(out: &mut Vec<u8>, note: &PetNote, content: Option<&PetNote>) {
    let mut object = Object::begin(out);
    object.put("id", &note.id);
    object.put("petId", &note.pet_id);
    object.or_null("text", content, |object, note| {
        object.put("text", &note.text);
    });
    object.or_null("author", content, |object, note| {
        write_actor(object.name("author"), &note.author);
    });
    object.time("createdAt", note.created_at);
    object.time("updatedAt", note.updated_at);
    object.integer("version", note.version);
    object.end();
}

/// Reads a note in an export.
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

/// Returns the identifier of the note in a remembered response, which has no text.
pub fn note_without_text(body: &[u8]) -> Option<NoteId> {
    let members = Members::parse_any(body, "The note").ok()?;
    members.required("id").ok()
}
