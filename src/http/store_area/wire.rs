//! Animals, orders, categories and the inventory as JSON.

use std::sync::Arc;

use hyper::{StatusCode, header::HeaderValue, http::request::Parts};
use jiff::{Timestamp, fmt::temporal::DateTimePrinter};

use crate::{
    domain::{
        StoredResponse,
        store_area::{
            Category, Decision, Inventory, Note, Order, Reason, Reference, Refusal, Resource,
            StorePet, Withdrawal,
        },
    },
    http::{App, Response, error::ApiError, etag, response},
    json,
};

/// The approximate length of an animal or an order without its texts, in bytes.
pub(super) const USUAL_LENGTH: usize = 256;

/// The maximum length of the response to a batch, in bytes.
const MAX_BATCH: usize = 1 << 20;

/// Why a batch was refused that has too long a response.
pub(super) const BATCH_TOO_LONG: &str = "The response to this batch would be longer than 1 MiB, \
     because of very long names. Send the commands in smaller batches.";

/// RFC 3339 in UTC with milliseconds.
static TIMES: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A JSON object that is being written.
struct Object<'o>(&'o mut Vec<u8>);

impl<'o> Object<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self(out)
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0
    }

    fn integer(&mut self, name: &str, value: impl itoa::Integer) {
        self.name(name).extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn text(&mut self, name: &str, value: &str) {
        json::write_string(self.name(name), value);
    }

    fn time(&mut self, name: &str, value: Timestamp) {
        let out = self.name(name);
        out.push(b'"');
        // A write to memory cannot fail.
        let _ = TIMES.print_timestamp(&value, &mut *out);
        out.push(b'"');
    }

    /// Writes the value with `write`, or null.
    fn or_null<T>(&mut self, name: &str, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.name(name).extend_from_slice(b"null"),
        }
    }

    fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        self.or_null(name, value, |object, value| object.text(name, value));
    }

    fn time_or_null(&mut self, name: &str, value: Option<Timestamp>) {
        self.or_null(name, value, |object, value| object.time(name, value));
    }

    fn end(self) {
        self.0.push(b'}');
    }
}

pub(super) fn write_pet(out: &mut Vec<u8>, pet: &StorePet) {
    let mut object = Object::begin(out);
    object.integer("id", pet.id.get());
    object.text("name", pet.name.as_str());
    object.integer("categoryId", pet.category_id);
    object.text("status", pet.status.as_str());
    object.integer("version", pet.version);
    object.time_or_null("createdAt", pet.created_at);
    object.time_or_null("updatedAt", pet.updated_at);
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

pub(super) fn write_order(out: &mut Vec<u8>, order: &Order) {
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

pub(super) fn write_category(out: &mut Vec<u8>, category: &Category) {
    let mut object = Object::begin(out);
    object.integer("id", category.id);
    object.text("label", category.label.as_str());
    object.integer("version", category.version);
    object.end();
}

pub(super) fn inventory(inventory: &Inventory) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH);
    let mut object = Object::begin(&mut out);
    object.integer("available", inventory.available);
    object.integer("pending", inventory.pending);
    object.integer("sold", inventory.sold);
    object.integer("withdrawn", inventory.withdrawn);
    object.time("countedAt", inventory.counted_at);
    object.end();
    out
}

fn write_resource(out: &mut Vec<u8>, resource: &Resource) {
    match resource {
        Resource::Pet(pet) => write_pet(out, pet),
        Resource::Order(order) => write_order(out, order),
        Resource::Category(category) => write_category(out, category),
    }
}

/// An animal, an order or a category.
pub(super) fn resource(resource: &Resource) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_LENGTH);
    write_resource(&mut out, resource);
    out
}

/// The `ETag` of a version.
pub(super) fn tag(version: i64) -> String {
    format!("\"{version}\"")
}

/// The response to one command: what it is about, as it is now. Nothing if it was deleted.
#[expect(clippy::unnecessary_wraps, reason = "as a `RespondTo`")]
pub(super) fn one(decisions: &[Decision]) -> Result<StoredResponse, Refusal> {
    let result = decisions.first().and_then(|decision| decision.result.as_ref());
    let status = if result.is_some() { StatusCode::OK } else { StatusCode::NO_CONTENT };
    Ok(StoredResponse {
        status: status.as_u16(),
        location: None,
        etag: result.map(|resource| tag(resource.version())),
        body: result.map(resource).unwrap_or_default(),
    })
}

/// The response to a command that may have made what it is about.
pub(super) fn created(decisions: &[Decision]) -> Result<StoredResponse, Refusal> {
    let mut response = one(decisions)?;
    let change = decisions.first().and_then(|decision| decision.changes.first());
    let Some(change) = change.filter(|change| change.before.is_none()) else {
        return Ok(response);
    };
    response.status = StatusCode::CREATED.as_u16();
    if let Some(Resource::Order(order)) = &change.after {
        response.location = Some(format!("/store/orders/{}", order.id));
    }
    Ok(response)
}

/// The response to several commands: what each is about, as it was after that command.
pub(super) fn all(decisions: &[Decision]) -> Result<StoredResponse, Refusal> {
    let mut body = Vec::with_capacity(decisions.len() * USUAL_LENGTH);
    for result in decisions.iter().filter_map(|decision| decision.result.as_ref()) {
        body.push(if body.is_empty() { b'[' } else { b',' });
        write_resource(&mut body, result);
        if body.len() >= MAX_BATCH {
            return Err(Refusal::Invalid(BATCH_TOO_LONG));
        }
    }
    body.push(b']');
    Ok(StoredResponse { status: StatusCode::OK.as_u16(), location: None, etag: None, body })
}

/// The response to a read by id, or a 304 if the client has this version.
pub(super) fn respond(
    app: &App,
    request: &Parts,
    resource: &Resource,
) -> Result<Response, ApiError> {
    let body = app.edge.response_memory.hold(self::resource(resource))?;
    let tag = HeaderValue::try_from(tag(resource.version()))
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(etag::respond(&request.headers, response::json(StatusCode::OK, body), tag))
}
