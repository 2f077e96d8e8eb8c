//! The senders of requests.

use petstore_domain::{StaffId, client::ClientAddress};

/// The sender of a request, with whom no other sender shares its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A browser in which this member has signed in before.
    Known(StaffId),
    /// Any other client. Of IPv6, the addresses of a site are one ([`ClientAddress::site`]).
    Stranger(ClientAddress),
    /// Clients that share an address, and are not told apart.
    Shared,
}

impl From<Option<ClientAddress>> for Caller {
    fn from(address: Option<ClientAddress>) -> Self {
        address.map_or(Self::Shared, Self::Stranger)
    }
}

impl Caller {
    pub(super) fn is_known(self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Returns the caller as which all addresses of its site count.
    pub(super) fn of_site(self) -> Self {
        match self {
            Self::Stranger(address) => Self::Stranger(address.site()),
            Self::Known(_) | Self::Shared => self,
        }
    }
}
