//! Memory for responses that clients have not read yet, limited over all connections together.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use bytes::Bytes;

/// The largest small response, in bytes. The last quarter of the memory is reserved for small
/// responses, so clients that read large ones slowly leave room for the others.
const MAX_SMALL: usize = 64 << 10;

/// The largest body of a stranger that does not count, in bytes.
const MAX_UNCOUNTED: usize = 4 << 10;

/// The bytes that an HTTP/2 response needs in addition to its body until its client accepts it: its
/// stream, its head, and the task that sends it.
const STREAM: usize = 4 << 10;

/// Counts the memory that responses use, up to a limit. A clone counts the same memory.
#[derive(Clone)]
pub struct ResponseMemory {
    held: Arc<AtomicUsize>,
    limit: usize,
}

/// Memory that counts as used until this is dropped.
pub(crate) struct Reservation {
    size: usize,
    memory: Arc<AtomicUsize>,
}

/// A response body that releases its memory when it is dropped, wherever that happens.
struct HeldResponse {
    body: Vec<u8>,
    _reservation: Reservation,
}

impl ResponseMemory {
    /// A memory for at most `limit` bytes of responses.
    pub(crate) fn new(limit: usize) -> Self {
        Self { held: Arc::default(), limit }
    }

    /// Counts a response body for as long as any part of it is in memory. Fails if there
    /// is not enough memory.
    pub(crate) fn hold(&self, body: Vec<u8>) -> Result<Bytes, NoMemory> {
        let limit = if body.len() <= MAX_SMALL { self.limit } else { self.limit / 4 * 3 };
        match self.reserve_below(body.capacity(), limit) {
            Some(reservation) => Ok(reservation.fill(body)),
            None => Err(NoMemory),
        }
    }

    /// Reserves memory for a request body that is still to be read and for its response, because
    /// the request cannot be rejected any more when the response is rendered. Fails if
    /// there is not enough memory.
    pub(crate) fn reserve(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.reserve_below(size, self.limit).ok_or(NoMemory)
    }

    /// Reserves memory for a request body of a client that is not signed in. Such clients together get
    /// a quarter of the memory, and need none for a form to sign in, which is smaller than a head.
    /// Fails if there is not enough memory.
    pub(crate) fn reserve_for_stranger(
        &self,
        size: usize,
    ) -> Result<Option<Reservation>, NoMemory> {
        if size <= MAX_UNCOUNTED {
            return Ok(None);
        }
        self.reserve_below(size, self.limit / 4).map(Some).ok_or(NoMemory)
    }

    /// Reserves memory for a picture that is still to be read. Pictures together get half of the memory.
    pub(crate) fn reserve_for_picture(&self, size: usize) -> Result<Reservation, NoMemory> {
        self.reserve_below(size, self.limit / 2).ok_or(NoMemory)
    }

    /// Reserves the memory for an HTTP/2 stream, if there is enough.
    pub(crate) fn reserve_stream(&self) -> Option<Reservation> {
        self.reserve_below(STREAM, self.limit)
    }

    /// Counts a copy of a response that can also be sent without it. Returns `None` while half of
    /// the memory is in use, so copies of documents, which need no key, cannot displace responses.
    pub(crate) fn hold_copy(&self, copy: Vec<u8>) -> Option<Bytes> {
        self.reserve_below(copy.capacity(), self.limit / 2)
            .map(|reservation| reservation.fill(copy))
    }

    fn reserve_below(&self, size: usize, limit: usize) -> Option<Reservation> {
        let before = self.held.fetch_add(size, Relaxed);
        let reservation = Reservation { size, memory: Arc::clone(&self.held) };
        (before.saturating_add(size) <= limit).then_some(reservation)
    }
}

impl Reservation {
    /// Counts `body` instead of the reserved size, even if it is larger than expected and exceeds
    /// the limit.
    pub(crate) fn fill(mut self, mut body: Vec<u8>) -> Bytes {
        if body.capacity() > self.size {
            body.shrink_to_fit();
        }
        match body.capacity().checked_sub(self.size) {
            Some(more) => self.memory.fetch_add(more, Relaxed),
            None => self.memory.fetch_sub(self.size - body.capacity(), Relaxed),
        };
        self.size = body.capacity();
        Bytes::from_owner(HeldResponse { body, _reservation: self })
    }
}

/// The memory for responses is used by others.
#[derive(Debug, thiserror::Error)]
#[error("the response memory is full")]
pub(crate) struct NoMemory;

impl AsRef<[u8]> for HeldResponse {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.fetch_sub(self.size, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_responses_leave_a_quarter_of_the_memory_to_small_ones() {
        let memory = ResponseMemory::new(400 << 10);
        let large: Vec<Bytes> = (0..3).map(|_| memory.hold(vec![1; 100 << 10]).unwrap()).collect();
        assert!(memory.hold(vec![1; 100 << 10]).is_err());
        let usual: Vec<Bytes> = (0..2).map(|_| memory.hold(vec![1; 50 << 10]).unwrap()).collect();
        assert!(memory.hold(vec![1; 50 << 10]).is_err());
        // A part of a body keeps the whole body in memory.
        let part = large[0].slice(..1);
        drop((large, usual));
        assert_eq!(memory.held.load(Relaxed), 100 << 10);
        drop(part);
        assert_eq!(memory.held.load(Relaxed), 0);
    }

    #[test]
    fn copies_leave_half_of_the_memory_to_responses() {
        let memory = ResponseMemory::new(400 << 10);
        let copies: Vec<Bytes> =
            (0..9).map_while(|_| memory.hold_copy(vec![1; 40 << 10])).collect();
        assert_eq!(copies.len(), 5);
        let usual: Vec<Bytes> = (0..4).map(|_| memory.hold(vec![1; 50 << 10]).unwrap()).collect();
        drop((copies, usual));
        assert_eq!(memory.held.load(Relaxed), 0);
    }

    #[test]
    fn a_reservation_counts_in_full_until_it_is_filled() {
        let memory = ResponseMemory::new(100);
        let reservation = memory.reserve(60).unwrap();
        assert!(memory.reserve(60).is_err() && memory.reserve_stream().is_none());
        let body = reservation.fill(vec![1; 50]);
        assert_eq!(memory.held.load(Relaxed), 50);
        drop(body);
        drop(memory.reserve(100).unwrap());
        assert_eq!(memory.held.load(Relaxed), 0);
    }

    #[test]
    fn a_response_that_is_larger_than_expected_counts_in_full() {
        let memory = ResponseMemory::new(100);
        let body = memory.reserve(60).unwrap().fill(vec![1; 150]);
        assert_eq!(memory.held.load(Relaxed), 150);
        assert!(memory.reserve(1).is_err());
        drop(body);
        assert_eq!(memory.held.load(Relaxed), 0);
    }

    #[test]
    fn the_length_of_a_response_decides_whether_it_is_large() {
        let memory = ResponseMemory::new(400 << 10);
        let large = memory.hold(vec![1; 300 << 10]).unwrap();
        let mut roomy = Vec::with_capacity(70 << 10);
        roomy.resize(MAX_SMALL, 1);
        drop(memory.hold(roomy).unwrap());
        drop(large);
    }
}
