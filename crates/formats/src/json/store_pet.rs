//! Animals of the store area as JSON.

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
    member_values::Version,
    members::{Member, Members, Value, bodies, values},
    object::WriteJson,
    photo::{read_logged_photos, write_photos},
    resource::{Audience, DeclaredResource, resource},
};

bodies! {
    PetPatch: name, category_id as categoryId, status, is_listed as listed, fields;
    AddPet: name, category_id as categoryId, status, is_listed as listed, fields;
}

/// The body of `addPet`.
pub struct AddPet {
    name: PetName,
    category_id: i64,
    status: Option<PetStatus>,
    is_listed: Option<bool>,
    fields: FieldPatch,
}

impl AddPet {
    /// Returns the new animal, and the values of its fields. Fails if a value is null.
    pub fn into_pet(self) -> Result<(NewPet, FieldPatch), Invalid> {
        let null_field = self
            .fields
            .iter()
            .find(|(_, value)| **value == RequestedValue::Clear);
        if let Some((name, _)) = null_field {
            let short_name = super::shorten_for_message(name);
            return Err(Invalid::Value(format!(
                "fields.{short_name} must not be null; leave it out."
            )));
        }
        let pet = NewPet {
            name: self.name,
            category_id: self.category_id,
            status: self.status.unwrap_or_default(),
            is_listed: self.is_listed.unwrap_or(true),
        };
        Ok((pet, self.fields))
    }
}

/// An animal in an export.
pub(crate) struct ExportedPet {
    /// The animal, without its photos, because a file has only their URLs.
    pub(crate) pet: StorePet,
    /// The number of photos of the animal.
    pub(crate) photo_count: u64,
}

/// The values of fields in a request or in a file. `T` is [`FieldPatch`] or [`FieldValues`].
///
/// Every [`Value`] is also a member that must be present. A member with the values of fields may be
/// absent, so `T` itself is not a `Value`, and this wrapper is.
struct Fields<T>(T);

/// The number of photos of an animal in a file.
struct PhotoCount(u64);

values! {
    Fields<FieldPatch>: "an object with the names and values of fields",
        |value| parse_requested_fields(value).map(Self);
    Fields<FieldValues>: format!(
            "an object of strings, integers, true and false, of at most {} KiB",
            FieldValues::MAX_LENGTH >> 10,
        ),
        |value| parse_exported_fields(value).map(Self);
    Withdrawal: "null, or an object with a valid at, reason and note",
        |value| Self::read_representation(value.get().as_bytes(), "withdrawn", Audience::File).ok();
    PhotoCount: "an array of photos",
        |value| {
            let photos = super::parse_elements(value.get().as_bytes()).ok()?;
            Some(Self(photos.len() as u64))
        };
}

resource!(Withdrawal: at, reason, note);

impl Member for FieldPatch {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        json!({ "type": "object" })
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        read_optional_fields(members, name)
    }
}

impl Member for FieldValues {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        json!({ "type": "object" })
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        read_optional_fields(members, name)
    }
}

