//! The metrics of reservations.

use jiff::Timestamp;
use petstore_domain::store_area::Reservations;
use petstore_observe::metrics::{ChangeMetrics, Exposition};

#[test]
fn the_lag_grows_from_the_end_of_the_oldest_reservation_on() {
    let second = |second| Timestamp::from_second(second).unwrap();
    let lag = |first_end: Option<i64>, now| {
        let metrics = ChangeMetrics::default();
        metrics.record_reservations(Reservations {
            open: 3,
            first_end: first_end.map(second),
        });
        let mut page = Exposition::default();
        metrics.expose(&mut page, second(now));
        let page = page.finish();
        assert!(page.contains("\npetstore_reservations 3\n"), "{page}");
        let line = page
            .lines()
            .find(|line| line.starts_with("petstore_expiry_lag_seconds "));
        line.unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .parse::<i64>()
            .unwrap()
    };
    assert_eq!(lag(None, 1000), 0);
    assert_eq!(lag(Some(1001), 1000), 0);
    assert_eq!(lag(Some(940), 1000), 60);
}
