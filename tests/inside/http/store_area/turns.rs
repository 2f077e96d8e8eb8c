//! Tests of `src/http/store_area/turns.rs`.

use super::*;

#[test]
fn a_key_has_two_turns_and_takes_none_of_another_key() {
    let turns = Turns::default();
    let take = |key| turns.of(KeyId(key)).try_acquire_owned();
    let (one, two) = (take(1).unwrap(), take(1).unwrap());
    assert!(take(1).is_err());
    assert!(take(2).is_ok());
    drop((one, two));
    assert!(take(1).is_ok());
    // Only keys with a request are in memory.
    assert!(take(3).is_ok());
    assert_eq!(turns.0.lock().unwrap().len(), 1);
}
