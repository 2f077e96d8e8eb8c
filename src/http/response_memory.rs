//! The memory that answers take.
//!
//! An body stays in memory until its client has read it, and a client may
//! take its time. Over all connections together there must be an end to that.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use bytes::Bytes;

use super::error::{ApiError, Problem};

/// The largest body that counts as a usual one, in bytes. The last quarter of
/// the memory is kept for these, so that clients who read large ones slowly
/// take no room from the others.
const MAX_SMALL: usize = 64 << 10;

/// What a response over HTTP/2 takes beside its body, in bytes, until its client
/// lets it through: its stream, its head, and the task that sends it.
const STREAM: usize = 4 << 10;

/// How much memory answers hold, and how much they may.
pub struct ResponseMemory {
    held: Arc<AtomicUsize>,
    limit: usize,
}

/// Memory that is counted until this is dropped.
pub(crate) struct Reservation {
    size: usize,
    memory: Arc<AtomicUsize>,
}

/// An body that gives its memory back when it is dropped, wherever it is then.
struct HeldResponse {
    body: Vec<u8>,
    _reservation: Reservation,
}

impl ResponseMemory {
    /// For answers of at most `limit` bytes together.
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Arc::default(), limit }
    }

    /// Counts an body for as long as any part of it is in memory.
    ///
    /// # Errors
    ///
    /// 503 if there is no room for it.
    pub(super) fn hold(&self, body: Vec<u8>) -> Result<Bytes, ApiError> {
        let limit = if body.len() <= MAX_SMALL { self.limit } else { self.limit / 4 * 3 };
        match self.reserve_below(body.capacity(), limit) {
            Some(reservation) => Ok(reservation.fill(body)),
            None => Err(out_of_memory()),
        }
    }

    /// Takes memory before there is anything in it: for a body that is still to be
    /// read, and the body to it, which cannot be refused any more when it is made.
    ///
    /// # Errors
    ///
    /// 503 if there is no room for it.
    pub(super) fn reserve(&self, size: usize) -> Result<Reservation, ApiError> {
        self.reserve_below(size, self.limit).ok_or_else(out_of_memory)
    }

    /// Takes the memory for a stream of HTTP/2, if there is room for one more.
    pub(crate) fn reserve_stream(&self) -> Option<Reservation> {
        self.reserve_below(STREAM, self.limit)
    }

    /// The same for a copy of an body that would do without it: none while
    /// half of the memory is in use. Copies of what anybody may read, without a
    /// key, can so not take the place of answers.
    pub(super) fn hold_copy(&self, copy: Vec<u8>) -> Option<Bytes> {
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
    /// Counts `body` in place of what was reserved for it.
    pub(super) fn fill(mut self, mut body: Vec<u8>) -> Bytes {
        if body.capacity() > self.size {
            body.shrink_to_fit();
        }
        let left = self.size.saturating_sub(body.capacity());
        self.memory.fetch_sub(left, Relaxed);
        self.size -= left;
        Bytes::from_owner(HeldResponse { body, _reservation: self })
    }
}

fn out_of_memory() -> ApiError {
    let message = "Too many answers wait for their clients to read them. Try again in a moment, \
                   or ask for fewer animals at once.";
    ApiError::new(Problem::Unavailable, message).caused_by(Arc::new(ResponseMemoryFull))
}

#[derive(Debug, thiserror::Error)]
#[error("the memory for answers that wait to be read is out_of_memory")]
struct ResponseMemoryFull;

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
        assert_eq!(memory.hold(vec![1; 50 << 10]).unwrap_err().problem(), Problem::Unavailable);
        // A part of an body keeps all of it.
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
    fn the_length_of_a_response_decides_whether_it_is_large() {
        let memory = ResponseMemory::new(400 << 10);
        let large = memory.hold(vec![1; 300 << 10]).unwrap();
        let mut roomy = Vec::with_capacity(70 << 10);
        roomy.resize(MAX_SMALL, 1);
        drop(memory.hold(roomy).unwrap());
        drop(large);
    }
}
