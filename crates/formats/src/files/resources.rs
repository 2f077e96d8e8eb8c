//! Lines with the profile, a field, an animal, an order or a category of the store area:
//! `{"profile":{…}}`, `{"field":{…}}`, `{"pet":{…}}`, `{"order":{…}}` or `{"category":{…}}`, each as in a response of the service. An
//! order also says whether it holds its animal.

use petstore_domain::store_area::{FieldDefinition, Profile, Resource};

use super::row::{InvalidRow, Row};
use crate::json::{self, Invalid};

const PET: &str = "pet";
const ORDER: &str = "order";
const CATEGORY: &str = "category";
const FIELD: &str = "field";
const PROFILE: &str = "profile";

pub(super) fn write_profile(out: &mut Vec<u8>, profile: &Profile, logo: Option<&[u8]>) {
    out.extend_from_slice(format!("{{\"{PROFILE}\":").as_bytes());
    json::write_whole_profile(out, profile, logo);
    out.extend_from_slice(b"}\n");
}

pub(super) fn write_field(out: &mut Vec<u8>, field: &FieldDefinition) {
    out.extend_from_slice(format!("{{\"{FIELD}\":").as_bytes());
    json::write_field(out, field);
    out.extend_from_slice(b"}\n");
}

pub(super) fn write(out: &mut Vec<u8>, resource: &Resource) {
    let tag = match resource {
        Resource::Pet(_) => PET,
        Resource::Order(_) => ORDER,
        Resource::Category(_) => CATEGORY,
    };
    out.extend_from_slice(format!("{{\"{tag}\":").as_bytes());
    if let Resource::Order(order) = resource {
        json::write_whole_order(out, order);
    } else {
        json::write_resource(out, resource);
    }
    out.extend_from_slice(b"}\n");
}

/// Whether a line is an object that begins with the tag of the store area.
pub(super) fn is_tagged(line: &str) -> bool {
    let first = line.trim_start().strip_prefix('{');
    let first = first.and_then(|line| line.trim_start().strip_prefix('"')?.split_once('"'));
    first.is_some_and(|(name, _)| [PET, ORDER, CATEGORY, FIELD, PROFILE].contains(&name))
}

/// Parses a line that [`is_tagged`].
pub(super) fn parse(line: &str) -> Result<Row, InvalidRow> {
    let parsed = || {
        let line = json::members(line.trim_end().as_bytes(), "The line")?;
        let [(tag, object)] = &line[..] else {
            let reason = "the line must have one member: profile, field, pet, order or category";
            return Err(Invalid::Value(reason.to_owned()));
        };
        let object = object.get().as_bytes();
        let resource = match tag.as_str() {
            FIELD => return json::read_whole_field(object).map(Row::Field),
            PROFILE => {
                let (profile, logo) = json::read_profile(object)?;
                return Ok(Row::Profile(Box::new(profile), logo));
            }
            PET => {
                let (pet, photos) = json::read_store_pet(object)?;
                return Ok(Row::Resource(pet.into(), photos));
            }
            ORDER => json::read_order(object)?.into(),
            _ => json::read_category(object)?.into(),
        };
        Ok(Row::Resource(resource, 0))
    };
    parsed().map_err(|invalid: Invalid| {
        let reason = invalid.to_string().replace("at line 1, column", "at byte");
        let reason = reason.trim_end_matches('.').to_owned();
        InvalidRow::whole(reason)
    })
}
