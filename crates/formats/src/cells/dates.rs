//! Days as people and programs write them.

use jiff::civil::Date;
use petstore_domain::store_area::whole_key;

use super::words::TableWords;

/// The words between the parts of a day.
const FILLERS: [&str; 6] = ["de", "del", "of", "den", "le", "the"];

/// The last year of this century that two digits mean: `49` is 2049, and `50` is 1950, as in Excel.
const LAST_SHORT_YEAR: i16 = 49;

/// Parses a day, with the names of months in all languages. Points are between day, month and year.
///
/// Example: `25.03.2024`, `25 mars 24`, `Monday, March 25, 2024` and `2024-03-25T00:00:00` are the same day.
///
/// # Errors
///
/// `03/04/2024` has two meanings in English, which the error has.
pub(super) fn parse_date(text: &str, words: &TableWords) -> Result<Option<Date>, [Date; 2]> {
    let text = text.trim().to_lowercase();
    let Some(day) = without_midnight(&text) else {
        return Ok(None);
    };
    let mut parts = date_parts(day);
    if parts.len() == 4 && is_weekday(parts[0], words) {
        parts.remove(0);
    }
    match *parts {
        [first, second, third] => read_parts(day, [first, second, third], words),
        [digits] => Ok(date_without_separators(digits)),
        _ => Ok(None),
    }
}

/// Parses a month or a year, and returns its first day: 1 January 2019 for `2019`, and 1 May 2019 for `05/2019`, `Mai 2019`
/// and `2019-05`.
pub(super) fn parse_month_or_year(text: &str, words: &TableWords) -> Option<Date> {
    let text = text.trim().to_lowercase();
    match *date_parts(&text) {
        [year] => date(year, "1", "1", words),
        [first, second] => {
            date(first, second, "1", words).or_else(|| date(second, first, "1", words))
        }
        _ => None,
    }
}

/// Returns both meanings of a month with two digits, if the text is one: `Mar-24` can be 24 March, or March 2024. Excel shows
/// `3/24` and `March 2024` so. The meanings are the last such day before `today`, and the first day of the month.
///
/// Two digits that no month has as a day, as in `Mar-99`, mean only a year.
pub(super) fn month_with_digits(
    text: &str,
    today: Date,
    words: &TableWords,
) -> Option<MonthWithDigits> {
    let text = text.trim().to_lowercase();
    let [month_name, digits] = *date_parts(&text) else {
        return None;
    };
    month_by_prefix(month_name, words)?;
    if digits.len() != 2 || !is_digits(digits) {
        return None;
    }
    let first_of_month = date(&full_year(digits), month_name, "1", words)?;
    let day_in = |year: i16| date(&year.to_string(), month_name, digits, words);
    let day = day_in(today.year())
        .filter(|day| *day <= today)
        .or_else(|| day_in(today.year() - 1));
    match day {
        Some(day) => Some(MonthWithDigits::Ambiguous([day, first_of_month])),
        None => Some(MonthWithDigits::Month(first_of_month)),
    }
}

/// The meanings of a month with two digits.
pub(super) enum MonthWithDigits {
    /// The first day of a month, because no day has these digits.
    Month(Date),
    /// A day of an unknown year, and the first day of a month.
    Ambiguous([Date; 2]),
}

/// Returns the parts of a day that have a meaning: `25`, `märz` and `2024` of `25. märz 2024`.
fn date_parts(day: &str) -> Vec<&str> {
    day.split(|character: char| character.is_whitespace() || ".,/-".contains(character))
        .filter(|part| !part.is_empty() && !FILLERS.contains(part))
        .collect()
}

/// Returns the day of three parts. The year is the last or the first part.
fn read_parts(
    day: &str,
    [first, second, third]: [&str; 3],
    words: &TableWords,
) -> Result<Option<Date>, [Date; 2]> {
    let year_first = date(first, second, third, words);
    let year = full_year(third);
    let usual_date = year_first.or_else(|| date(&year, second, first, words));
    let month_first = date(&year, first, second, words);
    let has_points = day.contains('.');
    match (usual_date, month_first) {
        (Some(usual_date), Some(month_first))
            if usual_date != month_first && !words.day_first && !has_points =>
        {
            Err([usual_date, month_first])
        }
        (Some(usual_date), _) => Ok(Some(usual_date)),
        // With points, only the name of a month can come first.
        (None, month_first) if !has_points || month_by_prefix(first, words).is_some() => {
            Ok(month_first)
        }
        (None, _) => Ok(None),
    }
}

