//! An animal of the store area as JSON.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{
    Invalid, Object,
    members::{
        INTEGER, Kind, Members, NAME, NOTE, ORDER_ID, PET_ID, PET_STATUS, TIME, VERSION,
        WITHDRAWAL_REASON,
    },
    photo::write_photos,
};
use crate::domain::{
    NewPet, PetStatus,
    store_area::{
        FieldPatch, FieldValue, FieldValues, Given, Note, PetPatch, Photos, StorePet, Withdrawal,
    },
};

/// The members that a request can change.
pub(crate) const PATCH: &[&str] = &["name", "categoryId", "status", "fields"];

pub(crate) fn read_patch(members: &Members<'_>) -> Result<PetPatch, Invalid> {
    Ok(PetPatch {
        name: members.optional("name", &NAME)?,
        category_id: members.optional("categoryId", &INTEGER)?,
        status: members.optional("status", &PET_STATUS)?,
        fields: members.optional("fields", &FIELDS)?.unwrap_or_default(),
    })
}

/// A new animal, and the values of its fields.
pub(crate) fn read_new_pet(members: &Members<'_>) -> Result<(NewPet, FieldPatch), Invalid> {
    let pet = NewPet {
        name: members.required("name", &NAME)?,
        category_id: members.required("categoryId", &INTEGER)?,
        status: members.optional("status", &PET_STATUS)?.unwrap_or_default(),
    };
    let fields = members.optional("fields", &FIELDS)?.unwrap_or_default();
    if let Some((name, _)) = fields.iter().find(|(_, given)| **given == Given::Clear) {
        let shown: String = name.chars().take(40).collect();
        return Err(Invalid::Value(format!("fields.{shown} must not be null; leave it out.")));
    }
    Ok((pet, fields))
}

const FIELDS: Kind<FieldPatch> =
    Kind { read: fields, is: "an object with the names and values of fields" };

fn fields(value: &RawValue) -> Option<FieldPatch> {
    let given = |(name, value): (_, &RawValue)| match value.get() {
        "null" => (name, Given::Clear),
        _ => (name, field_value(value).map_or(Given::Other, Given::Set)),
    };
    let members = super::members(value.get().as_bytes(), "fields").ok()?;
    Some(members.into_iter().map(given).collect())
}

fn field_value(value: &RawValue) -> Option<FieldValue> {
    match value.get() {
        "true" => Some(FieldValue::Boolean(true)),
        "false" => Some(FieldValue::Boolean(false)),
        _ => super::string(value)
            .map(FieldValue::Text)
            .or_else(|| super::integer(value).map(FieldValue::Integer)),
    }
}

/// The values of a new animal in a file. `None` if one is null, or if it is not an object.
pub(crate) fn read_new_fields(object: &RawValue) -> Option<FieldPatch> {
    fields(object).filter(|given| given.values().all(|given| *given != Given::Clear))
}

/// The values of an animal as a store keeps them. `None` if they are too long, or if one is no value of
/// any kind.
pub(crate) fn read_stored_fields(stored: &str) -> Option<FieldValues> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(stored).ok()?;
    field_values(members)
}

fn field_values<'a>(
    members: impl IntoIterator<Item = (String, &'a RawValue)>,
) -> Option<FieldValues> {
    let value = |(name, value)| Some((name, field_value(value)?));
    FieldValues::new(members.into_iter().map(value).collect::<Option<_>>()?)
}

const STORED_FIELDS: Kind<FieldValues> = Kind {
    read: |value| field_values(super::members(value.get().as_bytes(), "fields").ok()?),
    is: "an object of strings, integers, true and false, of at most 32 KiB",
};

const WITHDRAWAL: Kind<Withdrawal> = Kind {
    read: |value| read_withdrawal(value.get().as_bytes()).ok(),
    is: "null, or an object with a valid at, reason and note",
};

const PHOTOS: Kind<u64> = Kind {
    read: |value| super::elements(value.get().as_bytes()).ok().map(|all| all.len() as u64),
    is: "an array of photos",
};

/// An animal in a file, without its photos, and how many it has: a file has only their URLs.
pub(crate) fn read_store_pet(object: &[u8]) -> Result<(StorePet, u64), Invalid> {
    let names = [
        "id",
        "name",
        "categoryId",
        "status",
        "version",
        "createdAt",
        "updatedAt",
        "orderId",
        "withdrawn",
        "fields",
        "photos",
    ];
    let members = Members::of(object, "The animal", &names)?;
    let pet = StorePet {
        id: members.required("id", &PET_ID)?,
        name: members.required("name", &NAME)?,
        category_id: members.required("categoryId", &INTEGER)?,
        status: members.required("status", &PET_STATUS)?,
        version: members.required("version", &VERSION)?,
        created_at: members.nullable("createdAt", &TIME)?,
        updated_at: members.nullable("updatedAt", &TIME)?,
        order_id: members.nullable("orderId", &ORDER_ID)?,
        withdrawn: members.nullable("withdrawn", &WITHDRAWAL)?,
        // A file of an earlier release has none.
        fields: members.optional("fields", &STORED_FIELDS)?.unwrap_or_default(),
        photos: Photos::NONE,
    };
    if pet.order_id.is_some() && (pet.status != PetStatus::Pending || pet.withdrawn.is_some()) {
        return Err(Invalid::of(
            "orderId must be null, except for a pending animal in the catalogue",
        ));
    }
    if pet.withdrawn.is_some() && pet.updated_at.is_none() {
        return Err(Invalid::of("updatedAt must not be null for a withdrawn animal"));
    }
    Ok((pet, members.optional("photos", &PHOTOS)?.unwrap_or_default()))
}

fn read_withdrawal(object: &[u8]) -> Result<Withdrawal, Invalid> {
    let members = Members::of(object, "withdrawn", &["at", "reason", "note"])?;
    Ok(Withdrawal {
        at: members.required("at", &TIME)?,
        reason: members.required("reason", &WITHDRAWAL_REASON)?,
        note: members.nullable("note", &NOTE)?,
    })
}

pub(crate) fn write_store_pet(out: &mut Vec<u8>, pet: &StorePet) {
    let mut object = Object::begin(out);
    object.integer("id", pet.id.get());
    object.text("name", pet.name.as_str());
    object.integer("categoryId", pet.category_id);
    object.text("status", pet.status.as_str());
    object.integer("version", pet.version);
    let start = object.0.len();
    object.time_or_null("createdAt", pet.created_at);
    if pet.updated_at == pet.created_at {
        // To print a time costs more than to copy it.
        let value = start + ",\"createdAt\":".len()..object.0.len();
        object.name("updatedAt").extend_from_within(value);
    } else {
        object.time_or_null("updatedAt", pet.updated_at);
    }
    object.or_null("orderId", pet.order_id, |object, id| object.integer("orderId", id.get()));
    object.or_null("withdrawn", pet.withdrawn.as_ref(), |object, withdrawal| {
        write_withdrawal(object.name("withdrawn"), withdrawal);
    });
    object.raw_or_null("fields", Some(pet.fields.as_json()));
    write_photos(object.name("photos"), pet.id, &pet.photos);
    object.end();
}

fn write_withdrawal(out: &mut Vec<u8>, withdrawal: &Withdrawal) {
    let mut object = Object::begin(out);
    object.time("at", withdrawal.at);
    object.text("reason", withdrawal.reason.as_str());
    object.text_or_null("note", withdrawal.note.as_ref().map(Note::as_str));
    object.end();
}
