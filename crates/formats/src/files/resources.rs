//! The lines of a complete export: `{"profile":{…}}`, `{"field":{…}}`, `{"pet":{…}}`,
//! `{"order":{…}}`, `{"category":{…}}` or `{"note":{…}}`.
//!
//! Each line is an object with one member. The name of the member is the tag, which says what the
//! value is. The value is as in a response of the service, except that an order also says whether it
//! holds its animal.

use petstore_domain::store_area::{FieldDefinition, Profile, Resource};

use super::row::{InvalidRow, Row};
use crate::json::{self, Invalid};

const PET_TAG: &str = "pet";
const ORDER_TAG: &str = "order";
const CATEGORY_TAG: &str = "category";
const NOTE_TAG: &str = "note";
const FIELD_TAG: &str = "field";
const PROFILE_TAG: &str = "profile";

/// Writes a line such as `{"profile":{"name":"Petshop"}}`. `logo` is the content of the file of the
/// logo.
pub(super) fn write_profile(out: &mut Vec<u8>, profile: &Profile, logo: Option<&[u8]>) {
    begin_line(out, PROFILE_TAG);
    json::write_exported_profile(out, profile, logo);
    end_line(out);
}

/// Writes a line such as `{"field":{"name":"age","kind":"integer"}}`.
pub(super) fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    begin_line(out, FIELD_TAG);
    json::write_field(out, field);
    end_line(out);
}

/// Writes a line such as `{"category":{"id":7,"label":"Dogs","version":1}}`.
pub(super) fn write_resource(out: &mut Vec<u8>, resource: &Resource) {
    let tag = match resource {
        Resource::Pet(_) => PET_TAG,
        Resource::Order(_) => ORDER_TAG,
        Resource::Category(_) => CATEGORY_TAG,
        Resource::Note(_) => NOTE_TAG,
    };
    begin_line(out, tag);
    match resource {
        Resource::Order(order) => json::write_exported_order(out, order),
        Resource::Note(note) => json::write_note(out, note),
        Resource::Pet(_) | Resource::Category(_) => json::write_resource(out, resource),
    }
    end_line(out);
}

/// Writes the beginning of a line, before its value: `{"pet":`.
fn begin_line(out: &mut Vec<u8>, tag: &str) {
    out.extend_from_slice(format!("{{\"{tag}\":").as_bytes());
}

fn end_line(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}\n");
}

/// Whether a line is an object whose first member is a tag, such as `{"pet":{"id":7}}`.
pub(super) fn is_tagged(line: &str) -> bool {
    let Some((name, _)) = line
        .trim_start()
        .strip_prefix('{')
        .and_then(|content| content.trim_start().strip_prefix('"'))
        .and_then(|content| content.split_once('"'))
    else {
        return false;
    };
    let tags = [
        PET_TAG,
        ORDER_TAG,
        CATEGORY_TAG,
        NOTE_TAG,
        FIELD_TAG,
        PROFILE_TAG,
    ];
    tags.contains(&name)
}

/// Parses a line for which [`is_tagged`] is true.
pub(super) fn parse_line(line: &str) -> Result<Row, InvalidRow> {
    parse_tagged(line).map_err(|invalid| {
        // The parser numbers each line as line 1, so only the column is useful.
        let reason = invalid.to_string().replace("at line 1, column", "at byte");
        InvalidRow::new(reason.trim_end_matches('.'))
    })
}

/// Parses the value of the only member of a line, whose name is the tag.
fn parse_tagged(line: &str) -> Result<Row, Invalid> {
    let members = json::parse_members(line.trim_end().as_bytes(), "The line")?;
    let [(tag, object)] = &members[..] else {
        let reason = "the line must have one member: profile, field, pet, order, category or note";
        return Err(Invalid::Value(reason.to_owned()));
    };
    let object = object.get().as_bytes();
    match tag.as_str() {
        FIELD_TAG => {
            let field = json::read_exported_field(object)?;
            Ok(Row::Field(field))
        }
        PROFILE_TAG => {
            let (profile, logo) = json::read_profile(object)?;
            Ok(Row::Profile(Box::new(profile), logo))
        }
        PET_TAG => {
            let (pet, photo_count) = json::read_store_pet(object)?;
            Ok(Row::Resource(pet.into(), photo_count))
        }
        ORDER_TAG => {
            let order = json::read_order(object)?;
            Ok(Row::Resource(order.into(), 0))
        }
        NOTE_TAG => {
            let note = json::read_note(object)?;
            Ok(Row::Resource(note.into(), 0))
        }
        // The tag of a category, because `is_tagged` has excluded any other text.
        _ => {
            let category = json::read_category(object)?;
            Ok(Row::Resource(category.into(), 0))
        }
    }
}
