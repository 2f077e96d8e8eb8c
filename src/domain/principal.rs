//! The sender of a request.

use super::{KeyId, StaffId};

/// Who sent a request, as far as the service knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Principal {
    /// A client without a valid API key, or one that needs none.
    #[default]
    None,
    /// A client with this API key.
    Key(KeyId),
    /// A member of the staff, in the console.
    Staff(StaffId),
}

impl Principal {
    /// The API key, if the client has one.
    pub fn key_id(self) -> Option<KeyId> {
        match self {
            Self::Key(id) => Some(id),
            Self::None | Self::Staff(_) => None,
        }
    }

    /// The member of the staff, if it is one.
    pub fn staff_id(self) -> Option<StaffId> {
        match self {
            Self::Staff(id) => Some(id),
            Self::None | Self::Key(_) => None,
        }
    }
}
