//! Tests of `src/edge/response_memory.rs`.

use super::*;

/// A memory with so many KiB for clients with a key.
fn memory(known: usize) -> ResponseMemory {
    ResponseMemory::new((known << 10) / 3 * 4 + 3)
}

#[test]
fn large_responses_leave_a_quarter_of_the_memory_to_small_ones() {
    let memory = memory(400);
    let large: Vec<Bytes> = (0..3).map(|_| memory.hold(vec![1; 100 << 10]).unwrap()).collect();
    assert!(memory.hold(vec![1; 100 << 10]).is_err());
    // The length of a response decides whether it is large.
    let mut roomy = Vec::with_capacity(70 << 10);
    roomy.resize(MAX_SMALL, 1);
    drop(memory.hold(roomy).unwrap());
    let usual: Vec<Bytes> = (0..2).map(|_| memory.hold(vec![1; 50 << 10]).unwrap()).collect();
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
    let usual: Vec<Bytes> = (0..4).map(|_| memory.hold(vec![1; 50 << 10]).unwrap()).collect();
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
