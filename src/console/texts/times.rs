//! Moments in words.

use jiff::{Timestamp, civil::Date};

pub(crate) const JUST_NOW: &str = "just now";
pub(crate) const SOON: &str = "in less than a minute";

/// A moment near `now` in words; `None` if it is a week or more away.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = at.as_second() - now.as_second();
    let (count, unit) = match seconds.abs() {
        0..60 => return Some(if seconds <= 0 { JUST_NOW } else { SOON }.to_owned()),
        seconds @ 60..3600 => (seconds / 60, "minute"),
        seconds @ 3600..86_400 => (seconds / 3600, "hour"),
        86_400..604_800 => {
            // As in a calendar, in UTC.
            let days = |moment: Timestamp| moment.as_second().div_euclid(86_400);
            match days(at) - days(now) {
                1 => return Some("tomorrow".to_owned()),
                -1 => return Some("yesterday".to_owned()),
                days => (days.abs(), "day"),
            }
        }
        _ => return None,
    };
    let plural = if count == 1 { "" } else { "s" };
    Some(if seconds < 0 {
        format!("{count} {unit}{plural} ago")
    } else {
        format!("in {count} {unit}{plural}")
    })
}

/// A day as a browser sends it.
pub(crate) fn day(typed: &str) -> String {
    typed
        .parse()
        .map_or_else(|_| typed.to_owned(), |day: Date| day.strftime("%-d %b %Y").to_string())
}

/// A moment, with its zone.
pub(crate) fn exact(at: Timestamp) -> String {
    at.strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// While the clock is not believed, for so many more hours.
pub(crate) fn doubted_clock(now: Timestamp, confirmed: Timestamp, hours: i64) -> String {
    format!(
        "The clock of the server shows {}, but the last confirmed time is {}. No reservation ends until \
         this is settled. Tell the people who run the server: correct the clock, or if it is right, \
         run “petstore clock confirm”. If the clock keeps running evenly, it counts as right in \
         {hours} h.",
        exact(now),
        exact(confirmed)
    )
}
