//! The limit of a page.

use petstore_domain::Limit;

#[test]
fn a_limit_is_between_1_and_100_and_is_20_by_default() {
    for outside in [i64::MIN, -1, 0, 101, 256 + 20, i64::MAX] {
        assert_eq!(Limit::new(outside), None, "{outside}");
    }
    assert_eq!(Limit::new(1).unwrap().get(), 1);
    assert_eq!(Limit::new(100).unwrap().get(), 100);
    assert_eq!(Limit::default().get(), 20);
}
