//! The animal as the store area shows it.

use std::{fmt, str::FromStr};

use jiff::Timestamp;

use super::{Note, OrderId};
use crate::domain::{NewPet, PetId, PetName, PetStatus};

/// An animal of the store, withdrawn or not. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePet {
    /// Given by the store, unique, and never given again.
    pub id: PetId,
    /// Its name.
    pub name: PetName,
    /// Its category.
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
    pub withdrawn: Option<Withdrawal>,
}

impl StorePet {
    /// An animal that is added at this time.
    #[must_use]
    pub fn added(id: PetId, new: NewPet, now: Timestamp) -> Self {
        Self {
            id,
            name: new.name,
            category_id: new.category_id,
            status: new.status,
            version: 1,
            created_at: Some(now),
            updated_at: Some(now),
            order_id: None,
            withdrawn: None,
        }
    }
}

/// How an animal left the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: WithdrawalReason,
    /// A remark.
    pub note: Option<Note>,
}

/// Why an animal left the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WithdrawalReason {
    /// It died.
    Died,
    /// Another store or shelter has it now.
    Transferred,
    /// Its owner took it back.
    Reclaimed,
    /// It was added by mistake.
    Mistake,
    /// Anything else, which the note can explain.
    Other,
}

impl WithdrawalReason {
    /// Every reason, in the order of the document.
    pub const ALL: [Self; 5] =
        [Self::Died, Self::Transferred, Self::Reclaimed, Self::Mistake, Self::Other];

    /// The reason as the interface and the database spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::Transferred => "transferred",
            Self::Reclaimed => "reclaimed",
            Self::Mistake => "mistake",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for WithdrawalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of a [`WithdrawalReason`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of died, transferred, reclaimed, mistake and other")]
pub struct UnknownReason;

impl FromStr for WithdrawalReason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or(UnknownReason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_parsed_only_from_its_own_text() {
        for reason in WithdrawalReason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        for other in ["", "Died", "sold"] {
            assert_eq!(other.parse::<WithdrawalReason>(), Err(UnknownReason));
        }
    }
}
