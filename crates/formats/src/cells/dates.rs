//! Dates, as people and programs write them.

use jiff::civil::Date;
use petstore_domain::store_area::whole_key;

use super::words::TableWords;

/// The words without a meaning of their own between the parts of a date.
const FILLERS: [&str; 6] = ["de", "del", "of", "den", "le", "the"];

/// The endings of a day that is written as an ordinal number, such as `1st`, `1er` and `1º`.
const ORDINAL_ENDINGS: [&str; 6] = ["st", "nd", "rd", "th", "er", "º"];

/// The last two-digit year of this century, as in Excel: `49` means 2049, and `50` means 1950.
const LAST_SHORT_YEAR: i16 = 49;

/// What a month with two digits can mean.
pub(super) enum MonthWithDigits {
    /// The first day of the month, because the digits can only be a year.
    Month(Date),
    /// The last day up to today that has these digits in this month, and the first day of the
    /// month in the year with these digits.
    Ambiguous([Date; 2]),
}

/// Parses a date. Returns `Ok(None)` for a text that is not a date.
///
/// The month can be a number, or a name in any language. [`parse_three_parts`] describes the orders
/// of day, month and year.
///
/// Example: `25.03.2024`, `25 mars 24`, `Monday, March 25, 2024` and `2024-03-25T00:00:00` are the
/// same date.
///
/// # Errors
///
/// A date such as `03/04/2024` is ambiguous in English. The error contains both meanings.
pub(super) fn parse_date(text: &str, words: &TableWords) -> Result<Option<Date>, [Date; 2]> {
    let text = text.trim().to_lowercase();
    let Some(date) = strip_midnight(&text) else {
        return Ok(None);
    };
    let mut parts = split_date(date);
    if parts.len() == 4 && is_weekday(parts[0], words) {
        parts.remove(0);
    }
    match parts[..] {
        [first, second, third] => {
            let has_points = date.contains('.');
            parse_three_parts([first, second, third], has_points, words)
        }
        [digits] => Ok(parse_compact_date(digits)),
        _ => Ok(None),
    }
}

/// Parses a month or a year, and returns its first day: 1 January 2019 for `2019`, and 1 May 2019
/// for `05/2019`, `Mai 2019` and `2019-05`.
pub(super) fn parse_month_or_year(text: &str, words: &TableWords) -> Option<Date> {
    let text = text.trim().to_lowercase();
    match split_date(&text)[..] {
        [year] => parse_date_parts(year, "1", "1", words),
        [first, second] => parse_date_parts(first, second, "1", words)
            .or_else(|| parse_date_parts(second, first, "1", words)),
        _ => None,
    }
}

/// Parses the name of a month with two digits. Returns `None` for any other text.
///
/// `Mar-24` can be 24 March, or March 2024, because Excel displays both `3/24` and `March 2024` in
/// this way. Digits that cannot be a day of the month, as in `Mar-99`, can only mean a year.
pub(super) fn parse_month_with_digits(
    text: &str,
    today: Date,
    words: &TableWords,
) -> Option<MonthWithDigits> {
    let text = text.trim().to_lowercase();
    let [month_name, digits] = split_date(&text)[..] else {
        return None;
    };
    // The month must be a name here: `parse_date_parts` would also accept a number.
    let is_month_name = find_month(month_name, words).is_some();
    if !is_month_name || digits.len() != 2 || !is_digits(digits) {
        return None;
    }
    let first_of_month = parse_date_parts(&expand_year(digits), month_name, "1", words)?;
    let day_in_year = |year: i16| parse_date_parts(&year.to_string(), month_name, digits, words);
    // A day that is still to come this year means the day of last year. Earlier years are not
    // tried, so 29 February is often no day.
    let latest_day = day_in_year(today.year())
        .filter(|day| *day <= today)
        .or_else(|| day_in_year(today.year() - 1));
    match latest_day {
        Some(day) => Some(MonthWithDigits::Ambiguous([day, first_of_month])),
        None => Some(MonthWithDigits::Month(first_of_month)),
    }
}

/// Splits a date into its meaningful parts: `25. märz 2024` becomes `25`, `märz` and `2024`.
fn split_date(date: &str) -> Vec<&str> {
    date.split(|character: char| character.is_whitespace() || ".,/-".contains(character))
        .filter(|part| !part.is_empty() && !FILLERS.contains(part))
        .collect()
}

/// Parses a date with three parts, in one of three orders: year, month, day; or day, month, year;
/// or month, day, year.
///
/// A date with points between its parts begins with a month only if the month is a name:
/// `03.25.2024` is not a date.
///
/// # Errors
///
/// In English, dates that begin with the day and dates that begin with the month are both usual. A
/// text without points that is a date in both orders, such as `03/04/2024`, is ambiguous, and the
/// error has both dates. In other languages, such a text begins with the day.
fn parse_three_parts(
    [first, second, third]: [&str; 3],
    has_points: bool,
    words: &TableWords,
) -> Result<Option<Date>, [Date; 2]> {
    // Only a year at the end can have two digits. A year at the beginning always has four.
    let year_at_end = expand_year(third);
    let date_from_year_or_day = parse_date_parts(first, second, third, words)
        .or_else(|| parse_date_parts(&year_at_end, second, first, words));
    let may_begin_with_month = !has_points || find_month(first, words).is_some();
    let date_from_month = if may_begin_with_month {
        parse_date_parts(&year_at_end, first, second, words)
    } else {
        None
    };

    let are_both_orders_usual = !words.day_first && !has_points;
    match (date_from_year_or_day, date_from_month) {
        (Some(date), Some(other_date)) if date != other_date && are_both_orders_usual => {
            Err([date, other_date])
        }
        (Some(date), _) | (None, Some(date)) => Ok(Some(date)),
        (None, None) => Ok(None),
    }
}

