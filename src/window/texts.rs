//! The texts of the pages.

use jiff::civil::Date;

use crate::{domain::store_area::Currency, edge::Problem};

pub(super) const LANGUAGE: &str = "en";
pub(super) const NO_STORE: &str = "Our animals";
pub(super) const SKIP: &str = "Skip to content";
pub(super) const LIST: &str = "Meet our animals";
pub(super) const LATER_PAGE: &str = "More animals";
pub(super) const BACK: &str = "All animals";
pub(super) const RESERVED: &str = "Reserved";
pub(super) const FILTER: &str = "Find your animal";
pub(super) const NAME: &str = "Name";
pub(super) const KIND: &str = "Category";
pub(super) const NEWEST_FIRST: &str = "Newest first";
pub(super) const LONGEST_FIRST: &str = "Longest with us first";
pub(super) const CHOSEN: &str = "Chosen";
pub(super) const TAKE_OFF: &str = "Take off ";
pub(super) const ANY: &str = "Any";
pub(super) const SHOW: &str = "Show animals";
pub(super) const CLEAR: &str = "Show all";
pub(super) const NEXT: &str = "More animals";
pub(super) const FIRST: &str = "Back to the newest";
pub(super) const NONE_FOUND: &str = "None of our animals fits that.";
pub(super) const NONE_HERE_YET: &str = "None of the animals so far fits that. There are more.";
pub(super) const NONE_AT_ALL: &str =
    "No animal is looking for a home at the moment. Come back soon.";
pub(super) const NO_NAME: &str = "No name yet";
pub(super) const YES: &str = "Yes";
pub(super) const NO: &str = "No";
pub(super) const AGE: &str = "Age";
pub(super) const CONTACT: &str = "Contact us";
pub(super) const FEED: &str = "New animals as a feed";
pub(super) const GONE: &str = "This animal is no longer here";
pub(super) const GONE_NEXT: &str = "Others are still looking for a home.";
pub(super) const PHOTOS: &str = "Photos";
pub(super) const REQUEST: &str = "Request ";

pub(super) fn found_a_home(name: &str) -> String {
    format!("{name} has found a home")
}

pub(super) fn ask(name: &str) -> String {
    format!("Ask about {name}")
}

/// How somebody asks without an address.
pub(super) fn ask_here(name: &str, number: i64) -> String {
    format!("Ask us about {name}, number {number}.")
}

/// The number of an animal, by which the store knows which one somebody means.
pub(super) fn number(number: i64) -> String {
    format!("Number {number}")
}

pub(super) fn is_reserved(name: &str) -> String {
    format!("{name} is reserved at the moment.")
}

/// How many animals there are, if at most `most`.
pub(super) fn count(count: usize, most: usize) -> String {
    if count == 1 {
        return "1 animal".to_owned();
    }
    let (more, shown) = if count > most { ("More than ", most) } else { ("", count) };
    let thousands = if shown < 1000 { String::new() } else { format!("{},", shown / 1000) };
    let width = if shown < 1000 { 0 } else { 3 };
    format!("{more}{thousands}{:0width$} animals", shown % 1000)
}

/// The description of the list in a search engine.
pub(super) fn about_list(store: Option<&str>) -> String {
    match store {
        Some(store) => format!("Newest first: the animals that are looking for a home at {store}"),
        None => "Newest first: the animals that are looking for a home".to_owned(),
    }
}

/// The description in a search engine of an animal that has none.
pub(super) fn about_animal(name: &str, kind: &[String], store: Option<&str>) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({})", kind.join(", ")) };
    let at = store.map(|store| format!(" at {store}")).unwrap_or_default();
    format!("{name}{kind} is looking for a home{at}")
}

/// The alt text of a photo without one of its own.
pub(super) fn photo(number: usize, name: &str, species: Option<&str>) -> String {
    let species = species.map(|species| format!(", {}", species.to_lowercase()));
    format!("Photo {number} of {name}{}", species.unwrap_or_default())
}

/// A price with its currency.
pub(super) fn price(price: &str, currency: Option<&Currency>) -> String {
    currency.map_or_else(|| price.to_owned(), |currency| currency.amount(price))
}

/// The age on this day of what was born on that day: in days below two weeks, in weeks below three
/// months, in months below a year, then in years. `None` for a day that is still to come.
pub(super) fn age(born: Date, today: Date) -> Option<String> {
    let days = i64::from((today - born).get_days());
    if days < 0 || today.year() - born.year() > OLDEST {
        return None;
    }
    let months = i64::from(today.year() - born.year()) * 12
        + i64::from(today.month() - born.month())
        - i64::from(today.day() < born.day());
    Some(match (days, months) {
        (0..14, _) => many(days, "day"),
        (_, 0..3) => many(days / 7, "week"),
        (_, 3..12) => many(months, "month"),
        _ => many(months / 12, "year"),
    })
}

/// In years. A day that makes an animal older is a mistake.
const OLDEST: i16 = 120;

fn many(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A day that every reader understands in the same way, such as 3 May 2024.
pub(super) fn date(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// The title of the page about a problem, and what to do next.
pub(super) fn problem(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::NotFound => ("Not found", "Go to all animals."),
        Problem::InvalidParameter | Problem::InvalidCursor | Problem::InvalidRequest => {
            ("That address is not valid", "Go to all animals.")
        }
        Problem::MethodNotAllowed => ("That is not possible here", "Go to all animals."),
        Problem::HeadTooLarge => ("That address is too long", "Go to all animals."),
        Problem::OldVersion => ("That needs HTTP/1.1", "Go to all animals."),
        _ => ("Something went wrong", "Wait for a moment, then load the page again."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_days_weeks_months_or_years() {
        let today: Date = "2026-03-31".parse().unwrap();
        for (born, expected) in [
            ("2026-03-31", Some("0 days")),
            ("2026-03-30", Some("1 day")),
            ("2026-03-18", Some("13 days")),
            ("2026-03-17", Some("2 weeks")),
            ("2026-01-01", Some("12 weeks")),
            ("2025-12-31", Some("3 months")),
            ("2025-04-01", Some("11 months")),
            ("2025-03-31", Some("1 year")),
            ("2024-04-01", Some("1 year")),
            ("1996-03-31", Some("30 years")),
            ("2026-04-01", None),
            ("1906-04-01", Some("119 years")),
            ("1899-12-31", None),
        ] {
            assert_eq!(age(born.parse().unwrap(), today).as_deref(), expected, "{born}");
        }
        let leap_day = age("2024-02-29".parse().unwrap(), "2025-02-28".parse().unwrap());
        assert_eq!(leap_day.unwrap(), "11 months");
        assert_eq!(date("2024-05-03".parse().unwrap()), "3 May 2024");
    }
}
