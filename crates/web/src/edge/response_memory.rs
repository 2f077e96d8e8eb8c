//! Memory for responses that clients have not read yet, limited over all connections together.
//! Strangers have a part of it for themselves, and each address a share of this part.

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
use petstore_photos::PIECE_LENGTH;

use super::response::Response;

/// The largest small response, in bytes. The last quarter of the memory is reserved for small
/// responses, so clients that read large ones slowly leave room for the others.
const MAX_SMALL: usize = 64 << 10;

/// The bytes that an HTTP/2 request needs until it has its response: its head, its stream, and the
/// place of everything that handles it.
pub const REQUEST: usize = 16 << 10;

/// The bytes that an HTTP/2 response needs in addition to its body until its client accepts it: its
/// stream, its head, and the task that sends it.
pub(crate) const STREAM: usize = 4 << 10;

/// The divisor of the memory that gives the part of strangers.
const STRANGERS: usize = 4;

/// The divisor of the part of strangers that gives the share of an address.
const ADDRESSES: usize = 8;

/// The bytes that an address has in the reserve of strangers: for a photo, which is sent in pieces, and for its
/// request. A small response needs less.
const MAX_FROM_RESERVE: usize = 2 * PIECE_LENGTH + (32 << 10);

/// The memory that responses use, up to a limit. A clone counts the same memory.
#[derive(Clone)]
pub struct ResponseMemory {
    known: Arc<Account>,
    strangers: Arc<Account>,
}

/// The client that a response is for.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// It has a valid key or a session.
    Known,
    /// Its address, unless many clients share it.
    Stranger(Option<ClientAddress>),
}

/// The memory that clients use together, up to a limit, and each address up to a share. Half of it can be
/// a reserve, from which an address gets only a little: so addresses that take as much as they can leave
/// something for all others. Contains only addresses that use something, so its size is limited.
pub struct Account {
    limit: usize,
    share: usize,
    /// The limit for everything that exceeds `from_reserve`.
    without_reserve: usize,
    /// The part of its share that an address may take from the reserve.
    from_reserve: usize,
    used: AtomicUsize,
    /// The networks of one site count as one address.
    by_site: Mutex<HashMap<ClientAddress, usize>>,
}

/// A part of an account that counts as used until this is dropped.
pub struct Reservation {
    size: usize,
    site: Option<ClientAddress>,
    account: Arc<Account>,
}

/// A response body that releases its memory when it is dropped, wherever that happens.
struct HeldResponse<B, R> {
    body: B,
    _reservation: R,
}

impl ResponseMemory {
    /// Returns a memory for at most `limit` bytes of responses.
    pub fn new(limit: usize) -> Self {
        let strangers = limit / STRANGERS;
        let share = strangers / ADDRESSES;
        Self {
            known: Account::new(limit - strangers),
            strangers: Account::with_reserve(strangers, share, MAX_FROM_RESERVE.min(share)),
        }
    }

    /// Reserves memory for a response body. The reservation ends when the last part of the body is dropped.
    /// Fails if there is not enough memory.
    pub fn hold(&self, body: Vec<u8>) -> Result<Bytes, NoMemory> {
        let limit = if body.len() <= MAX_SMALL {
            self.known.limit
        } else {
            self.known.limit_of_large_bodies()
        };
        // The buffer of a body can be larger than the body.
        let size = body.capacity();
        let reservation = self.known.reserve_below(None, size, limit);
        Ok(held_by(reservation.ok_or(NoMemory)?, body))
    }

    /// Reserves memory for the body of a response, if the body is in memory. The reservation ends when the
    /// last part of the body is dropped. Fails if there is not enough memory.
    pub fn hold_for(&self, reader: Reader, mut response: Response) -> Result<Response, NoMemory> {
        if let Some(body) = response.body().whole()
            && !body.is_empty()
        {
            let room = self.reserve_for(reader, body.len())?;
            *response.body_mut() = held_by(room, body.clone()).into();
        }
        Ok(response)
    }

    /// Reserves memory for a request body that is still to be read and for its response, because
    /// the request cannot be rejected any more when the response is rendered. Fails if
    /// there is not enough memory.
    pub fn reserve(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.reserve_for(Reader::Known, size)
    }

    /// Reserves memory like [`Self::reserve`], for a client that may be a stranger.
    pub fn reserve_for(&self, reader: Reader, size: usize) -> Result<Reservation, NoMemory> {
        let (account, address) = self.account(reader);
        account.reserve(address, size).ok_or(NoMemory)
    }

    /// Reserves memory for a picture that is still to be read. Pictures together get half of the memory.
    pub fn reserve_for_picture(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.known
            .reserve_below(None, size, self.known.limit / 2)
            .ok_or(NoMemory)
    }