/// Reads the member with the values of fields. It may be absent from a request, and from a file of
/// an earlier release, which had no fields.
fn read_optional_fields<T: Default>(members: &Members<'_>, name: &str) -> Result<T, Invalid>
where
    Fields<T>: Value,
{
    let fields = members.optional(name)?.map(|Fields(fields)| fields);
    Ok(fields.unwrap_or_default())
}

/// Parses the values of fields in a request: `{"age":3,"sex":null}` sets the field `age`, and
/// clears the field `sex`.
fn parse_requested_fields(value: &RawValue) -> Option<FieldPatch> {
    let mut patch = FieldPatch::new();
    for (name, value) in super::parse_members(value.get().as_bytes(), "fields").ok()? {
        let requested = match value.get() {
            "null" => RequestedValue::Clear,
            _ => parse_field_value(value).map_or(RequestedValue::Invalid, RequestedValue::Set),
        };
        patch.insert(name, requested);
    }
    Some(patch)
}

/// Parses the values of the fields of an animal in an export. Returns `None` if they are too long,
/// or if one is invalid.
fn parse_exported_fields(value: &RawValue) -> Option<FieldValues> {
    let members = super::parse_members(value.get().as_bytes(), "fields").ok()?;
    FieldValues::new(parse_members_as_fields(members)?)
}

/// Parses the value of one field. Returns `None` if it is invalid: no kind of field has such
/// values.
fn parse_field_value(value: &RawValue) -> Option<FieldValue> {
    match value.get() {
        "true" => Some(FieldValue::Boolean(true)),
        "false" => Some(FieldValue::Boolean(false)),
        _ => match super::as_string(value) {
            Some(text) => Some(FieldValue::Text(text)),
            None => super::as_integer(value).map(FieldValue::Integer),
        },
    }
}

/// Parses the values of the fields of a new animal in a file. Returns `None` if a value is null, or
/// if `object` is not an object.
pub(crate) fn parse_new_fields(object: &RawValue) -> Option<FieldPatch> {
    let patch = parse_requested_fields(object)?;
    let has_null = patch.values().any(|value| *value == RequestedValue::Clear);
    if has_null { None } else { Some(patch) }
}

/// Parses the values of the fields of an animal, as the database stores them. Returns `None` if
/// they are too long, or if one is invalid.
pub fn parse_stored_fields(stored: &str) -> Option<FieldValues> {
    // The map sorts the members by name, as `from_stored` requires.
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(stored).ok()?;
    FieldValues::from_stored(parse_members_as_fields(members)?, stored.to_owned())
}

/// Parses the value of each member, in the order of the members. Returns `None` if one is invalid:
/// see [`parse_field_value`].
fn parse_members_as_fields<'a, T: FromIterator<(String, FieldValue)>>(
    members: impl IntoIterator<Item = (String, &'a RawValue)>,
) -> Option<T> {
    members
        .into_iter()
        .map(|(name, value)| Some((name, parse_field_value(value)?)))
        .collect()
}

/// Adds the member `listed` to an older representation of an animal that lacks it.
///
/// `{"id":1,"photos":[]}` becomes `{"id":1,"photos":[],"listed":true}`.
pub fn complete_store_pet(pet: &mut String) {
    // `photos` and `listed` are always the last members, so no value of the animal can be mistaken
    // for the end of the one and the other.
    let is_complete = [true, false]
        .iter()
        .any(|is_listed| pet.ends_with(&format!("],\"listed\":{is_listed}}}")));
    // The last character is the closing brace of the object.
    if !is_complete && pet.pop().is_some() {
        pet.push_str(",\"listed\":true}");
    }
}

/// Reads an animal from an export, and checks that its members are consistent.
pub(crate) fn read_store_pet(object: &[u8]) -> Result<ExportedPet, Invalid> {
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
        "listed",
    ];
    let members = Members::parse(object, "The animal", &names)?;
    let pet = StorePet {
        id: members.required("id")?,
        name: members.required("name")?,
        category_id: members.required("categoryId")?,
        status: members.required("status")?,
        // Older files do not have this member.
        is_listed: members.optional("listed")?.unwrap_or(true),
        version: members.required::<Version>("version")?.0,
        created_at: members.nullable("createdAt")?,
        updated_at: members.nullable("updatedAt")?,
        order_id: members.nullable("orderId")?,
        withdrawal: members.nullable("withdrawn")?,
        fields: Member::from_file(&members, "fields")?,
        photos: Photos::NONE,
    };
    check_consistency(&pet)?;
    let PhotoCount(photo_count) = members.optional("photos")?.unwrap_or(PhotoCount(0));
    Ok(ExportedPet { pet, photo_count })
}

/// Checks two rules for an animal in an export. Only a pending animal in the catalogue, which is
/// not withdrawn, can be reserved by an order. A withdrawal is a change, so it sets `updatedAt`.
fn check_consistency(pet: &StorePet) -> Result<(), Invalid> {
    let can_be_reserved = pet.status == PetStatus::Pending && pet.withdrawal.is_none();
    if pet.order_id.is_some() && !can_be_reserved {
        return Err(Invalid::from_reason(
            "orderId must be null, except for a pending animal in the catalogue",
        ));
    }
    if pet.withdrawal.is_some() && pet.updated_at.is_none() {
        return Err(Invalid::from_reason(
            "updatedAt must not be null for a withdrawn animal",
        ));
    }
    Ok(())
}

/// Reads an animal from the log of changes, including its photos.
pub(super) fn read_logged_pet(object: &[u8]) -> Result<StorePet, Invalid> {
    let ExportedPet { pet, .. } = read_store_pet(object)?;
    // `read_store_pet` only counts the photos: only the log contains all of their data.
    let [photos_member] = super::parse_named_members(object, ["photos"])?;
    let photos = match photos_member {
        Some(array) => read_logged_photos(array.get())
            .ok_or_else(|| Invalid::from_reason("photos must be an array of photos"))?,
        // Entries of earlier releases have no photos.
        None => Photos::NONE,
    };
    Ok(StorePet { photos, ..pet })
}

/// Writes an animal of the store area.
pub fn write_store_pet(out: &mut Vec<u8>, pet: &StorePet) {
    let mut object = Object::begin(out);
    object.integer("id", pet.id.get());
    object.text("name", pet.name.as_str());
    object.integer("categoryId", pet.category_id);
    object.text("status", pet.status.as_str());
    object.integer("version", pet.version);
    let buffer = object.begin_member("createdAt");
    let start = buffer.len();
    pet.created_at.write_json(buffer);
    let end = buffer.len();
    if pet.updated_at == pet.created_at {
        // Copying the text is cheaper than formatting the same time again.
        object
            .begin_member("updatedAt")
            .extend_from_within(start..end);
    } else {
        object.put("updatedAt", &pet.updated_at);
    }
    object.put("orderId", &pet.order_id);
    let withdrawal = pet.withdrawal.as_ref();
    object.or_null("withdrawn", withdrawal, |object, name, withdrawal| {
        withdrawal.write(object.begin_member(name), Audience::All);
    });
    object.raw_or_null("fields", Some(pet.fields.as_json()));
    write_photos(object.begin_member("photos"), pet.id, &pet.photos);
    object.put("listed", &pet.is_listed);
    object.end();
}
