//! The rows of the log of changes, as far as they are the same in every store.

use crate::{
    domain::{
        NamedActor, WriteContext,
        store_area::{Change, ChangeType, Resource, StorePet},
    },
    json,
};

/// The maximum number of rows that are read for one page.
pub(super) const SCAN: i64 = 10_000;

/// The approximate length of a representation without its texts, in bytes.
const USUAL_LENGTH: usize = 256;

/// A change that is about to be logged.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: ChangeType,
    pub(super) subject: Option<i64>,
    pub(super) version: Option<i64>,
    /// The animal that it concerns, also if the subject is an order.
    pub(super) pet: Option<i64>,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Entry {
    /// A new animal.
    pub(super) fn added(pet: &StorePet) -> Self {
        let id = Some(pet.id.get());
        let after = Some(text(|out| json::write_store_pet(out, pet), pet.name.as_str().len()));
        let (kind, version) = (ChangeType::PetAdded, Some(pet.version));
        Self { kind, subject: id, version, pet: id, before: None, after }
    }

    /// A change of the store area.
    pub(super) fn of(change: &Change) -> Self {
        let (subject, pet) = match change.after.as_ref().or(change.before.as_ref()) {
            Some(Resource::Pet(pet)) => (Some(pet.id.get()), Some(pet.id.get())),
            Some(Resource::Order(order)) => (Some(order.id.get()), Some(order.pet_id.get())),
            Some(Resource::Category(category)) => (Some(category.id), None),
            None => (None, None),
        };
        let shown = |resource: &Option<Resource>| {
            let resource = resource.as_ref()?;
            Some(text(|out| json::write_resource(out, resource), 0))
        };
        let latest = change.after.as_ref().or(change.before.as_ref());
        Self {
            kind: change.kind,
            subject,
            version: latest.map(Resource::version),
            pet,
            before: shown(&change.before),
            after: shown(&change.after),
        }
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>), length: usize) -> String {
    let mut out = Vec::with_capacity(USUAL_LENGTH + length);
    write(&mut out);
    // JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Who makes a change or acts, when, and by which request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'c> {
    /// In milliseconds.
    pub(super) at: i64,
    pub(super) actor: &'c NamedActor,
    pub(super) request_id: Option<&'c str>,
}

impl<'c> From<&'c WriteContext> for Origin<'c> {
    fn from(context: &'c WriteContext) -> Self {
        Self {
            at: context.now.as_millisecond(),
            actor: &context.actor,
            request_id: context.request_id.as_deref(),
        }
    }
}
