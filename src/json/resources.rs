//! Animals, orders and categories of the store area as JSON.

use super::{
    Invalid, Object,
    members::{
        BOOLEAN, CONTACT, DECIMAL, INTEGER, Kind, LABEL, Members, NOTE, ORDER_ID, PET_ID, REASON,
        REFERENCE, TIME, VERSION,
    },
    write_store_pet,
};
use crate::domain::{
    store_area::{
        Attempt, Category, Contact, Decimal, DisabledReason, Label, Note, Order, OrderStatus,
        Reason, Reference, Resource, Webhook,
    },
    words::Word,
};

/// An order without its contact, for what is kept, and for callers without permission to see it.
pub(crate) fn write_order(out: &mut Vec<u8>, order: &Order) {
    write_order_with(out, order, None);
}

pub(crate) fn write_order_with_contact(out: &mut Vec<u8>, order: &Order) {
    write_order_with(out, order, order.contact.as_ref());
}

fn write_order_with(out: &mut Vec<u8>, order: &Order, contact: Option<&Contact>) {
    let mut object = Object::begin(out);
    object.integer("id", order.id.get());
    object.integer("petId", order.pet_id.get());
    object.text("status", order.status.as_str());
    object.text_or_null("reference", order.reference.as_ref().map(Reference::as_str));
    object.text_or_null("note", order.note.as_ref().map(Note::as_str));
    object.text_or_null("reason", order.reason.as_ref().map(Reason::as_str));
    object.time_or_null("expiresAt", order.expires_at);
    object.time("createdAt", order.created_at);
    object.time_or_null("closedAt", order.closed_at);
    object.integer("version", order.version);
    object.text_or_null("price", order.price.as_ref().map(Decimal::as_str));
    object.text_or_null("contact", contact.map(Contact::as_str));
    object.end();
}

const ORDER_STATUS: Kind<OrderStatus> = Kind {
    read: |value| super::string(value)?.parse().ok(),
    is: "one of reserved, completed, cancelled, expired and returned",
};

/// An order in a file, with whether it holds its animal.
pub(crate) fn read_order(object: &[u8]) -> Result<Order, Invalid> {
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
        "price",
        "contact",
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
        price: members.optional_or_null("price", &DECIMAL)?,
        contact: members.optional_or_null("contact", &CONTACT)?,
        holds: members.required("holds", &BOOLEAN)?,
    };
    let is_open = order.status == OrderStatus::Reserved;
    if is_open != order.closed_at.is_none() {
        return Err(Invalid::of("closedAt must be null for a reserved order, and for no other"));
    }
    if is_open && order.expires_at.is_none() {
        return Err(Invalid::of("expiresAt must not be null for a reserved order"));
    }
    if order.status != OrderStatus::Completed && order.holds != is_open {
        return Err(Invalid::of(
            "holds must be true for a reserved order, and false for a cancelled, expired or \
             returned one",
        ));
    }
    Ok(order)
}

pub(crate) fn write_category(out: &mut Vec<u8>, category: &Category) {
    let mut object = Object::begin(out);
    object.integer("id", category.id);
    object.text("label", category.label.as_str());
    object.integer("version", category.version);
    object.end();
}

/// A category in a file.
pub(crate) fn read_category(object: &[u8]) -> Result<Category, Invalid> {
    let members = Members::of(object, "The category", &["id", "label", "version"])?;
    Ok(Category {
        id: members.required("id", &INTEGER)?,
        label: members.required("label", &LABEL)?,
        version: members.required("version", &VERSION)?,
    })
}

/// The representation of an animal, an order without its contact, or a category.
pub(crate) fn write_resource(out: &mut Vec<u8>, resource: &Resource) {
    match resource {
        Resource::Pet(pet) => write_store_pet(out, pet),
        Resource::Order(order) => write_order(out, order),
        Resource::Category(category) => write_category(out, category),
    }
}

/// A webhook, with its secret if it has just been made.
pub(crate) fn write_webhook(out: &mut Vec<u8>, webhook: &Webhook, secret: Option<&str>) {
    let mut object = Object::begin(out);
    object.integer("id", webhook.id);
    object.text("url", &webhook.url);
    object.or_null("types", webhook.types.as_ref(), |object, types| {
        object.texts("types", types.iter().map(Word::as_str));
    });
    object.text_or_null("description", webhook.description.as_ref().map(Label::as_str));
    object.boolean("enabled", webhook.disabled.is_none());
    object.text_or_null("disabledReason", webhook.disabled.map(DisabledReason::as_str));
    object.time("createdAt", webhook.created_at);
    object.time("updatedAt", webhook.updated_at);
    object.integer("version", webhook.version);
    if let Some(secret) = secret {
        object.text("secret", secret);
    }
    object.end();
}

/// An attempt to deliver a message.
pub(crate) fn write_attempt(out: &mut Vec<u8>, attempt: &Attempt) {
    let mut object = Object::begin(out);
    object.text("messageId", &attempt.message_id);
    object.time("at", attempt.at);
    object.or_null("status", attempt.status, |object, status| object.integer("status", status));
    object.integer("durationMs", attempt.duration_ms);
    object.text_or_null("error", attempt.error.as_deref());
    object.end();
}
