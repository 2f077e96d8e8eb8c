//! Days in the time zone of a store.

use jiff::{Timestamp, ToSpan, civil::date};
use petstore_domain::store_area::{StoreTimeZone, zone_regions};

fn zone(name: &str) -> StoreTimeZone {
    StoreTimeZone::from_name(name).unwrap()
}

#[test]
fn a_time_zone_has_a_name_of_iana_in_any_case_and_no_other_name() {
    for (name, expected) in [
        ("Europe/Berlin", "Europe/Berlin"),
        ("america/new_york", "America/New_York"),
        ("Asia/Calcutta", "Asia/Calcutta"),
        ("utc", "UTC"),
    ] {
        assert_eq!(zone(name).as_str(), expected);
    }
    for name in [
        "",
        " ",
        "Berlin",
        "Europe/Berlin ",
        "Europe/Bielefeld",
        "Etc/Unknown",
        "CEST",
        "+02:00",
        "<+02>-2",
        "posix/Europe/Berlin",
        "right/UTC",
        "localtime",
        "../zoneinfo/Europe/Berlin",
        "/usr/share/zoneinfo/Europe/Berlin",
        "Europe/Berlin\0",
    ] {
        assert_eq!(StoreTimeZone::from_name(name), None, "{name:?}");
    }
    assert_eq!(StoreTimeZone::default(), zone("UTC"));
}

#[test]
fn a_day_begins_where_the_day_before_it_ends_in_every_zone_that_people_choose() {
    let names: Vec<&String> = zone_regions()
        .iter()
        .flat_map(|region| &region.zones)
        .collect();
    assert!(names.len() > 400, "{}", names.len());
    for name in names {
        let zone = zone(name);
        assert_eq!(zone.as_str(), name);
        let mut day = date(2026, 12, 31);
        while day < date(2028, 1, 2) {
            let start = zone.start_of_day(day).unwrap();
            let end = zone.end_of_day(day).unwrap();
            let next_start = zone.start_of_next_day(day).unwrap();
            assert_eq!(end, next_start - 1.second(), "{name} {day}");
            assert_eq!(zone.day_of(start), day, "{name}");
            assert_eq!(zone.day_of(end), day, "{name}");
            assert_eq!(
                zone.day_of(start - 1.second()),
                day.yesterday().unwrap(),
                "{name}"
            );
            day = next(day);
            assert_eq!(zone.start_of_day(day), Some(next_start), "{name} {day}");
        }
    }
}

fn next(day: jiff::civil::Date) -> jiff::civil::Date {
    day.tomorrow().unwrap()
}

#[test]
fn a_day_has_23_or_25_hours_when_the_clocks_change_and_begins_later_where_they_change_at_midnight()
{
    let hours = |name: &str, day| {
        let zone = zone(name);
        let length = zone.start_of_next_day(day).unwrap() - zone.start_of_day(day).unwrap();
        length.get_seconds() / 3600
    };
    assert_eq!(hours("Europe/Berlin", date(2027, 3, 28)), 23);
    assert_eq!(hours("Europe/Berlin", date(2027, 10, 31)), 25);
    assert_eq!(hours("America/New_York", date(2027, 3, 14)), 23);
    assert_eq!(hours("UTC", date(2027, 3, 28)), 24);
    let start = |name: &str, day| zone(name).start_of_day(day).unwrap().to_string();
    assert_eq!(
        start("America/Santiago", date(2027, 9, 5)),
        "2027-09-05T04:00:00Z"
    );
    assert_eq!(
        start("America/Havana", date(2027, 11, 7)),
        "2027-11-07T04:00:00Z"
    );
}

#[test]
fn the_ends_of_time_are_no_days_that_end() {
    let zone = zone("Pacific/Kiritimati");
    assert_eq!(zone.end_of_day(jiff::civil::Date::MAX), None);
    assert_eq!(zone.start_of_day(jiff::civil::Date::MIN), None);
    assert_eq!(zone.day_of(Timestamp::MAX).year(), 9999);
}