    /// Counts a copy of a response that can also be sent without it. Returns `None` while half of
    /// the memory is in use.
    pub(crate) fn hold_copy(&self, reader: Reader, copy: Vec<u8>) -> Option<Bytes> {
        let (account, address) = self.account(reader);
        account
            .reserve_below(address, copy.capacity(), account.limit / 2)
            .map(|reservation| reservation.fill(copy))
    }

    /// Returns the account for responses to a client, and the address that has a share of it.
    fn account(&self, reader: Reader) -> (&Arc<Account>, Option<ClientAddress>) {
        match reader {
            Reader::Known => (&self.known, None),
            Reader::Stranger(address) => (&self.strangers, address),
        }
    }
}

impl Account {
    /// Returns the limit for everything together while a large body is added, so that the last quarter stays
    /// for small ones.
    fn limit_of_large_bodies(&self) -> usize {
        self.limit / 4 * 3
    }

    /// Returns an account without shares, for clients that are not told apart.
    fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            share: limit,
            without_reserve: limit,
            from_reserve: 0,
            used: AtomicUsize::new(0),
            by_site: Mutex::default(),
        })
    }

    /// Returns an account in which an address may use `share`, and `from_reserve` of it although others
    /// use half of the limit.
    pub fn with_reserve(limit: usize, share: usize, from_reserve: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            share,
            without_reserve: limit / 2,
            from_reserve,
            used: AtomicUsize::new(0),
            by_site: Mutex::default(),
        })
    }

    /// Counts something as used, if there is enough. What exceeds the share of an address is possible if
    /// the address uses nothing else. An address that many clients share has neither a share nor a part
    /// of the reserve.
    pub fn reserve(
        self: &Arc<Self>,
        address: Option<ClientAddress>,
        size: usize,
    ) -> Option<Reservation> {
        self.reserve_below(address, size, self.limit)
    }

    /// Counts something as used like [`Self::reserve`], with a lower limit.
    fn reserve_below(
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

    /// Adds a difference, which wraps, to the use of a site. Returns the new use. Clients with a key do not need it.
    #[inline(never)]
    fn change(&self, site: ClientAddress, difference: usize) -> usize {
        let mut sites = self.by_site.lock();
        let site_use = sites.entry(site).or_default();
        *site_use = site_use.wrapping_add(difference);
        let new_use = *site_use;
        if new_use == 0 {
            sites.remove(&site);
        }
        new_use
    }
}

/// The use of an account after a change.
pub struct Use {
    total: usize,
    /// The use of the site that changed it.
    site: usize,
}

impl Reservation {
    /// Counts `body` instead of the reserved size, even if it is larger than expected and exceeds
    /// the limit.
    pub fn fill(mut self, mut body: Vec<u8>) -> Bytes {
        if body.capacity() > self.size {
            body.shrink_to_fit();
        }
        self.resize(body.capacity());
        held_by(self, body)
    }

    /// Counts a larger size from now on. Fails if there is not enough memory; then the reservation is to be
    /// dropped.
    pub fn grow(&mut self, size: usize) -> Result<(), NoMemory> {
        let limit = self.account.limit;
        if self.resize_below(size, limit) {
            Ok(())
        } else {
            Err(NoMemory)
        }
    }

    /// Counts another size from now on. Returns whether there is enough of `limit` for it.
    fn resize_below(&mut self, size: usize, limit: usize) -> bool {
        let new_use = self.resize(size);
        let account = &self.account;
        let may_use_reserve = self.site.is_some() && new_use.site <= account.from_reserve;
        let limit = if may_use_reserve {
            limit
        } else {
            limit.min(account.without_reserve)
        };
        let is_within_share = new_use.site == size || new_use.site <= account.share;
        new_use.total <= limit && is_within_share
    }

    /// Counts another size from now on, even if it exceeds the limit. Returns the new use of the account.
    pub fn resize(&mut self, size: usize) -> Use {
        // Wraps to the difference, whichever is larger.
        let difference = size.wrapping_sub(self.size);
        let former_total = self.account.used.fetch_add(difference, Relaxed);
        self.size = size;
        let use_of_site = match self.site {
            Some(address) => self.account.change(address, difference),
            None => size,
        };
        Use {
            total: former_total.wrapping_add(difference),
            site: use_of_site,
        }
    }
}

/// Returns a body that keeps its reservation for as long as any part of the body is in memory.
pub(crate) fn held_by(
    reservation: impl Send + 'static,
    body: impl AsRef<[u8]> + Send + 'static,
) -> Bytes {
    Bytes::from_owner(HeldResponse {
        body,
        _reservation: reservation,
    })
}

/// The memory for responses is used by others.
#[derive(Debug, thiserror::Error)]
#[error("the response memory is full")]
pub struct NoMemory;

impl<B: AsRef<[u8]>, R> AsRef<[u8]> for HeldResponse<B, R> {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    /// A memory with so many KiB for clients with a key.
    fn memory(known: usize) -> ResponseMemory {
        ResponseMemory::new((known << 10) / 3 * 4 + 3)
    }

