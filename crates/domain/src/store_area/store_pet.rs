//! The animal with everything that the store area adds to it: fields, photos, versions and
//! withdrawals.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::Timestamp;

use super::{FieldDefinition, FieldPatch, FieldValue, FieldValues, Note, OrderId, PLACE, Photos};
use crate::{NewPet, PetId, PetName, PetStatus, named_enum::named_enum};

/// An animal of the store, in the catalogue or withdrawn. Times have a resolution of one
/// millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePet {
    /// Assigned by the store, unique, and never reused.
    pub id: PetId,
    pub name: PetName,
    /// The number of the category, which need not have a label.
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
    /// The time and the reason of the withdrawal; `None` for an animal in the catalogue.
    pub withdrawal: Option<Withdrawal>,
    pub fields: FieldValues,
    pub photos: Photos,
}

impl StorePet {
    /// Creates the first version of an animal that is added at `now`. It has no field values or
    /// photos yet.
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

    /// Returns the patched animal. Its version does not increase yet.
    ///
    /// `new_values` are the field values after the patch, which only
    /// [`FieldSet::apply`](super::FieldSet::apply) can compute.
    pub fn with_patch(&self, patch: PetPatch, new_values: FieldValues) -> Self {
        // The pattern has no `..`, so that a new member cannot be forgotten here.
        let PetPatch {
            name,
            category_id,
            status,
            is_listed,
            // They are already in `new_values`.
            fields: _,
        } = patch;
        let mut patched = self.clone();
        patched.name = name.unwrap_or(patched.name);
        patched.category_id = category_id.unwrap_or(patched.category_id);
        patched.status = status.unwrap_or(patched.status);
        patched.is_listed = is_listed.unwrap_or(patched.is_listed);
        patched.fields = new_values;
        patched
    }

    /// Returns the value of the field `price`. Only a valid price becomes the price of an order:
    /// see [`asking_price`](super::asking_price).
    pub fn price(&self) -> Option<&FieldValue> {
        self.fields.get(FieldDefinition::PRICE)
    }

    /// Returns the location of the animal, such as its kennel.
    pub fn place(&self) -> Option<&str> {
        match self.fields.get(PLACE)? {
            FieldValue::Text(place) => Some(place),
            FieldValue::Integer(_) | FieldValue::Boolean(_) => None,
        }
    }

    /// Returns the approximate length of the animal in a response, in bytes: of its texts, its
    /// field values and the descriptions of its photos. Other members are short, and not counted.
    pub fn length(&self) -> usize {
        let withdrawal_note = self
            .withdrawal
            .as_ref()
            .and_then(|withdrawal| withdrawal.note.as_ref());
        let note_length = withdrawal_note.map_or(0, |note| note.as_str().len());
        self.name.as_str().len() + note_length + self.fields.as_json().len() + self.photos.length()
    }
}

/// A change to the members and field values of an animal. `None` keeps the present value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetPatch {
    pub name: Option<PetName>,
    pub category_id: Option<i64>,
    /// The new status. It can change only while the animal has no open order.
    pub status: Option<PetStatus>,
    pub is_listed: Option<bool>,
    pub fields: FieldPatch,
}

/// The withdrawal of an animal from the catalogue: its time, and its reason.
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
