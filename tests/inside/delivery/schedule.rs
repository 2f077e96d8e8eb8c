//! Tests of `src/delivery/schedule.rs`.

use rand::{SeedableRng, rngs::StdRng};

use super::*;

#[test]
fn each_step_is_that_of_the_standard_and_up_to_a_tenth_more() {
    let random = &mut StdRng::seed_from_u64(1);
    let expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400, 86_400];
    for (failures, seconds) in (1..).zip(expected) {
        let delays: Vec<i64> = (0..100).map(|_| delay(failures, None, random).as_secs()).collect();
        let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
        assert!(*least >= seconds && *most <= seconds * 11 / 10, "{failures}: {delays:?}");
        // They are spread.
        assert!(failures == 1 || most > least);
    }
}

#[test]
fn retry_after_only_lengthens_a_step_and_not_beyond_a_day() {
    let random = &mut StdRng::seed_from_u64(1);
    let mut seconds = |failures, after| delay(failures, Some(after), random).as_secs();
    assert!((5..=6).contains(&seconds(1, 1)));
    assert!((120..=132).contains(&seconds(1, 120)));
    assert!((300..=330).contains(&seconds(2, 120)));
    assert!((86_400..=LONGEST.as_secs()).contains(&seconds(1, u64::MAX)));
}
