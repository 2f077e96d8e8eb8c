//! Accounting of memory that clients occupy, with a limit in total and one per address.

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

/// A memory budget that clients share: limited in total, and per address.
///
/// Half of the memory can be a reserve, which an address may use only while it uses little in
/// total. So addresses that take as much as they can still leave memory for all others.
pub struct MemoryAccount {
    pub(super) limit: usize,
    /// How many bytes one address may use.
    limit_per_address: usize,
    /// How many bytes all clients together may use before only the reserve is left.
    limit_without_reserve: usize,
    /// An address may use the reserve while it uses at most this many bytes in total.
    max_use_with_reserve: usize,
    /// How many bytes all clients together use.
    pub(super) total_use: AtomicUsize,
    /// How many bytes each site uses. All networks of one site (IPv6: a /56) count as one address.
    /// Contains only sites that use memory, so its size is bounded.
    usage_by_site: Mutex<HashMap<ClientAddress, usize>>,
}

/// A guard for memory of an account. Dropping it returns the memory to the account.
pub struct Reservation {
    size: usize,
    site: Option<ClientAddress>,
    account: Arc<MemoryAccount>,
}

/// How much of an account is in use after a reservation was resized.
pub struct MemoryUse {
    total: usize,
    /// The bytes that the site of the reservation uses; without a site, the size of the
    /// reservation.
    of_site: usize,
}

/// The error if a memory account has not enough free memory.
#[derive(Debug, thiserror::Error)]
#[error("the response memory is full")]
pub struct NoMemory;

impl MemoryAccount {
    /// Creates an account without a limit per address and without a reserve.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            limit_per_address: limit,
            limit_without_reserve: limit,
            max_use_with_reserve: 0,
            total_use: AtomicUsize::new(0),
            usage_by_site: Mutex::default(),
        })
    }

    /// Creates an account in which each address may use `limit_per_address` bytes. Half of the
    /// memory is a reserve, which an address may use while it uses at most `max_use_with_reserve`
    /// bytes in total.
    pub fn with_reserve(
        limit: usize,
        limit_per_address: usize,
        max_use_with_reserve: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            limit,
            limit_per_address,
            limit_without_reserve: limit / 2,
            max_use_with_reserve,
            total_use: AtomicUsize::new(0),
            usage_by_site: Mutex::default(),
        })
    }

    /// Reserves memory for a client. Returns `None` if there is not enough.
    ///
    /// An address that uses nothing else may exceed its own limit, so that it can get a single
    /// response of any size.
    ///
    /// `address` is `None` if many clients share it. Then the limit per address does not apply, and
    /// the client cannot use the reserve.
    pub fn reserve(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
        size: usize,
    ) -> Option<Reservation> {
        self.reserve_with_limit(address, size, self.limit)
    }

    /// Reserves memory like [`Self::reserve`], but with this total limit.
    pub(super) fn reserve_with_limit(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
        size: usize,
        limit: usize,
    ) -> Option<Reservation> {
        // The memory is taken before the check, so that two clients cannot both get the last of it.
        let mut reservation = Reservation {
            size: 0,
            site: address.map(ClientAddress::site),
            account: Arc::clone(self),
        };
        if reservation.resize_and_check(size, limit) {
            Some(reservation)
        } else {
            // Dropping the reservation gives its memory back.
            None
        }
    }

    /// Returns the total limit for a large body: three quarters of the memory. The last quarter is
    /// left to small bodies.
    pub(super) fn limit_for_large_bodies(&self) -> usize {
        self.limit / 4 * 3
    }

    /// Adds `difference` to the bytes that a site uses, and returns the result. The addition wraps,
    /// so a wrapped negative difference subtracts.
    ///
    /// Not inlined, because only strangers need it: the path of clients with a key stays short.
    #[inline(never)]
    fn adjust_site_usage(&self, site: ClientAddress, difference: usize) -> usize {
        let mut sites = self.usage_by_site.lock();
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
    /// Converts `body` into bytes that own the reservation. The reservation is resized to the body,
    /// even if the body is larger than reserved and exceeds the limit.
    pub fn fill(mut self, mut body: Vec<u8>) -> Bytes {
        if body.capacity() > self.size {
            body.shrink_to_fit();
        }
        self.resize(body.capacity());
        attach_reservation(self, body)
    }

    /// Grows the reservation to `size` bytes. Fails if there is not enough memory.
    ///
    /// After a failure, the caller must drop the reservation, because it counts with its new size
    /// nevertheless.
    pub fn grow(&mut self, size: usize) -> Result<(), NoMemory> {
        let limit = self.account.limit;
        if self.resize_and_check(size, limit) {
            Ok(())
        } else {
            Err(NoMemory)
        }
    }

    /// Resizes the reservation, even if it then exceeds a limit. Returns whether all limits are
    /// kept.
    ///
    /// If they are not, the caller must drop the reservation. `limit` is the total limit.
    fn resize_and_check(&mut self, size: usize, limit: usize) -> bool {
        let new_use = self.resize(size);
        let account = &self.account;
        let may_use_reserve =
            self.site.is_some() && new_use.of_site <= account.max_use_with_reserve;
        let total_limit = if may_use_reserve {
            limit
        } else {
            limit.min(account.limit_without_reserve)
        };
        let share = account.limit_per_address;
        // A site that uses nothing else may exceed its share.
        let is_within_share = new_use.of_site == size || new_use.of_site <= share;
        new_use.total <= total_limit && is_within_share
    }

    /// Resizes the reservation without regard to limits, and returns the resulting use of the
    /// account.
    pub fn resize(&mut self, size: usize) -> MemoryUse {
        // If the new size is smaller, the difference wraps, and adding it subtracts.
        let difference = size.wrapping_sub(self.size);
        let previous_total = self.account.total_use.fetch_add(difference, Relaxed);
        self.size = size;
        let use_of_site = match self.site {
            Some(own_site) => self.account.adjust_site_usage(own_site, difference),
            None => size,
        };
        MemoryUse {
            total: previous_total.wrapping_add(difference),
            of_site: use_of_site,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.resize(0);
    }
}

/// Returns bytes that own `reservation`, which is dropped with the last clone or slice of them.
pub(crate) fn attach_reservation(
    reservation: impl Send + 'static,
    body: impl AsRef<[u8]> + Send + 'static,
) -> Bytes {
    Bytes::from_owner(ReservedBody {
        body,
        _reservation: reservation,
    })
}

/// The owner of the bytes of a response body: the body itself, and the reservation for its memory.
struct ReservedBody<B, R> {
    body: B,
    _reservation: R,
}

impl<B: AsRef<[u8]>, R> AsRef<[u8]> for ReservedBody<B, R> {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}
