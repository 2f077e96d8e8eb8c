//! Tests of `src/console/guesses.rs`.

use rand::SeedableRng;

use super::*;
use crate::domain::{Clock, SystemClock, staff::StaffMember};

fn guesses(start: Instant) -> Guesses {
    Guesses::new(start, &mut StdRng::seed_from_u64(1))
}

#[test]
fn a_stranger_uses_up_only_the_attempts_of_strangers() {
    let start = SystemClock.instant();
    let guesses = guesses(start);
    let from = |last: u8| IpAddr::from([192, 0, 2, last]);
    // Many addresses guess one name.
    let mut allowed = 0;
    for address in 0..=255 {
        allowed += usize::from(guesses.take("ana", from(address), None, start).is_ok());
    }
    assert_eq!(allowed, 60);
    // The member signs in where they have signed in before.
    assert!(guesses.take("ana", from(1), Some(StaffId(1)), start).is_ok());
    assert!(guesses.take("ana", from(1), None, start).is_err());
    // A minute later, there is one more attempt.
    let later = start + Duration::from_mins(1);
    assert!(guesses.take("ana", from(1), None, later).is_ok());
    assert!(guesses.take("ana", from(1), None, later).is_err());
}

#[test]
fn strangers_who_fill_the_meters_of_all_names_leave_each_member_all_attempts() {
    let start = SystemClock.instant();
    let guesses = guesses(start);
    let mut address = 0_u32;
    for name in 0..3 * METERS {
        for _ in 0..60 {
            address += 1;
            let _ = guesses.take(&name.to_string(), address.to_be_bytes().into(), None, start);
        }
    }
    for member in 1..=StaffMember::MAX {
        let known = Some(StaffId(member));
        let take = || guesses.take("ana", [192, 0, 2, 1].into(), known, start).is_ok();
        assert_eq!((0..61).filter(|_| take()).count(), 60, "{member}");
    }
}

#[test]
fn one_address_guesses_few_names() {
    let start = SystemClock.instant();
    let guesses = guesses(start);
    let address = IpAddr::from([192, 0, 2, 1]);
    let allowed = |name: &usize| guesses.take(&name.to_string(), address, None, start).is_ok();
    assert_eq!((0..1000).filter(allowed).count(), 600);
}
