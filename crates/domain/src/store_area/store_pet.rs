//! The animal with everything that the store area adds to it: fields, photos, versions and
//! withdrawals.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::Timestamp;

use super::{FieldPatch, FieldValue, FieldValues, Note, OrderId, PLACE, Photos};
use crate::{NewPet, PetId, PetName, PetStatus, named_enum::named_enum};

/// An animal of the store, in the catalogue or withdrawn. Times have a resolution of one
/// millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePet {
    /// Assigned by the store, unique, and never reused.
    pub id: PetId,
    pub name: PetName,
    pub category_id: i64,
    /// The sales status. A withdrawn animal keeps its last status.
    pub status: PetStatus,
    /// Whether the window may show the animal. If not, only the staff and programs with an API key
    /// see it.
    pub is_listed: bool,
    /// Starts at 1 and increases by one with each change that is visible to clients.
    pub version: i64,
    /// When the animal was added; `None` if that was before the store area existed.
    pub created_at: Option<Timestamp>,
    /// When the animal last changed; `None` if that was before the store area existed.
    pub updated_at: Option<Timestamp>,
    /// The open order that reserves the animal.
    pub order_id: Option<OrderId>,
    /// When and why the animal was withdrawn; `None` for an animal in the catalogue.
    pub withdrawal: Option<Withdrawal>,
    pub fields: FieldValues,
    pub photos: Photos,
}

impl StorePet {
    /// Creates an animal that is added at `now`, in its first version, without field values and
    /// photos.
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

    /// Returns the patched animal, still with the present version. `new_values` must be the result
    /// of [`FieldSet::apply`](super::FieldSet::apply) for the fields of the patch.
    pub fn with_patch(&self, patch: PetPatch, new_values: FieldValues) -> Self {
        // The pattern has no `..`, so that a new member cannot be forgotten here.
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

    /// Returns the value of the field `price`, which can be the price of an order: see
    /// [`asking_price`](super::asking_price).
    pub fn price(&self) -> Option<&FieldValue> {
        self.fields.get("price")
    }

    /// Returns the location of the animal, such as its kennel.
    pub fn place(&self) -> Option<&str> {
        match self.fields.get(PLACE)? {
            FieldValue::Text(place) => Some(place),
            FieldValue::Integer(_) | FieldValue::Boolean(_) => None,
        }
    }

    /// Returns the total length of the texts, field values and photos, in bytes.
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

/// A change of an animal. `None` keeps the present value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetPatch {
    pub name: Option<PetName>,
    pub category_id: Option<i64>,
    /// The new status. It can change only while the animal has no open order.
    pub status: Option<PetStatus>,
    pub is_listed: Option<bool>,
    pub fields: FieldPatch,
}

/// When and why an animal was withdrawn from the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    pub at: Timestamp,
    pub reason: WithdrawalReason,
    pub note: Option<Note>,
}

named_enum! {
    pub enum WithdrawalReason {
        Died = "died",
        Transferred = "transferred",
        Reclaimed = "reclaimed",
        Mistake = "mistake",
        /// Any other reason, which the note can explain.
        Other = "other",
    }
}
