//! The texts of the pages.

use crate::{
    domain::store_area::{Age, Currency},
    edge::Problem,
};

pub(super) const LANGUAGE: &str = "en";
pub(super) const NO_STORE: &str = "Our animals";
pub(super) const SKIP: &str = "Skip to content";
pub(super) const LIST: &str = "Meet our animals";
pub(super) const LATER_PAGE: &str = "More animals";
pub(super) const BACK: &str = "All animals";
pub(super) const RESERVED: &str = "Reserved";
pub(super) const FILTER: &str = "Filter";
pub(super) const KINDS: &str = "Kinds of animals";
pub(super) const SEARCH: &str = "Search";
pub(super) const MORE: &str = "More";
pub(super) const WITHOUT: &str = "Without ";
pub(super) const NAME: &str = "Name";
pub(super) const AGE: &str = "Age";
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
pub(super) const CONTACT: &str = "Contact us";
pub(super) const FEED: &str = "New animals as a feed";
pub(super) const GONE: &str = "This animal is no longer here";
pub(super) const GONE_NEXT: &str = "Others are still looking for a home.";
pub(super) const PHOTOS: &str = "Photos";
pub(super) const CLOSE: &str = "Close";
pub(super) const PREVIOUS_PHOTO: &str = "Previous photo";
pub(super) const NEXT_PHOTO: &str = "Next photo";
pub(super) const SIMILAR: &str = "Similar animals";
pub(super) const NEWEST: &str = "Our newest animals";
pub(super) const NEW: &str = "New";
pub(super) const ONE_YEAR: &str = "With us for over a year";
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

pub(super) fn photo_of(number: usize, count: usize) -> String {
    format!("Photo {number} of {count}")
}

/// How many animals there are, if at most `most`.
pub(super) fn count(count: usize, most: usize) -> String {
    match count {
        1 => "1 animal".to_owned(),
        _ if count > most => format!("More than {} animals", in_digits(most)),
        _ => format!("{} animals", in_digits(count)),
    }
}

/// The name of a parameter that is of no field.
pub(super) fn parameter(name: &str) -> &'static str {
    match name {
        "age" => AGE,
        "name" => NAME,
        "q" => SEARCH,
        _ => KIND,
    }
}

pub(super) fn age(age: Age) -> &'static str {
    match age {
        Age::UnderOne => "Under 1 year",
        Age::OneToThree => "1 to 3 years",
        Age::ThreeToEight => "3 to 8 years",
        Age::EightOrMore => "8 years or older",
    }
}

/// The same in few letters.
pub(super) fn number_of(count: usize, most: usize) -> String {
    let more = if count > most { "+" } else { "" };
    in_digits(count.min(most)) + more
}

/// A number below a million.
fn in_digits(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, number) => number.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
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

/// A price with its currency.
pub(super) fn price(price: &str, currency: Option<&Currency>) -> String {
    currency.map_or_else(|| price.to_owned(), |currency| currency.amount(price))
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