/// Parses a date in the compact form of databases: `20240503` is 3 May 2024. The year must begin
/// with 19 or 20, because other numbers with eight digits are usually not dates.
fn parse_compact_date(digits: &str) -> Option<Date> {
    if digits.len() != 8 || !is_digits(digits) {
        return None;
    }
    if !digits.starts_with("19") && !digits.starts_with("20") {
        return None;
    }
    let year = digits[..4].parse().ok()?;
    let month = digits[4..6].parse().ok()?;
    let day = digits[6..].parse().ok()?;
    Date::new(year, month, day).ok()
}

/// Parses a date from a year of four digits, a month that is a number or a name, and a day.
fn parse_date_parts(year: &str, month: &str, day: &str, words: &TableWords) -> Option<Date> {
    if year.len() != 4 || !is_digits(year) {
        return None;
    }
    let month_number = match find_month(month, words) {
        Some(number) => number,
        None if is_digits(month) => month.parse().ok()?,
        None => return None,
    };
    let day_digits = ORDINAL_ENDINGS
        .iter()
        .find_map(|ending| day.strip_suffix(ending))
        .unwrap_or(day);
    if !is_digits(day_digits) {
        return None;
    }
    Date::new(year.parse().ok()?, month_number, day_digits.parse().ok()?).ok()
}

/// Expands a year of two digits: `24` becomes `2024`. Other text stays as it is.
fn expand_year(year: &str) -> String {
    if year.len() != 2 || !is_digits(year) {
        return year.to_owned();
    }
    match year.parse::<i16>() {
        Ok(number) if number <= LAST_SHORT_YEAR => format!("20{year}"),
        _ => format!("19{year}"),
    }
}

/// Returns the number of the month whose name begins with this prefix in any language. Returns
/// `None` if no month matches, or several do.
///
/// Example: `jan` is 1, and `jui` is ambiguous, because it can be `juin` or `juillet`. A prefix of
/// fewer than three letters matches no month, because it is often another word, such as `no` or
/// `de`.
fn find_month(prefix: &str, words: &TableWords) -> Option<i8> {
    let key = whole_key(prefix);
    if key.chars().count() < 3 {
        return None;
    }
    let mut matching_month = None;
    for (name, number) in &words.months {
        if !name.starts_with(&key) {
            continue;
        }
        if matching_month.is_some_and(|month| month != *number) {
            return None;
        }
        matching_month = Some(*number);
    }
    matching_month
}

/// Whether a word is the name of a weekday, or a prefix of it with at least two letters.
fn is_weekday(word: &str, words: &TableWords) -> bool {
    let key = whole_key(word);
    // The keys of the names are ASCII, so each byte of a matching key is a letter.
    key.len() >= 2
        && words
            .weekdays
            .iter()
            .any(|weekday| weekday.starts_with(&key))
}

/// Removes the time after a date, if the time is midnight. Returns `None` for any other time,
/// because it may belong to another day in another time zone.
///
/// Example: `01/16/1994 12:00:00 am` and `01/16/1994t00:00:00z` become `01/16/1994`.
fn strip_midnight(text: &str) -> Option<&str> {
    let Some(colon) = text.find(':') else {
        return Some(text);
    };
    // The time begins with the hour: the digits before the first colon.
    let before_hour = text[..colon].trim_end_matches(|last: char| last.is_ascii_digit());
    let (date, time) = text.split_at(before_hour.len());
    if !is_midnight(time) {
        return None;
    }
    let date = date.trim_end();
    // After a digit, `t` separates the date from the time. After a letter, it belongs to a word.
    let without_t = date.strip_suffix('t').unwrap_or(date);
    if without_t.ends_with(|last: char| last.is_ascii_digit()) {
        return Some(without_t);
    }
    Some(date)
}

/// Whether a time is midnight, such as `00:00`, `0:00:00.000`, `00:00:00+02:00` or `12:00:00 am`.
fn is_midnight(time: &str) -> bool {
    let clock_length = time
        .find(|character: char| !character.is_ascii_digit() && !":.".contains(character))
        .unwrap_or(time.len());
    // The suffix can be `am`, `pm` or a time zone.
    let (clock, suffix) = time.split_at(clock_length);
    let Some((hour, minutes)) = clock.split_once(':') else {
        return false;
    };
    let is_whole_hour = minutes.starts_with('0')
        && minutes
            .bytes()
            .all(|byte| matches!(byte, b'0' | b':' | b'.'));
    // The time zones `ast` and `pst` begin with the same letters.
    let suffix = suffix.replace(
        |character: char| character == '.' || character.is_whitespace(),
        "",
    );
    let is_morning = suffix == "a" || suffix.starts_with("am");
    let is_afternoon = suffix == "p" || suffix.starts_with("pm");
    let is_first_hour = match hour {
        "0" | "00" => !is_afternoon,
        "12" => is_morning,
        _ => false,
    };
    is_whole_hour && is_first_hour
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