    #[test]
    fn large_responses_leave_a_quarter_of_the_memory_to_small_ones() {
        let memory = memory(400);
        let large: Vec<Bytes> = (0..3)
            .map(|_| memory.hold(vec![1; 100 << 10]).unwrap())
            .collect();
        assert!(memory.hold(vec![1; 100 << 10]).is_err());
        // The length of a response decides whether it is large.
        let mut roomy = Vec::with_capacity(70 << 10);
        roomy.resize(MAX_SMALL, 1);
        drop(memory.hold(roomy).unwrap());
        let usual: Vec<Bytes> = (0..2)
            .map(|_| memory.hold(vec![1; 50 << 10]).unwrap())
            .collect();
        assert!(memory.hold(vec![1; 50 << 10]).is_err());
        // A part of a body keeps the whole body in memory.
        let part = large[0].slice(..1);
        drop((large, usual));
        assert_eq!(memory.known.used.load(Relaxed), 100 << 10);
        drop(part);
        assert_eq!(memory.known.used.load(Relaxed), 0);
    }

    #[test]
    fn copies_leave_half_of_the_memory_to_responses() {
        let memory = memory(400);
        let copy = |_| memory.hold_copy(Reader::Known, vec![1; 40 << 10]);
        let copies: Vec<Bytes> = (0..9).map_while(copy).collect();
        assert_eq!(copies.len(), 5);
        let usual: Vec<Bytes> = (0..4)
            .map(|_| memory.hold(vec![1; 50 << 10]).unwrap())
            .collect();
        drop((copies, usual));
        assert_eq!(memory.known.used.load(Relaxed), 0);
    }

    #[test]
    fn a_reservation_counts_in_full_and_then_the_response_even_if_it_is_larger() {
        let memory = memory(1);
        for length in [500, 1500] {
            let reservation = memory.reserve(600).unwrap();
            assert!(memory.reserve(600).is_err());
            let body = reservation.fill(vec![1; length]);
            assert_eq!(memory.known.used.load(Relaxed), length);
            assert_eq!(memory.reserve(100).is_ok(), length < 1000);
            drop(body);
            assert_eq!(memory.known.used.load(Relaxed), 0);
        }
    }

    fn stranger(address: IpAddr) -> Reader {
        Reader::Stranger(Some(address.into()))
    }

    #[test]
    fn the_networks_of_one_site_share_its_memory() {
        let memory = ResponseMemory::new(64 << 20);
        let mut reservations = Vec::new();
        for network in 0..=255 {
            let address = Ipv6Addr::new(0x2001, 0xdb8, 0, network, 0, 0, 0, 1);
            reservations.extend(memory.reserve_for(stranger(address.into()), 1 << 20));
        }
        assert_eq!(reservations.len(), 2, "an eighth of 16 MiB");
    }

    proptest! {
        #[test]
        fn an_address_that_holds_nothing_gets_a_page_whatever_200_others_hold(
            takes in proptest::collection::vec((0_u8..200, 1_usize..(9 << 20)), 0..2_000),
            kept_takes in proptest::collection::vec(any::<bool>(), 2_000),
        ) {
            let memory = ResponseMemory::new(256 << 20);
            let mut reservations = Vec::new();
            for ((number, size), is_kept) in takes.into_iter().zip(kept_takes) {
                let attacker = stranger(IpAddr::from([198, 51, 100, number]));
                let reservation = memory.reserve_for(attacker, size);
                if is_kept {
                    reservations.extend(reservation);
                }
            }
            // What is left is taken in small parts.
            for number in 0_u8..200 {
                let attacker = stranger(IpAddr::from([198, 51, 100, number]));
                while let Ok(reservation) = memory.reserve_for(attacker, STREAM) {
                    reservations.push(reservation);
                }
            }
            let newcomer = stranger(IpAddr::from([192, 0, 2, 1]));
            let request = memory.reserve_for(newcomer, REQUEST);
            prop_assert!(request.is_ok());
            prop_assert!(memory.reserve_for(newcomer, MAX_SMALL).is_ok());
            // A photo begins with one piece.
            let photo = memory.reserve_for(newcomer, PIECE_LENGTH);
            prop_assert!(photo.is_ok_and(|mut photo| photo.grow(2 * PIECE_LENGTH).is_ok()));
        }
    }

    #[test]
    fn clients_that_share_an_address_leave_the_reserve_to_others() {
        let memory = ResponseMemory::new(64 << 20);
        let mut reservations = Vec::new();
        while let Ok(reservation) = memory.reserve_for(Reader::Stranger(None), 1 << 20) {
            reservations.push(reservation);
        }
        assert_eq!(reservations.len(), 8, "half of 16 MiB");
        let newcomer = stranger(IpAddr::from([192, 0, 2, 1]));
        assert!(memory.reserve_for(newcomer, MAX_SMALL).is_ok());
    }
}
