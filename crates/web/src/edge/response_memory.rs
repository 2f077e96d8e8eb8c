//! Limits the memory for responses that clients have not read yet, over all connections together.
//!
//! Strangers, which are clients without a valid key or session, have a separate part of it, and
//! each address gets a share of that part. So strangers cannot exhaust the memory of authenticated
//! clients.

use std::sync::Arc;

use bytes::Bytes;
use petstore_domain::client::ClientAddress;
use petstore_photos::PIECE_LENGTH;

use super::{
    memory_account::{MemoryAccount, NoMemory, Reservation, attach_reservation},
    response::Response,
};

/// The maximum length of a small response, in bytes. See [`ResponseMemory::hold`].
const MAX_SMALL_RESPONSE: usize = 64 << 10;

/// The bytes that an HTTP/2 request occupies until it has its response: its head, its stream, and
/// the future that handles it.
pub(crate) const HTTP2_REQUEST_BYTES: usize = 16 << 10;

/// The bytes that an HTTP/2 response occupies in addition to its body until it is sent: its head,
/// its stream, and the task that sends it.
pub(crate) const HTTP2_STREAM_BYTES: usize = 4 << 10;

/// Strangers together get the memory divided by this: a quarter.
const STRANGERS_DIVISOR: usize = 4;

/// Each address gets the memory of strangers divided by this: an eighth.
const ADDRESS_DIVISOR: usize = 8;

/// The reserve is the half of the memory of strangers that an address may use only while it uses at
/// most this many bytes in total (see [`MemoryAccount`]). They are enough for a photo, of which two
/// pieces are in memory while it is sent, and for its request. A small response needs less.
const MAX_USE_WITH_RESERVE: usize = 2 * PIECE_LENGTH + (32 << 10);

/// The limited memory for responses. Clones share the same accounts.
///
/// The methods named `hold` take memory for a body that exists already, and those named `reserve`
/// for one that does not exist yet.
#[derive(Clone)]
pub struct ResponseMemory {
    known: Arc<MemoryAccount>,
    strangers: Arc<MemoryAccount>,
}

/// The client that reads a response. It determines the account for the memory of the response.
#[derive(Debug, Clone, Copy)]
pub enum Reader {
    /// A client with a valid key or session.
    Known,
    /// A stranger, with its address unless many clients share it.
    Stranger(Option<ClientAddress>),
}

impl ResponseMemory {
    /// Creates a memory for at most `limit` bytes of responses.
    pub fn new(limit: usize) -> Self {
        let strangers_limit = limit / STRANGERS_DIVISOR;
        let address_limit = strangers_limit / ADDRESS_DIVISOR;
        // If the memory is small, an address may use the reserve only within its share.
        let max_use_with_reserve = MAX_USE_WITH_RESERVE.min(address_limit);
        Self {
            known: MemoryAccount::new(limit - strangers_limit),
            strangers: MemoryAccount::with_reserve(
                strangers_limit,
                address_limit,
                max_use_with_reserve,
            ),
        }
    }

    /// Reserves memory for the response body to an authenticated client. Fails if there is not
    /// enough. The last quarter of the memory is for small responses only, so clients that read
    /// large responses slowly leave room for others.
    ///
    /// The memory is released when the last clone or slice of the result is dropped.
    pub fn hold(&self, body: Vec<u8>) -> Result<Bytes, NoMemory> {
        let limit = if body.len() <= MAX_SMALL_RESPONSE {
            self.known.limit
        } else {
            self.known.limit_for_large_bodies()
        };
        // The capacity counts, because it can exceed the length.
        let size = body.capacity();
        let reservation = self.known.reserve_with_limit(None, size, limit);
        Ok(attach_reservation(reservation.ok_or(NoMemory)?, body))
    }

    /// Reserves memory for the body of a response, unless it is empty or streamed. Fails if there
    /// is not enough. Unlike [`Self::hold`], it leaves no memory to small responses.
    ///
    /// The memory is released when the last clone or slice of the body is dropped.
    pub fn hold_for(&self, reader: Reader, mut response: Response) -> Result<Response, NoMemory> {
        if let Some(body) = response.body().whole()
            && !body.is_empty()
        {
            // The capacity of these bytes is unknown.
            let reservation = self.reserve_for(reader, body.len())?;
            *response.body_mut() = attach_reservation(reservation, body.clone()).into();
        }
        Ok(response)
    }

    /// Reserves memory in advance, for a request body that is still to be read and for the
    /// response. Fails if there is not enough.
    ///
    /// A write must reserve in advance, because it can no longer be rejected when its response is
    /// rendered.
    pub fn reserve(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.reserve_for(Reader::Known, size)
    }

    /// Reserves memory like [`Self::reserve`], for a client that may be a stranger.
    pub fn reserve_for(&self, reader: Reader, size: usize) -> Result<Reservation, NoMemory> {
        self.account(reader)
            .reserve(reader.limited_address(), size)
            .ok_or(NoMemory)
    }

    /// Reserves memory for an uploaded picture that is still to be read. Fails if more than half of
    /// the memory would then be in use, so that uploads leave room for responses.
    pub fn reserve_for_picture(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.known
            .reserve_with_limit(None, size, self.known.limit / 2)
            .ok_or(NoMemory)
    }

