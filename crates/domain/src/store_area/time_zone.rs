//! The time zone of a store, which determines when its days begin and end.

use std::sync::LazyLock;

use jiff::{
    Timestamp, ToSpan,
    civil::Date,
    tz::{TimeZone, TimeZoneDatabase},
};

/// The time zone database that is compiled into the program. The system's zone files are ignored,
/// so that every machine knows the same zones.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The IANA regions that are offered for selection, such as `Europe` for `Europe/Berlin`. Technical
/// zones, such as `Etc/GMT+1`, are left out.
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

/// A time zone from the IANA database, such as `Europe/Berlin`. The default is UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreTimeZone(TimeZone);

impl Default for StoreTimeZone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl StoreTimeZone {
    /// The rule for a name, phrased to follow "… must be".
    pub const RULE: &'static str =
        "the IANA name of a time zone, such as Europe/Berlin, America/New_York or UTC";

    /// Finds a time zone by its IANA name, ignoring case: `europe/berlin` is `Europe/Berlin`.
    pub fn from_name(name: &str) -> Option<Self> {
        let zone = DATABASE.get(name).ok()?;
        // `Etc/Unknown` stands for a zone that could not be determined.
        if zone.is_unknown() {
            return None;
        }
        Some(Self(zone))
    }

    /// Returns the IANA name, such as `Europe/Berlin`.
    pub fn as_str(&self) -> &str {
        // Each zone of the database has a name, so the default is never used.
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the underlying zone, for callers that need more than whole days, such as to format a
    /// time of day.
    pub fn as_zone(&self) -> &TimeZone {
        &self.0
    }

    /// Returns the calendar day in this zone at the given time.
    pub fn day_of(&self, time: Timestamp) -> Date {
        self.0.to_datetime(time).date()
    }

    /// Returns the start of a day; `None` beyond the range of [`Timestamp`].
    ///
    /// It is usually midnight, but 01:00 on a day whose midnight is skipped because clocks go
    /// forward.
    pub fn start_of_day(&self, day: Date) -> Option<Timestamp> {
        let midnight = day.to_zoned(self.0.clone()).ok()?;
        Some(midnight.timestamp())
    }

    /// Returns the start of the day after `day`; `None` beyond the range of [`Timestamp`].
    pub fn start_of_next_day(&self, day: Date) -> Option<Timestamp> {
        self.start_of_day(day.tomorrow().ok()?)
    }

    /// Returns the last second of a day; `None` beyond the range of [`Timestamp`].
    pub fn end_of_day(&self, day: Date) -> Option<Timestamp> {
        self.start_of_next_day(day)?.checked_sub(1.second()).ok()
    }
}

/// The time zones of one region, as a form offers them for selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneRegion {
    /// The region, such as `Europe`.
    pub name: &'static str,
    /// The IANA names of its zones, in alphabetical order.
    pub zones: Vec<String>,
}

/// Returns the time zones for selection, grouped by region.
pub fn zone_regions() -> &'static [ZoneRegion] {
    static ZONE_REGIONS: LazyLock<Vec<ZoneRegion>> =
        LazyLock::new(|| REGIONS.into_iter().map(ZoneRegion::new).collect());
    &ZONE_REGIONS
}

impl ZoneRegion {
    /// Lists the zones of a region.
    fn new(region: &'static str) -> Self {
        let prefix = format!("{region}/");
        let mut zones = Vec::new();
        for name in DATABASE.available() {
            if name.as_str().starts_with(&prefix) {
                zones.push(name.as_str().to_owned());
            }
        }
        zones.sort();
        Self {
            name: region,
            zones,
        }
    }
}
