//! The age of an animal in words.

use jiff::civil::Date;

use crate::window_texts as texts;

/// Returns the age on the day `today` of an animal that was born on the day `born`: in days below two weeks, in weeks
/// below three months, in months below a year, then in years. Returns `None` if the birth is still to come, or so long ago
/// that it must be a mistake.
///
/// Example: an animal that was born on 31 March 2025 is one year old on 31 March 2026.
pub(crate) fn age(born: Date, today: Date) -> Option<String> {
    let days = i64::from((today - born).get_days());
    if days < 0 || today.year() - born.year() > MAX_YEARS {
        return None;
    }
    let months = i64::from(today.year() - born.year()) * 12
        + i64::from(today.month() - born.month())
        - i64::from(today.day() < born.day());
    let age = match (days, months) {
        (0..14, _) => texts().days(days),
        (_, 0..3) => texts().weeks(days / 7),
        (_, 3..12) => texts().months(months),
        _ => texts().years(months / 12),
    };
    Some(age)
}

/// Returns how long it is from one day to another, in the units of an age. Returns `None` if the first day is the later one.
///
/// Example: from 1 to 15 March, it is two weeks.
pub fn duration_in_words(from: Date, to: Date) -> Option<String> {
    age(from, to)
}

/// The age above which a day of birth is a mistake, in years.
const MAX_YEARS: i16 = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_days_weeks_months_or_years() {
        let today: Date = "2026-03-31".parse().unwrap();
        for (born, expected) in [
            ("2026-03-31", Some("0\u{a0}days")),
            ("2026-03-30", Some("1\u{a0}day")),
            ("2026-03-18", Some("13\u{a0}days")),
            ("2026-03-17", Some("2\u{a0}weeks")),
            ("2026-01-01", Some("12\u{a0}weeks")),
            ("2025-12-31", Some("3\u{a0}months")),
            ("2025-04-01", Some("11\u{a0}months")),
            ("2025-03-31", Some("1\u{a0}year")),
            ("2024-04-01", Some("1\u{a0}year")),
            ("1996-03-31", Some("30\u{a0}years")),
            ("2026-04-01", None),
            ("1906-04-01", Some("119\u{a0}years")),
            ("1899-12-31", None),
        ] {
            assert_eq!(
                age(born.parse().unwrap(), today).as_deref(),
                expected,
                "{born}"
            );
        }
        let leap_day = age("2024-02-29".parse().unwrap(), "2025-02-28".parse().unwrap());
        assert_eq!(leap_day.unwrap(), "11\u{a0}months");
    }
}
