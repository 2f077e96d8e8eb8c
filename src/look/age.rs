//! The age of an animal in words.

use jiff::civil::Date;

use crate::languages::window_texts as texts;

/// The age on this day of what was born on that day: in days below two weeks, in weeks below three
/// months, in months below a year, then in years. `None` for a day that is still to come.
pub(crate) fn age(born: Date, today: Date) -> Option<String> {
    let days = i64::from((today - born).get_days());
    if days < 0 || today.year() - born.year() > OLDEST {
        return None;
    }
    let months = i64::from(today.year() - born.year()) * 12
        + i64::from(today.month() - born.month())
        - i64::from(today.day() < born.day());
    Some(match (days, months) {
        (0..14, _) => texts().days(days),
        (_, 0..3) => texts().weeks(days / 7),
        (_, 3..12) => texts().months(months),
        _ => texts().years(months / 12),
    })
}

/// In years. A day that makes an animal older is a mistake.
const OLDEST: i16 = 120;

#[cfg(test)]
#[path = "../../tests/inside/look/age.rs"]
mod tests;
