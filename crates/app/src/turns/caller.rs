//! The identity by which turns are allotted.

use petstore_domain::{StaffId, client::ClientAddress};

/// The identity of a sender of requests, for fair queueing. Each caller has its own limits and its
/// own queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A browser in which this member has signed in before.
    Known(StaffId),
    /// Any other client, by its address. All IPv6 addresses of one site count as one caller
    /// ([`ClientAddress::site`]).
    Stranger(ClientAddress),
    /// Clients that share one address and cannot be told apart, so they count as one caller.
    Shared,
}

impl From<Option<ClientAddress>> for Caller {
    fn from(address: Option<ClientAddress>) -> Self {
        address.map_or(Self::Shared, Self::Stranger)
    }
}

impl Caller {
    /// Whether the caller is a known browser.
    pub(super) fn is_known(self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Maps a stranger to its site, so that one network cannot pose as many callers.
    pub(super) fn of_site(self) -> Self {
        match self {
            Self::Stranger(address) => Self::Stranger(address.site()),
            Self::Known(_) | Self::Shared => self,
        }
    }
}