    /// Reserves memory for an optional copy of a response, such as a compressed one. Returns `None`
    /// if more than half of the memory would then be in use.
    pub(crate) fn hold_copy(&self, reader: Reader, copy: Vec<u8>) -> Option<Bytes> {
        let account = self.account(reader);
        let address = reader.limited_address();
        let reservation =
            account.reserve_with_limit(address, copy.capacity(), account.limit / 2)?;
        Some(reservation.fill(copy))
    }

    /// Returns the account for responses to a client.
    fn account(&self, reader: Reader) -> &Arc<MemoryAccount> {
        match reader {
            Reader::Known => &self.known,
            Reader::Stranger(_) => &self.strangers,
        }
    }
}

impl Reader {
    /// Returns the address whose share of the account is limited, if there is one.
    fn limited_address(self) -> Option<ClientAddress> {
        match self {
            Self::Known => None,
            Self::Stranger(address) => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::{IpAddr, Ipv6Addr},
        sync::atomic::Ordering::Relaxed,
    };

    use proptest::prelude::*;

    use super::*;

    /// Creates a memory with `known_kib` KiB for clients with a key. They get three quarters of the
    /// total; the additional 3 bytes make up for the rounding.
    fn new_memory(known_kib: usize) -> ResponseMemory {
        ResponseMemory::new((known_kib << 10) / 3 * 4 + 3)
    }

    #[test]
    fn large_responses_leave_a_quarter_of_the_memory_to_small_ones() {
        let memory = new_memory(400);
        // Three quarters of the memory.
        let large: Vec<Bytes> = (0..3)
            .map(|_| memory.hold(vec![1; 100 << 10]).unwrap())
            .collect();
        assert!(memory.hold(vec![1; 100 << 10]).is_err());
        // Its length, not its capacity, decides whether a response is large.
        let mut small_body = Vec::with_capacity(70 << 10);
        small_body.resize(MAX_SMALL_RESPONSE, 1);
        drop(memory.hold(small_body).unwrap());
        let small: Vec<Bytes> = (0..2)
            .map(|_| memory.hold(vec![1; 50 << 10]).unwrap())
            .collect();
        assert!(memory.hold(vec![1; 50 << 10]).is_err());
        // A part of a body keeps the whole body in memory.
        let part = large[0].slice(..1);
        drop((large, small));
        assert_eq!(memory.known.total_use.load(Relaxed), 100 << 10);
        drop(part);
        assert_eq!(memory.known.total_use.load(Relaxed), 0);
    }

    #[test]
    fn copies_leave_half_of_the_memory_to_responses() {
        let memory = new_memory(400);
        let copy = |_| memory.hold_copy(Reader::Known, vec![1; 40 << 10]);
        let copies: Vec<Bytes> = (0..9).map_while(copy).collect();
        assert_eq!(copies.len(), 5, "half of 400 KiB");
        let responses: Vec<Bytes> = (0..4)
            .map(|_| memory.hold(vec![1; 50 << 10]).unwrap())
            .collect();
        drop((copies, responses));
        assert_eq!(memory.known.total_use.load(Relaxed), 0);
    }

    #[test]
    fn a_reservation_counts_in_full_and_then_the_response_even_if_it_is_larger() {
        let memory = new_memory(1);
        for length in [500, 1500] {
            let reservation = memory.reserve(600).unwrap();
            assert!(memory.reserve(600).is_err());
            let body = reservation.fill(vec![1; length]);
            assert_eq!(memory.known.total_use.load(Relaxed), length);
            assert_eq!(memory.reserve(100).is_ok(), length < 1000);
            drop(body);
            assert_eq!(memory.known.total_use.load(Relaxed), 0);
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
            attempts in proptest::collection::vec((0_u8..200, 1_usize..(9 << 20)), 0..2_000),
            are_kept in proptest::collection::vec(any::<bool>(), 2_000),
        ) {
            let memory = ResponseMemory::new(256 << 20);
            let mut reservations = Vec::new();
            for ((number, size), is_kept) in attempts.into_iter().zip(are_kept) {
                let attacker = stranger(IpAddr::from([198, 51, 100, number]));
                let reservation = memory.reserve_for(attacker, size);
                if is_kept {
                    reservations.extend(reservation);
                }
            }
            // What is left is taken in small parts.
            for number in 0_u8..200 {
                let attacker = stranger(IpAddr::from([198, 51, 100, number]));
                while let Ok(reservation) = memory.reserve_for(attacker, HTTP2_STREAM_BYTES) {
                    reservations.push(reservation);
                }
            }
            let newcomer = stranger(IpAddr::from([192, 0, 2, 1]));
            let request = memory.reserve_for(newcomer, HTTP2_REQUEST_BYTES);
            prop_assert!(request.is_ok());
            prop_assert!(memory.reserve_for(newcomer, MAX_SMALL_RESPONSE).is_ok());
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
        assert!(memory.reserve_for(newcomer, MAX_SMALL_RESPONSE).is_ok());
    }
}
