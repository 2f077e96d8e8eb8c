//! JSON: strict parsing, and writing without intermediate values.
//!
//! The same resource has several representations, which this module keeps apart:
//!
//! * An animal of the contract has the four members of `openapi.yaml`, and an animal of the store
//!   area has more: see [`write_pet`] and [`write_store_pet`].
//! * The log of changes (the journal) has each change, with the resource before and after it. A
//!   remembered response is what a retry with the same `Idempotency-Key` gets. Neither contains
//!   personal data: contacts, and the texts and authors of notes.
//! * An export is a file with everything that a store has.

mod actor;
mod contacts;
pub mod declared;
mod field;
mod journal;
pub(crate) mod member_values;
pub mod members;
mod number;
mod object;
mod order;
mod pet_note;
mod photo;
mod profile;
mod resource;
mod resources;
mod store_pet;
mod strict;
pub mod times;

use petstore_domain::{PetRef, PetStatus};
use serde::Serialize;
use serde_json::value::RawValue;

pub use self::{
    contacts::{insert_contacts, order_ids_without_contact},
    field::{FieldInput, read_field, write_field},
    journal::{read_change, write_audit_entry, write_change},
    number::{as_integer, parse_integer},
    object::Object,
    order::{
        MEMBERS_ADDED_TO_ORDERS, PlaceOrder, read_order, write_order, write_order_with_contact,
    },
    pet_note::{redacted_note_id, write_note},
    photo::{read_focus, read_photos, with_photo_prefix, write_photo},
    profile::{parse_stored_profile, stored_profile_text, write_profile},
    resource::AddedMember,
    resources::{declared_resources, write_attempt, write_category, write_resource, write_webhook},
    store_pet::{AddPet, complete_store_pet, parse_stored_fields, write_store_pet},
    strict::{parse_elements, parse_named_members},
};
pub(crate) use self::{
    field::read_exported_field,
    order::write_exported_order,
    pet_note::read_note,
    profile::{read_profile, write_exported_profile},
    resources::{read_category, read_logged_resource},
    store_pet::{parse_new_fields, read_store_pet},
    strict::parse_members,
};

/// The reason why a text is not the expected JSON, as a sentence for the client.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// The text, or the value of a member, is invalid.
    #[error("{0}")]
    Value(String),
    /// The object has a member that is not allowed.
    #[error("{0}")]
    UnknownMember(String),
}

impl Invalid {
    /// Creates the reason for an invalid value from a complete sentence.
    fn from_reason(reason: &str) -> Self {
        Self::Value(reason.to_owned())
    }
}

/// The maximum length of a text that a message quotes, in characters. It is long enough to
/// recognize the text.
const MAX_QUOTED_CHARACTERS: usize = 40;

/// Shortens a text that somebody sent to its beginning, for a message.
pub(crate) fn shorten_for_message(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARACTERS).collect()
}

/// Serializes a value as JSON. All values consist of strings and numbers, so this cannot fail.
pub fn render(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Writes a JSON string: `5" tall` becomes `"5\" tall"`.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    // Most text needs no escapes (RFC 8259, section 7), so it is copied as a whole.
    let needs_escapes = text
        .bytes()
        .any(|byte| byte < b' ' || byte == b'"' || byte == b'\\');
    if !needs_escapes {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // Serializing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes an animal of the contract, such as
/// `{"id":7,"name":"Luke","categoryId":1,"status":"sold"}`.
///
/// This is handwritten because list responses are the hottest path: for 20 animals, it takes about
/// a microsecond less than a derived `Serialize`.
pub fn write_pet(out: &mut Vec<u8>, pet: PetRef<'_>) {
    out.extend_from_slice(b"{\"id\":");
    write_integer(out, pet.id.get());
    out.extend_from_slice(b",\"name\":");
    write_string(out, pet.name);
    out.extend_from_slice(b",\"categoryId\":");
    write_integer(out, pet.category_id);
    // Copying a constant of known length needs no function call.
    match pet.status {
        PetStatus::Available => out.extend_from_slice(br#","status":"available"}"#),
        PetStatus::Pending => out.extend_from_slice(br#","status":"pending"}"#),
        PetStatus::Sold => out.extend_from_slice(br#","status":"sold"}"#),
    }
}

/// Writes an integer in decimal digits.
fn write_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Parses a JSON string: `"Luke"` becomes `Luke`. Returns `None` if the value is not a string, or
/// has an invalid escape.
pub fn as_string(value: &RawValue) -> Option<String> {
    let json = value.get();
    let content = json.strip_prefix('"')?.strip_suffix('"')?;
    // Most strings have no escapes, so their content is copied as it is.
    if !content.contains('\\') {
        return Some(content.to_owned());
    }
    serde_json::from_str(json).ok()
}

#[cfg(test)]
#[path = "json/json_tests.rs"]
mod tests;
