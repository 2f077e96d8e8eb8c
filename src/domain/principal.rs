//! The sender of a request.

use super::KeyId;

/// Who sent a request, as far as the service knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Principal {
    /// A client without a valid API key, or one that needs none.
    #[default]
    None,
    /// A client with this API key.
    Key(KeyId),
}

impl Principal {
    /// The API key, if the client has one.
    #[must_use]
    pub fn key_id(self) -> Option<KeyId> {
        match self {
            Self::None => None,
            Self::Key(id) => Some(id),
        }
    }
}
