//! Animals, orders and categories of the store area as JSON.

use jiff::{Timestamp, fmt::temporal::DateTimePrinter};

use crate::domain::store_area::{
    Attempt, Category, DisabledReason, Label, Note, Order, Reason, Reference, Resource, StorePet,
    Webhook, Withdrawal,
};

/// RFC 3339 in UTC with milliseconds.
static TIMES: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A JSON object that is being written.
pub(crate) struct Object<'o>(&'o mut Vec<u8>);

impl<'o> Object<'o> {
    pub(crate) fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self(out)
    }

    pub(crate) fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0
    }

    pub(crate) fn integer(&mut self, name: &str, value: impl itoa::Integer) {
        self.name(name).extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        super::write_string(self.name(name), value);
    }

    pub(crate) fn time(&mut self, name: &str, value: Timestamp) {
        let out = self.name(name);
        out.push(b'"');
        // A write to memory cannot fail.
        let _ = TIMES.print_timestamp(&value, &mut *out);
        out.push(b'"');
    }

    /// Writes the value with `write`, or null.
    pub(crate) fn or_null<T>(
        &mut self,
        name: &str,
        value: Option<T>,
        write: impl FnOnce(&mut Self, T),
    ) {
        match value {
            Some(value) => write(self, value),
            None => self.name(name).extend_from_slice(b"null"),
        }
    }

    pub(crate) fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        self.or_null(name, value, |object, value| object.text(name, value));
    }

    fn time_or_null(&mut self, name: &str, value: Option<Timestamp>) {
        self.or_null(name, value, |object, value| object.time(name, value));
    }

    /// Copies a value that is JSON already.
    pub(super) fn raw_or_null(&mut self, name: &str, value: Option<&str>) {
        self.name(name).extend_from_slice(value.unwrap_or("null").as_bytes());
    }

    pub(crate) fn end(self) {
        self.0.push(b'}');
    }
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

pub(crate) fn write_order(out: &mut Vec<u8>, order: &Order) {
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
    object.end();
}

pub(crate) fn write_category(out: &mut Vec<u8>, category: &Category) {
    let mut object = Object::begin(out);
    object.integer("id", category.id);
    object.text("label", category.label.as_str());
    object.integer("version", category.version);
    object.end();
}

/// The representation of an animal, an order or a category.
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
        let out = object.name("types");
        for (at, kind) in types.iter().enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            super::write_string(out, kind.as_str());
        }
        out.push(b']');
    });
    object.text_or_null("description", webhook.description.as_ref().map(Label::as_str));
    let enabled = if webhook.disabled.is_none() { "true" } else { "false" };
    object.name("enabled").extend_from_slice(enabled.as_bytes());
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
