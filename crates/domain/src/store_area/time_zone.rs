//! The time zone of a store, which decides when its days begin and end.

use std::sync::LazyLock;

use jiff::{
    Timestamp, ToSpan,
    civil::Date,
    tz::{TimeZone, TimeZoneDatabase},
};

/// The time zones that are compiled into the program. The files of the system are not read, so every machine has the same
/// zones.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The first parts of the names of zones in which people live, such as `Europe` in `Europe/Berlin`.
const REGIONS: [&str; 10] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
];

/// A time zone with a name of IANA. The default is UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreTimeZone(TimeZone);

impl Default for StoreTimeZone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl StoreTimeZone {
    /// The rule for a name, which completes the sentence "… must be".
    pub const RULE: &'static str =
        "the IANA name of a time zone, such as Europe/Berlin, America/New_York or UTC";

    /// Returns the time zone with this name; `None` if there is none. Names are compared in any case: `europe/berlin` is
    /// `Europe/Berlin`.
    pub fn from_name(name: &str) -> Option<Self> {
        let zone = DATABASE.get(name).ok()?;
        if zone.is_unknown() {
            return None;
        }
        Some(Self(zone))
    }

    /// Returns the IANA name.
    pub fn as_str(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the zone for a calculation that days do not suffice for, such as the time of a day in words.
    pub fn as_zone(&self) -> &TimeZone {
        &self.0
    }

    /// Returns the day at a time.
    pub fn day_of(&self, time: Timestamp) -> Date {
        self.0.to_datetime(time).date()
    }

    /// Returns the first moment of a day; `None` at the end of the calendar. Usually, that is midnight. Where clocks change at
    /// midnight, a day can begin at 01:00.
    pub fn start_of_day(&self, day: Date) -> Option<Timestamp> {
        let midnight = day.to_zoned(self.0.clone()).ok()?;
        Some(midnight.timestamp())
    }

    /// Returns the first moment after a day; `None` at the end of the calendar.
    pub fn start_of_next_day(&self, day: Date) -> Option<Timestamp> {
        self.start_of_day(day.tomorrow().ok()?)
    }

    /// Returns the last second of a day; `None` at the end of the calendar.
    pub fn end_of_day(&self, day: Date) -> Option<Timestamp> {
        self.start_of_next_day(day)?.checked_sub(1.second()).ok()
    }
}

/// The places of a region, by which people choose a time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneRegion {
    /// The region, such as `Europe`.
    pub name: &'static str,
    /// The IANA names of its zones, in alphabetical order.
    pub zones: Vec<String>,
}

/// Returns all zones in which people live, by region.
pub fn zone_regions() -> &'static [ZoneRegion] {
    static ZONE_REGIONS: LazyLock<Vec<ZoneRegion>> =
        LazyLock::new(|| REGIONS.into_iter().map(ZoneRegion::new).collect());
    &ZONE_REGIONS
}

impl ZoneRegion {
    fn new(region: &'static str) -> Self {
        let mut zones = Vec::new();
        for name in DATABASE.available() {
            let name = name.as_str();
            if name
                .split_once('/')
                .is_some_and(|(first, _)| first == region)
            {
                zones.push(name.to_owned());
            }
        }
        zones.sort();
        Self {
            name: region,
            zones,
        }
    }
}
