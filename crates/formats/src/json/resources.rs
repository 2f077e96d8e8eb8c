//! Categories, webhooks and delivery attempts of the store area as JSON, and resources of any kind.

use petstore_domain::{
    named_enum::MaybeKnown,
    store_area::{Attempt, Category, Order, Resource, SubjectKind, Webhook, Withdrawal},
};

use super::{
    Invalid, Object,
    declared::DeclaredObject,
    order::read_logged_order,
    pet_note::write_note_without_text,
    resource::{Audience, DeclaredResource, resource},
    store_pet::read_logged_pet,
    write_order, write_store_pet,
};

resource!(Category: id, label; version);

/// Writes a category.
pub fn write_category(out: &mut Vec<u8>, category: &Category) {
    category.write(out, Audience::All);
}

/// Describes the declared members of all resources. The tests write them into the OpenAPI document.
pub fn declared_resources() -> Vec<DeclaredObject> {
    vec![
        Order::declared(),
        Category::declared(),
        Withdrawal::declared(),
    ]
}

/// Reads a category from an export.
pub(crate) fn read_category(object: &[u8]) -> Result<Category, Invalid> {
    Category::read_representation(object, "The category", Audience::File)
}

/// Reads the representation of an animal, an order or a category from the log of changes, as
/// [`write_resource`] wrote it. Returns `None` for other kinds of subjects, and for a
/// representation by a later release.
///
/// The log has neither contacts nor the texts of notes. An order is therefore read without its
/// contact, and a note is not read at all.
pub(crate) fn read_logged_resource(kind: SubjectKind, representation: &str) -> Option<Resource> {
    let object = representation.as_bytes();
    let resource = match kind {
        SubjectKind::Pet => read_logged_pet(object).map(Resource::Pet),
        SubjectKind::Order => read_logged_order(object).map(Resource::Order),
        SubjectKind::Category => {
            Category::read_representation(object, "The category", Audience::All)
                .map(Resource::Category)
        }
        _ => return None,
    };
    // The reason of a failure is not needed: only a later release writes what this one cannot read.
    resource.ok()
}

/// Writes an animal, an order without its contact, a category, or a note without its text.
pub fn write_resource(out: &mut Vec<u8>, resource: &Resource) {
    match resource {
        Resource::Pet(pet) => write_store_pet(out, pet),
        Resource::Order(order) => write_order(out, order),
        Resource::Category(category) => write_category(out, category),
        Resource::Note(note) => write_note_without_text(out, note),
    }
}

/// Writes a webhook. `secret` is its secret in the response to the command that made the secret,
/// and `None` in any other response.
pub fn write_webhook(out: &mut Vec<u8>, webhook: &Webhook, secret: Option<&str>) {
    let mut object = Object::begin(out);
    object.integer("id", webhook.id.0);
    object.text("url", &webhook.url);
    let types = webhook.types.as_ref();
    object.or_null("types", types, |object, name, types| {
        object.texts(name, types.iter().map(MaybeKnown::as_str));
    });
    object.put("description", &webhook.description);
    object.put("enabled", &webhook.disabled.is_none());
    object.put("disabledReason", &webhook.disabled);
    object.time("createdAt", webhook.created_at);
    object.time("updatedAt", webhook.updated_at);
    object.integer("version", webhook.version);
    if let Some(secret) = secret {
        object.text("secret", secret);
    }
    object.end();
}

/// Writes an attempt to deliver a message to a webhook.
pub fn write_attempt(out: &mut Vec<u8>, attempt: &Attempt) {
    let mut object = Object::begin(out);
    object.text("messageId", &attempt.message_id);
    object.time("at", attempt.at);
    object.put("status", &attempt.status);
    object.integer("durationMs", attempt.duration_ms);
    object.text_or_null("error", attempt.error.as_deref());
    object.end();
}