/// Returns a day in the form that databases write: 3 May 2024 for `20240503`.
fn date_without_separators(digits: &str) -> Option<Date> {
    if digits.len() != 8 || !is_digits(digits) || !["19", "20"].contains(&&digits[..2]) {
        return None;
    }
    let year = digits[..4].parse().ok()?;
    let month = digits[4..6].parse().ok()?;
    let day = digits[6..].parse().ok()?;
    Date::new(year, month, day).ok()
}

/// Parses a day from its parts. The month is a number or a name.
fn date(year: &str, month_text: &str, day: &str, words: &TableWords) -> Option<Date> {
    if year.len() != 4 || !is_digits(year) {
        return None;
    }
    let month = match month_by_prefix(month_text, words) {
        Some(month) => month,
        None if is_digits(month_text) => month_text.parse().ok()?,
        None => return None,
    };
    let ordinal_endings = ["st", "nd", "rd", "th", "er", "º"];
    let day = ordinal_endings
        .iter()
        .find_map(|ending| day.strip_suffix(ending))
        .unwrap_or(day);
    if !is_digits(day) {
        return None;
    }
    Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()
}

/// Returns a year with four digits: `2024` for `24`. Other text stays as it is.
fn full_year(year: &str) -> String {
    if year.len() != 2 || !is_digits(year) {
        return year.to_owned();
    }
    match year.parse::<i16>() {
        Ok(number) if number <= LAST_SHORT_YEAR => format!("20{year}"),
        _ => format!("19{year}"),
    }
}

/// Returns the number of the only month whose name begins like this in any language.
///
/// Example: `jan` is 1, and `jui` is none, because it can be `juin` or `juillet`. Fewer than three letters are no month,
/// because they are often another word, such as `no` or `de`.
fn month_by_prefix(beginning: &str, words: &TableWords) -> Option<i8> {
    let beginning = whole_key(beginning);
    if beginning.chars().count() < 3 {
        return None;
    }
    let mut matching_month = None;
    for (name, number) in &words.months {
        if !name.starts_with(&beginning) {
            continue;
        }
        if matching_month.is_some_and(|month| month != *number) {
            return None;
        }
        matching_month = Some(*number);
    }
    matching_month
}

/// Whether a word is the name of a day of the week, or its first two letters or more.
fn is_weekday(word: &str, words: &TableWords) -> bool {
    let beginning = whole_key(word);
    beginning.len() >= 2
        && words
            .weekdays
            .iter()
            .any(|weekday| weekday.starts_with(&beginning))
}

/// Returns a day without the time of midnight after it; `None` if another time follows, because it may belong to another day
/// elsewhere on earth.
///
/// Example: `01/16/1994 12:00:00 am` is `01/16/1994`, and so is `01/16/1994t00:00:00z`.
fn without_midnight(text: &str) -> Option<&str> {
    let Some(colon) = text.find(':') else {
        return Some(text);
    };
    let hour_length = text[..colon]
        .bytes()
        .rev()
        .take_while(u8::is_ascii_digit)
        .count();
    let (day, time) = text.split_at(colon - hour_length);
    if !is_midnight(time) {
        return None;
    }
    let day = day.trim_end();
    let without_t = day.strip_suffix('t').unwrap_or(day);
    if without_t.ends_with(|last: char| last.is_ascii_digit()) {
        return Some(without_t);
    }
    Some(day)
}

/// Whether a time is midnight: `00:00`, `0:00:00.000`, `00:00:00+02:00`, `12:00:00 am`.
fn is_midnight(time: &str) -> bool {
    let clock_length = time
        .find(|character: char| !character.is_ascii_digit() && !":.".contains(character))
        .unwrap_or(time.len());
    let (clock, zone) = time.split_at(clock_length);
    let Some((hour, minutes)) = clock.split_once(':') else {
        return false;
    };
    let is_whole_hour = minutes
        .bytes()
        .all(|byte| matches!(byte, b'0' | b':' | b'.'));
    let zone = zone.trim();
    let is_morning = zone.starts_with('a');
    let is_afternoon = zone.starts_with('p');
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
