//! The animal as the store area shows it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{FieldPatch, FieldValue, FieldValues, Note, OrderId, Photos};
use crate::{NewPet, PetId, PetName, PetStatus, words::words};

/// An animal of the store, withdrawn or not. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePet {
    /// Given by the store, unique, and never given again.
    pub id: PetId,
    pub name: PetName,
    pub category_id: i64,
    /// Its status. A withdrawn animal keeps the status that it had.
    pub status: PetStatus,
    /// From 1, one higher with each change that a client can see.
    pub version: i64,
    /// When it was added; `None` if it is older than the store area.
    pub created_at: Option<Timestamp>,
    /// When it last changed; `None` if that is older than the store area.
    pub updated_at: Option<Timestamp>,
    /// The open order for it.
    pub order_id: Option<OrderId>,
    /// Whether, when and why it left the catalogue.
    pub withdrawal: Option<Withdrawal>,
    /// The values of its fields.
    pub fields: FieldValues,
    pub photos: Photos,
}

impl StorePet {
    /// Returns an animal that is added at this time.
    pub fn new(id: PetId, new: NewPet, now: Timestamp) -> Self {
        Self {
            id,
            name: new.name,
            category_id: new.category_id,
            status: new.status,
            version: 1,
            created_at: Some(now),
            updated_at: Some(now),
            order_id: None,
            withdrawal: None,
            fields: FieldValues::NONE,
            photos: Photos::NONE,
        }
    }

    /// Returns the animal with new values. Without `..`, so that none is forgotten. Those of its
    /// fields depend on [`FieldSet::apply`](super::FieldSet::apply).
    pub fn with_patch(&self, patch: PetPatch, fields: FieldValues) -> Self {
        let PetPatch {
            name,
            category_id,
            status,
            fields: _,
        } = patch;
        let mut after = self.clone();
        after.name = name.unwrap_or(after.name);
        after.category_id = category_id.unwrap_or(after.category_id);
        after.status = status.unwrap_or(after.status);
        after.fields = fields;
        after
    }

    /// Returns the value of the field that can be the price of an order.
    pub fn price(&self) -> Option<&FieldValue> {
        self.fields.get("price")
    }

    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let note = self
            .withdrawal
            .as_ref()
            .and_then(|withdrawal| withdrawal.note.as_ref());
        let note = note.map_or(0, |note| note.as_str().len());
        self.name.as_str().len() + note + self.fields.as_json().len() + self.photos.length()
    }
}

/// New values of an animal. `None` keeps the present value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetPatch {
    pub name: Option<PetName>,
    pub category_id: Option<i64>,
    /// Its status. Only while no order is open.
    pub status: Option<PetStatus>,
    pub fields: FieldPatch,
}

/// How an animal left the catalogue.
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
        /// Anything else, which the note can explain.
        Other = "other",
    }
}
