//! An animal of the store area as JSON.

use super::{
    Invalid, Object,
    members::{
        INTEGER, Kind, Members, NAME, NOTE, ORDER_ID, PET_ID, PET_STATUS, TIME, VERSION,
        WITHDRAWAL_REASON,
    },
};
use crate::domain::{
    PetStatus,
    store_area::{Note, PetPatch, StorePet, Withdrawal},
};

/// The members that a request can change.
pub(crate) const PATCH: &[&str] = &["name", "categoryId", "status"];

pub(crate) fn read_patch(members: &Members<'_>) -> Result<PetPatch, Invalid> {
    Ok(PetPatch {
        name: members.optional("name", &NAME)?,
        category_id: members.optional("categoryId", &INTEGER)?,
        status: members.optional("status", &PET_STATUS)?,
    })
}

const WITHDRAWAL: Kind<Withdrawal> = Kind {
    read: |value| read_withdrawal(value.get().as_bytes()).ok(),
    is: "null, or an object with a valid at, reason and note",
};

/// An animal in a file.
pub(crate) fn read_store_pet(object: &[u8]) -> Result<StorePet, Invalid> {
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
    };
    if pet.order_id.is_some() && (pet.status != PetStatus::Pending || pet.withdrawn.is_some()) {
        return Err(Invalid::of(
            "orderId must be null, except for a pending animal in the catalogue",
        ));
    }
    if pet.withdrawn.is_some() && pet.updated_at.is_none() {
        return Err(Invalid::of("updatedAt must not be null for a withdrawn animal"));
    }
    Ok(pet)
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
    object.end();
}

fn write_withdrawal(out: &mut Vec<u8>, withdrawal: &Withdrawal) {
    let mut object = Object::begin(out);
    object.time("at", withdrawal.at);
    object.text("reason", withdrawal.reason.as_str());
    object.text_or_null("note", withdrawal.note.as_ref().map(Note::as_str));
    object.end();
}
