//! Lines with an animal, an order or a category of the store area: `{"pet":{…}}`, `{"order":{…}}` or
//! `{"category":{…}}`, each as in a response of the service. An order also says whether it holds its
//! animal.

use serde_json::value::RawValue;

use super::{InvalidRow, UP_TO_HIGHEST_IMPORTED, imported};
use crate::{
    domain::{
        PetId, PetStatus,
        store_area::{Category, Order, OrderId, OrderStatus, Resource, StorePet, Withdrawal},
    },
    json::{
        self, Invalid,
        members::{
            INTEGER, Kind, LABEL, Members, NAME, NOTE, PET_STATUS, REASON, REFERENCE, TIME,
            WITHDRAWAL_REASON,
        },
    },
};

const PET: &str = "pet";
const ORDER: &str = "order";
const CATEGORY: &str = "category";

const PET_ID: Kind<PetId> =
    Kind { read: |value| number(value).and_then(PetId::new), is: UP_TO_HIGHEST_IMPORTED };
const ORDER_ID: Kind<OrderId> =
    Kind { read: |value| number(value).and_then(OrderId::new), is: UP_TO_HIGHEST_IMPORTED };
const VERSION: Kind<i64> =
    Kind { read: |value| number(value).filter(|&version| version > 0), is: UP_TO_HIGHEST_IMPORTED };
const ORDER_STATUS: Kind<OrderStatus> = Kind {
    read: |value| json::string(value)?.parse().ok(),
    is: "one of reserved, completed, cancelled, expired and returned",
};
const BOOLEAN: Kind<bool> = Kind { read: |value| value.get().parse().ok(), is: "true or false" };
const WITHDRAWAL: Kind<Withdrawal> = Kind {
    read: |value| withdrawal(value.get().as_bytes()).ok(),
    is: "null, or an object with a valid at, reason and note",
};

/// An identifier or a version.
fn number(value: &RawValue) -> Option<i64> {
    json::integer(value).and_then(imported)
}

pub(super) fn write(out: &mut Vec<u8>, resource: &Resource) {
    let tag = match resource {
        Resource::Pet(_) => PET,
        Resource::Order(_) => ORDER,
        Resource::Category(_) => CATEGORY,
    };
    out.extend_from_slice(format!("{{\"{tag}\":").as_bytes());
    json::write_resource(out, resource);
    if let Resource::Order(order) = resource {
        // Into the object.
        out.pop();
        out.extend_from_slice(format!(",\"holds\":{}}}", order.holds).as_bytes());
    }
    out.extend_from_slice(b"}\n");
}

/// Whether a line is an object that begins with the tag of the store area.
pub(super) fn is_tagged(line: &str) -> bool {
    let first = line.trim_start().strip_prefix('{');
    let first = first.and_then(|line| line.trim_start().strip_prefix('"')?.split_once('"'));
    first.is_some_and(|(name, _)| [PET, ORDER, CATEGORY].contains(&name))
}

/// Parses a line that [`is_tagged`].
pub(super) fn parse(line: &str) -> Result<Resource, InvalidRow> {
    let parsed = || {
        let line = json::members(line.trim_end().as_bytes(), "The line")?;
        let [(tag, object)] = &line[..] else {
            return Err(invalid("the line must have one member: pet, order or category"));
        };
        let object = object.get().as_bytes();
        match tag.as_str() {
            PET => pet(object).map(Resource::Pet),
            ORDER => order(object).map(Resource::Order),
            _ => category(object).map(Resource::Category),
        }
    };
    parsed().map_err(|invalid: Invalid| {
        let reason = invalid.to_string().replace("at line 1, column", "at byte");
        let reason = reason.trim_end_matches('.').to_owned();
        InvalidRow { column: None, reason }
    })
}

fn pet(object: &[u8]) -> Result<StorePet, Invalid> {
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
        return Err(invalid("orderId must be null, except for a pending animal in the catalogue"));
    }
    if pet.withdrawn.is_some() && pet.updated_at.is_none() {
        return Err(invalid("updatedAt must not be null for a withdrawn animal"));
    }
    Ok(pet)
}

fn withdrawal(object: &[u8]) -> Result<Withdrawal, Invalid> {
    let members = Members::of(object, "withdrawn", &["at", "reason", "note"])?;
    Ok(Withdrawal {
        at: members.required("at", &TIME)?,
        reason: members.required("reason", &WITHDRAWAL_REASON)?,
        note: members.nullable("note", &NOTE)?,
    })
}

fn order(object: &[u8]) -> Result<Order, Invalid> {
    let names = [
        "id",
        "petId",
        "status",
        "reference",
        "note",
        "reason",
        "expiresAt",
        "createdAt",
        "closedAt",
        "version",
        "holds",
    ];
    let members = Members::of(object, "The order", &names)?;
    let order = Order {
        id: members.required("id", &ORDER_ID)?,
        pet_id: members.required("petId", &PET_ID)?,
        status: members.required("status", &ORDER_STATUS)?,
        reference: members.nullable("reference", &REFERENCE)?,
        note: members.nullable("note", &NOTE)?,
        reason: members.nullable("reason", &REASON)?,
        expires_at: members.nullable("expiresAt", &TIME)?,
        created_at: members.required("createdAt", &TIME)?,
        closed_at: members.nullable("closedAt", &TIME)?,
        version: members.required("version", &VERSION)?,
        holds: members.required("holds", &BOOLEAN)?,
    };
    let is_open = order.status == OrderStatus::Reserved;
    if is_open != order.closed_at.is_none() {
        return Err(invalid("closedAt must be null for a reserved order, and for no other"));
    }
    if is_open && order.expires_at.is_none() {
        return Err(invalid("expiresAt must not be null for a reserved order"));
    }
    if order.status != OrderStatus::Completed && order.holds != is_open {
        return Err(invalid(
            "holds must be true for a reserved order, and false for a cancelled, expired or \
             returned one",
        ));
    }
    Ok(order)
}

fn category(object: &[u8]) -> Result<Category, Invalid> {
    let members = Members::of(object, "The category", &["id", "label", "version"])?;
    Ok(Category {
        id: members.required("id", &INTEGER)?,
        label: members.required("label", &LABEL)?,
        version: members.required("version", &VERSION)?,
    })
}

fn invalid(reason: &str) -> Invalid {
    Invalid::Value(reason.to_owned())
}
