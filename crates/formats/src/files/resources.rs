//! The lines of a complete export: `{"profile":{…}}`, `{"field":{…}}`, `{"pet":{…}}`,
//! `{"order":{…}}`, `{"category":{…}}` or `{"note":{…}}`.
//!
//! Each line is an object with one member. The name of the member is the tag, which says what the
//! value is. The value is as in a response of the service, except that an order also says whether
//! it holds its animal.

use petstore_domain::store_area::{FieldDefinition, Profile, Resource};

use super::row::{InvalidRow, ParsedRow, Row};
use crate::json::{self, Invalid};

const PET_TAG: &str = "pet";
const ORDER_TAG: &str = "order";
const CATEGORY_TAG: &str = "category";
const NOTE_TAG: &str = "note";
const FIELD_TAG: &str = "field";
const PROFILE_TAG: &str = "profile";

/// Writes the profile of a store as a line such as `{"profile":{"name":"Petshop"}}`. `logo` is the
/// content of the file of its logo.
pub(super) fn write_profile(out: &mut Vec<u8>, profile: &Profile, logo: Option<&[u8]>) {
    begin_line(out, PROFILE_TAG);
    json::write_exported_profile(out, profile, logo);
    end_line(out);
}

/// Writes the definition of a field as a line such as `{"field":{"name":"age","kind":"integer"}}`.
pub(super) fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    begin_line(out, FIELD_TAG);
    json::write_field(out, field);
    end_line(out);
}

/// Writes an animal, an order, a category or a note as a line such as
/// `{"category":{"id":7,"label":"Dogs","version":1}}`.
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
    let tags = [
        PET_TAG,
        ORDER_TAG,
        CATEGORY_TAG,
        NOTE_TAG,
        FIELD_TAG,
        PROFILE_TAG,
    ];
    first_member_name(line).is_some_and(|name| tags.contains(&name))
}

/// Returns the name of the first member of the object in a line.
fn first_member_name(line: &str) -> Option<&str> {
    let members = line.trim_start().strip_prefix('{')?;
    let after_quote = members.trim_start().strip_prefix('"')?;
    let (name, _) = after_quote.split_once('"')?;
    Some(name)
}

/// Parses a line for which [`is_tagged`] is true.
pub(super) fn parse_line(line: &str) -> ParsedRow {
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
        FIELD_TAG => Ok(Row::Field(json::read_exported_field(object)?)),
        PROFILE_TAG => {
            let exported = json::read_profile(object)?;
            Ok(Row::Profile {
                profile: Box::new(exported.profile),
                logo: exported.logo,
            })
        }
        PET_TAG => {
            let exported = json::read_store_pet(object)?;
            Ok(Row::Resource {
                resource: exported.pet.into(),
                photo_count: exported.photo_count,
            })
        }
        ORDER_TAG => Ok(row_without_photos(json::read_order(object)?)),
        NOTE_TAG => Ok(row_without_photos(json::read_note(object)?)),
        // The tag of a category, because `is_tagged` has excluded any other text.
        _ => Ok(row_without_photos(json::read_category(object)?)),
    }
}

fn row_without_photos(resource: impl Into<Resource>) -> Row {
    Row::Resource {
        resource: resource.into(),
        photo_count: 0,
    }
}
