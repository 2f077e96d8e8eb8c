//! Tests of `src/app/journal/streams.rs`.

use super::*;
use crate::domain::{Clock, KeyId, StaffId, SystemClock};

#[test]
fn each_key_and_each_member_has_a_limit_of_its_own_and_leaves_nothing_in_memory() {
    let streams = Arc::new(Streams::default());
    for of in [Actor::Key(KeyId(1)), Actor::Key(KeyId(2)), Actor::Staff(StaffId(1))] {
        let mut open: Vec<_> = (0..MAX_STREAMS).map(|_| streams.open(of).unwrap()).collect();
        assert!(streams.open(of).is_err());
        open.pop();
        open.push(streams.open(of).unwrap());
    }
    assert!(lock(&streams.open).is_empty());
}

#[test]
fn the_log_has_one_line_for_each_client_and_minute() {
    let (streams, start) = (Arc::new(Streams::default()), SystemClock.instant());
    let (one, other) = (Actor::Key(KeyId(1)), Actor::Key(KeyId(2)));
    assert!(streams.is_logged(one, start) && streams.is_logged(other, start));
    assert!(!streams.is_logged(one, start + Duration::from_secs(59)));
    assert!(streams.is_logged(one, start + LOG_EVERY));
    assert_eq!(lock(&streams.logged).len(), 1);
    let share = streams.open(one).unwrap();
    share.end(&Ended::NoMemory, start);
    share.end(&Ended::NoMemory, start);
    share.end(&End::Over.into(), start);
    assert_eq!((streams.ended[3].get(), streams.ended[0].get()), (2, 1));
}
