//! An animal of the store area as JSON.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::BTreeMap;

use petstore_domain::{
    NewPet, PetName, PetStatus,
    store_area::{
        FieldPatch, FieldValue, FieldValues, PetPatch, Photos, RequestedValue, StorePet, Withdrawal,
    },
};
use serde_json::{json, value::RawValue};

use super::{
    Invalid, Object,
    declared::Keywords,
    members::{Member, Members, Version, bodies, values},
    photo::{read_logged_photos, write_photos},
    resource::{Readers, Resource, resource},
};

bodies! {
    PetPatch: name, category_id as categoryId, status, fields;
    AddPet: name, category_id as categoryId, status, fields;
}

/// The body of `addPet`.
pub struct AddPet {
    name: PetName,
    category_id: i64,
    status: Option<PetStatus>,
    fields: FieldPatch,
}

impl AddPet {
    /// Returns a new animal, and the values of its fields.
    pub fn pet(self) -> Result<(NewPet, FieldPatch), Invalid> {
        let Self {
            name,
            category_id,
            status,
            fields,
        } = self;
        if let Some((name, _)) = fields
            .iter()
            .find(|(_, given)| **given == RequestedValue::Clear)
        {
            let shown: String = name.chars().take(40).collect();
            return Err(Invalid::Value(format!(
                "fields.{shown} must not be null; leave it out."
            )));
        }
        Ok((
            NewPet {
                name,
                category_id,
                status: status.unwrap_or_default(),
            },
            fields,
        ))
    }
}

/// The values of fields in a request, and in a file.
struct Fields<T>(T);

/// The number of photos of an animal in a file.
struct PhotoCount(u64);

values! {
    Fields<FieldPatch>: "an object with the names and values of fields",
        |value| fields(value).map(Self);
    Fields<FieldValues>: "an object of strings, integers, true and false, of at most 32 KiB",
        |value| values_of(super::members(value.get().as_bytes(), "fields").ok()?)
            .and_then(FieldValues::new).map(Self);
    Withdrawal: "null, or an object with a valid at, reason and note",
        |value| Self::read_representation(value.get().as_bytes(), "withdrawn", Readers::File).ok();
    PhotoCount: "an array of photos",
        |value| super::elements(value.get().as_bytes()).ok().map(|all| Self(all.len() as u64));
}

resource!(Withdrawal: at, reason, note);

impl Member for FieldPatch {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        json!({ "type": "object" })
    }

    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        Ok(members
            .optional(name)?
            .map(|Fields(fields)| fields)
            .unwrap_or_default())
    }
}

impl Member for FieldValues {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        json!({ "type": "object" })
    }

    // A file of an earlier release has none.
    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        Ok(members
            .optional(name)?
            .map(|Fields(fields)| fields)
            .unwrap_or_default())
    }
}

fn fields(value: &RawValue) -> Option<FieldPatch> {
    let given = |(name, value): (_, &RawValue)| match value.get() {
        "null" => (name, RequestedValue::Clear),
        _ => (
            name,
            field_value(value).map_or(RequestedValue::Invalid, RequestedValue::Set),
        ),
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

/// Returns the values of a new animal in a file. `None` if one is null, or if it is not an object.
pub(crate) fn read_new_fields(object: &RawValue) -> Option<FieldPatch> {
    fields(object).filter(|given| given.values().all(|given| *given != RequestedValue::Clear))
}

/// Returns the values of an animal as a store keeps them. `None` if they are too long, or if one is
/// no value of any kind.
pub fn read_stored_fields(stored: &str) -> Option<FieldValues> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(stored).ok()?;
    FieldValues::from_stored(values_of(members)?, stored.to_owned())
}

/// Returns the values in an object, in the order of its members.
fn values_of<'a, T: FromIterator<(String, FieldValue)>>(
    members: impl IntoIterator<Item = (String, &'a RawValue)>,
) -> Option<T> {
    let value = |(name, value)| Some((name, field_value(value)?));
    members.into_iter().map(value).collect()
}

/// Returns an animal in a file, without its photos, and how many it has: a file has only their
/// URLs.
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
        id: members.required("id")?,
        name: members.required("name")?,
        category_id: members.required("categoryId")?,
        status: members.required("status")?,
        version: members.required::<Version>("version")?.0,
        created_at: members.nullable("createdAt")?,
        updated_at: members.nullable("updatedAt")?,
        order_id: members.nullable("orderId")?,
        withdrawal: members.nullable("withdrawn")?,
        fields: Member::in_file(&members, "fields")?,
        photos: Photos::NONE,
    };
    if pet.order_id.is_some() && (pet.status != PetStatus::Pending || pet.withdrawal.is_some()) {
        return Err(Invalid::of(
            "orderId must be null, except for a pending animal in the catalogue",
        ));
    }
    if pet.withdrawal.is_some() && pet.updated_at.is_none() {
        return Err(Invalid::of(
            "updatedAt must not be null for a withdrawn animal",
        ));
    }
    Ok((
        pet,
        members
            .optional("photos")?
            .map_or(0, |PhotoCount(count)| count),
    ))
}

/// Reads an animal as the log of changes has it.
pub(super) fn read_logged_pet(object: &[u8]) -> Result<StorePet, Invalid> {
    let (pet, _) = read_store_pet(object)?;
    let [photos] = super::object_members(object, ["photos"])?;
    let photos = match photos {
        Some(photos) => read_logged_photos(photos.get())
            .ok_or_else(|| Invalid::of("photos must be an array of photos"))?,
        // The log of an earlier release has none.
        None => Photos::NONE,
    };
    Ok(StorePet { photos, ..pet })
}

pub fn write_store_pet(out: &mut Vec<u8>, pet: &StorePet) {
    let mut object = Object::begin(out);
    object.integer("id", pet.id.get());
    object.text("name", pet.name.as_str());
    object.integer("categoryId", pet.category_id);
    object.text("status", pet.status.as_str());
    object.integer("version", pet.version);
    let start = object.0.len();
    object.put("createdAt", &pet.created_at);
    if pet.updated_at == pet.created_at {
        // To print a time costs more than to copy it.
        let value = start + ",\"createdAt\":".len()..object.0.len();
        object.name("updatedAt").extend_from_within(value);
    } else {
        object.put("updatedAt", &pet.updated_at);
    }
    object.put("orderId", &pet.order_id);
    object.or_null(
        "withdrawn",
        pet.withdrawal.as_ref(),
        |object, withdrawal| {
            withdrawal.write(object.name("withdrawn"), Readers::All);
        },
    );
    object.raw_or_null("fields", Some(pet.fields.as_json()));
    write_photos(object.name("photos"), pet.id, &pet.photos);
    object.end();
}
