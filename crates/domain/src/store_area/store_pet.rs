//! The animal as the store area shows it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{FieldPatch, FieldValue, FieldValues, Note, OrderId, PLACE, Photos};
use crate::{NewPet, PetId, PetName, PetStatus, words::words};

/// An animal of the store, withdrawn or not. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePet {
    /// Given by the store, unique, and never given again.
    pub id: PetId,
    pub name: PetName,
    pub category_id: i64,
    /// The status. A withdrawn animal keeps the status that it had.
    pub status: PetStatus,
    /// Whether the window may show the animal. If not, only the staff and programs with a key see it.
    pub is_listed: bool,
    /// From 1, one higher with each change that a client can see.
    pub version: i64,
    /// When it was added; `None` if it is older than the store area.
    pub created_at: Option<Timestamp>,
    /// When it last changed; `None` if that is older than the store area.
    pub updated_at: Option<Timestamp>,
    /// The open order that reserves it.
    pub order_id: Option<OrderId>,
    /// Whether, when and why it left the catalogue.
    pub withdrawal: Option<Withdrawal>,
    pub fields: FieldValues,
    pub photos: Photos,
}

impl StorePet {
    /// Returns an animal in its first version, without values of fields and without photos, which is added at `now`.
    pub fn new(id: PetId, new_pet: NewPet, now: Timestamp) -> Self {
        Self {
            id,
            name: new_pet.name,
            category_id: new_pet.category_id,
            status: new_pet.status,
            is_listed: new_pet.is_listed,
            version: 1,
            created_at: Some(now),
            updated_at: Some(now),
            order_id: None,
            withdrawal: None,
            fields: FieldValues::NONE,
            photos: Photos::NONE,
        }
    }

    /// Returns the animal with the new values of a patch, in the same version. `new_values` must be the result of
    /// [`FieldSet::apply`](super::FieldSet::apply) with the patch's fields.
    pub fn with_patch(&self, patch: PetPatch, new_values: FieldValues) -> Self {
        // The pattern has no `..`, so that no member is forgotten.
        let PetPatch {
            name,
            category_id,
            status,
            is_listed,
            fields: _,
        } = patch;
        let mut after = self.clone();
        after.name = name.unwrap_or(after.name);
        after.category_id = category_id.unwrap_or(after.category_id);
        after.status = status.unwrap_or(after.status);
        after.is_listed = is_listed.unwrap_or(after.is_listed);
        after.fields = new_values;
        after
    }

    /// Returns the value of the field that can be the price of an order.
    pub fn price(&self) -> Option<&FieldValue> {
        self.fields.get("price")
    }

    /// Returns the place of the animal, such as its kennel.
    pub fn place(&self) -> Option<&str> {
        match self.fields.get(PLACE)? {
            FieldValue::Text(place) => Some(place),
            FieldValue::Integer(_) | FieldValue::Boolean(_) => None,
        }
    }

    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let note_length = match &self.withdrawal {
            Some(Withdrawal {
                note: Some(note), ..
            }) => note.as_str().len(),
            _ => 0,
        };
        self.name.as_str().len() + note_length + self.fields.as_json().len() + self.photos.length()
    }
}

/// New values of an animal. `None` keeps the present value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetPatch {
    pub name: Option<PetName>,
    pub category_id: Option<i64>,
    /// The new status, which is only valid while the animal has no open order.
    pub status: Option<PetStatus>,
    pub is_listed: Option<bool>,
    pub fields: FieldPatch,
}

/// The time and the reason for which an animal left the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    pub at: Timestamp,
    pub reason: WithdrawalReason,
    pub note: Option<Note>,
}

words! {
    pub enum WithdrawalReason {
        Died = "died",
        Transferred = "transferred",
        Reclaimed = "reclaimed",
        Mistake = "mistake",
        /// Another reason, which the note can explain.
        Other = "other",
    }
}
