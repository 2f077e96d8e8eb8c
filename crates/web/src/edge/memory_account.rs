//! An account of memory: what clients use together is limited, and so is what one address uses.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;
use petstore_domain::client::ClientAddress;

/// The memory that clients use together, up to a limit, and each address up to a share.
///
/// Half of the memory can be a reserve, of which each address gets only a little. So addresses that take as much as they
/// can leave something for all others.
pub struct MemoryAccount {
    pub(super) limit: usize,
    /// The limit of an address.
    limit_of_address: usize,
    /// The limit of all clients together without the reserve.
    limit_without_reserve: usize,
    /// An address that uses at most this size may use the reserve.
    max_use_with_reserve: usize,
    /// The size that all clients use together.
    pub(super) total_use: AtomicUsize,
    /// The size that each site uses. The networks of one site count as one address. The map has only sites that use
    /// something, so its size is limited.
    use_of_sites: Mutex<HashMap<ClientAddress, usize>>,
}

/// A part of the memory of an account, which is in use until the reservation is dropped.
pub struct Reservation {
    size: usize,
    site: Option<ClientAddress>,
    account: Arc<MemoryAccount>,
}

impl MemoryAccount {
    /// Returns the limit of all clients together for a large body. It leaves the last quarter to small bodies.
    pub(super) fn limit_of_large_bodies(&self) -> usize {
        self.limit / 4 * 3
    }

    /// Returns an account in which a client may use all memory.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            limit_of_address: limit,
            limit_without_reserve: limit,
            max_use_with_reserve: 0,
            total_use: AtomicUsize::new(0),
            use_of_sites: Mutex::default(),
        })
    }

    /// Returns an account in which an address may use `limit_of_address`. Half of the memory is a reserve, which an address
    /// may use as long as it uses at most `max_use_with_reserve`.
    pub fn with_reserve(
        limit: usize,
        limit_of_address: usize,
        max_use_with_reserve: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            limit,
            limit_of_address,
            limit_without_reserve: limit / 2,
            max_use_with_reserve,
            total_use: AtomicUsize::new(0),
            use_of_sites: Mutex::default(),
        })
    }

    /// Reserves memory for a client, if there is enough. An address that uses nothing else may exceed its limit.
    ///
    /// `address` is `None` if many clients share the address. Then the limit of an address does not apply, and the client
    /// cannot use the reserve.
    pub fn reserve(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
        size: usize,
    ) -> Option<Reservation> {
        self.reserve_below(address, size, self.limit)
    }

    /// Reserves memory like [`Self::reserve`], with a lower limit of all clients together.
    pub(super) fn reserve_below(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
        size: usize,
        limit: usize,
    ) -> Option<Reservation> {
        let mut reservation = Reservation {
            size: 0,
            site: address.map(ClientAddress::site),
            account: Arc::clone(self),
        };
        if reservation.resize_below(size, limit) {
            Some(reservation)
        } else {
            None
        }
    }

    /// Adds a difference, which wraps, to the use of a site. Returns the new use.
    ///
    /// It is not inlined, because clients with a key do not need it.
    #[inline(never)]
    fn change_use_of_site(&self, site: ClientAddress, difference: usize) -> usize {
        let mut sites = self.use_of_sites.lock();
        let site_use = sites.entry(site).or_default();
        *site_use = site_use.wrapping_add(difference);
        let new_use = *site_use;
        if new_use == 0 {
            sites.remove(&site);
        }
        new_use
    }
}

impl Reservation {
    /// Puts `body` into the reserved memory. The reservation gets the size of the body, even if the body is larger than the
    /// reservation and exceeds the limit.
    pub fn fill(mut self, mut body: Vec<u8>) -> Bytes {
        if body.capacity() > self.size {
            body.shrink_to_fit();
        }
        self.resize(body.capacity());
        held_by(self, body)
    }

    /// Gives the reservation a larger size. Fails if there is not enough memory. The caller must then drop the reservation.
    pub fn grow(&mut self, size: usize) -> Result<(), NoMemory> {
        let limit = self.account.limit;
        if self.resize_below(size, limit) {
            Ok(())
        } else {
            Err(NoMemory)
        }
    }

    /// Gives the reservation another size. `limit` is the limit of all clients together. Returns whether the new size is
    /// within every limit.
    fn resize_below(&mut self, size: usize, limit: usize) -> bool {
        let new_use = self.resize(size);
        let account = &self.account;
        let may_use_reserve =
            self.site.is_some() && new_use.of_site <= account.max_use_with_reserve;
        let total_limit = if may_use_reserve {
            limit
        } else {
            limit.min(account.limit_without_reserve)
        };
        let share = account.limit_of_address;
        let is_within_share = new_use.of_site == size || new_use.of_site <= share;
        new_use.total <= total_limit && is_within_share
    }

    /// Gives the reservation another size, even if the size exceeds a limit. Returns the new use of the account.
    pub fn resize(&mut self, size: usize) -> MemoryUse {
        // The difference wraps if the new size is smaller, and so do the sums below.
        let difference = size.wrapping_sub(self.size);
        let former_total = self.account.total_use.fetch_add(difference, Relaxed);
        self.size = size;
        let use_of_site = match self.site {
            Some(address) => self.account.change_use_of_site(address, difference),
            None => size,
        };
        MemoryUse {
            total: former_total.wrapping_add(difference),
            of_site: use_of_site,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.resize(0);
    }
}

/// The use of an account after a reservation got another size.
pub struct MemoryUse {
    total: usize,
    /// The use of the site of the reservation.
    of_site: usize,
}

/// The error if there is not enough memory for a response.
#[derive(Debug, thiserror::Error)]
#[error("the response memory is full")]
pub struct NoMemory;

/// Returns a body whose reservation ends when the last part of the body is dropped.
pub(crate) fn held_by(
    reservation: impl Send + 'static,
    body: impl AsRef<[u8]> + Send + 'static,
) -> Bytes {
    Bytes::from_owner(HeldResponse {
        body,
        _reservation: reservation,
    })
}

/// A response body with its reservation, which ends when the last part of the body is dropped.
struct HeldResponse<B, R> {
    body: B,
    _reservation: R,
}

impl<B: AsRef<[u8]>, R> AsRef<[u8]> for HeldResponse<B, R> {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}
