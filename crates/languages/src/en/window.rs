//! The English texts of the pages for the public, and of what the pages for the staff share with them.

use petstore_domain::{
    Problem,
    store_area::{Age, FieldLabels},
};

use crate::{numbers::Numbers, window::Texts};

#[rustfmt::skip]
pub(crate) static NUMBERS: Numbers = Numbers {
    decimal_point: '.',
    group_separator: ',',
    grouped_from: 4,
    currency_first: true,
    months: [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ],
    date: |day, month, year| format!("{day}\u{a0}{month}\u{a0}{year}"),
    // British or American.
    day_first: false,
};

#[rustfmt::skip]
pub(crate) static FIELDS: [FieldLabels; 17] = [
    FieldLabels::new("species", "Species", &[]),
    FieldLabels::new("breed", "Breed", &[]),
    FieldLabels::new("sex", "Sex", &[]),
    FieldLabels::new("born", "Born", &[]),
    FieldLabels::new("colour", "Colour", &[]),
    FieldLabels::new("size", "Size", &[]),
    FieldLabels::new("description", "Description", &[]),
    FieldLabels::new("price", "Price", &[]),
    FieldLabels::new("microchip", "Microchip", &[]),
    // Those of a shelter.
    FieldLabels::new("good_with_children", "Good with children", &[]),
    FieldLabels::new("good_with_dogs", "Good with dogs", &[]),
    FieldLabels::new("good_with_cats", "Good with cats", &[]),
    FieldLabels::new("neutered", "Neutered", &[]),
    FieldLabels::new("house_trained", "House-trained", &[]),
    FieldLabels::new("intake", "With us since", &[]),
    // "Born here" is the same.
    FieldLabels::new("intake_kind", "How it arrived", &[("Found", "Stray"), ("Surrendered", "Given up by owner"), ("Returned", "Returned by adopter"), ("Transferred", "Transferred in")]),
    FieldLabels::new("place", "Kennel or pen", &[]),
];

pub(crate) static TEXTS: Texts = Texts {
    // The texts about an animal that the pages for the public and those for the staff have.
    no_name: "No name yet",
    yes: "Yes",
    days: |count| many(count, "day"),
    weeks: |count| many(count, "week"),
    months: |count| many(count, "month"),
    years: |count| many(count, "year"),
    about: |age| format!("about {age}"),
    around_year: |year| format!("around {year}"),
    around_day: |day| format!("around {day}"),
    birth_estimated: "Date of birth estimated",
    no: "No",
    photo: |number, name, species| {
        let species = species.map(|species| format!(", {}", species.to_lowercase()));
        format!(
            "Photo {number} of {}{}",
            called(name),
            species.unwrap_or_default()
        )
    },

    // The texts of the pages.
    language: "en",
    locale: "en_GB",
    colon: ": ",
    quotes: ["“", "”"],
    language_name: "English",
    no_store: "Our animals",
    skip: "Skip to content",
    list: "Meet our animals",
    pages: "Pages",
    back: "All animals",
    reserved: "Reserved",
    filter: "Filter",
    kinds: "Kinds of animal",
    plural_of_species: |species| match species {
        "Dog" => Some("Dogs"),
        "Cat" => Some("Cats"),
        "Rabbit" => Some("Rabbits"),
        "Small mammal" => Some("Small mammals"),
        "Bird" => Some("Birds"),
        "Reptile" => Some("Reptiles"),
        "Horse" => Some("Horses"),
        _ => None,
    },
    search: "Search",
    more: "More filters",
    without: "Without ",
    name: "Name",
    age: "Age",
    kind: "Category",
    newest_first: "Newest first",
    longest_first: "Longest with us first",
    chosen: "Chosen filters",
    take_off: "Remove ",
    any: "Any",
    show: "Show animals",
    clear: "Show all",
    next: "More animals",
    first: "Back to the newest",
    link_not_understood: "Part of this link was not understood, and was ignored.",
    none_found: "No animals match your search.",
    none_here_yet: "No match among these animals. Continue to the next page.",
    none_at_all: "No animals are looking for a home at the moment. Come back soon.",
    contact: "Contact us",
    feed: "Subscribe to new animals (RSS)",
    hours: "Opening hours",
    gone: "This animal is no longer here",
    gone_next: "Others are still looking for a home.",
    photos: "Photos",
    close: "Close",
    previous_photo: "Previous photo",
    next_photo: "Next photo",
    similar: "Similar animals",
    perhaps: "You might also like",
    newest: "Our newest animals",
    new: "Newly listed",
    one_year: "With us for over a year",
    request: "Error code ",
    found_a_home: |name| format!("{} has found a home", called_first(name)),
    ask: |name| format!("Ask about {}", called(name)),
    ask_here: |name, number| format!("Ask us about {}, number {number}.", called(name)),
    number: |number| format!("Number {number}"),
    is_reserved: |name| format!("{} is reserved at the moment.", called_first(name)),
    photo_of: |number, count| format!("Photo {number} of {count}"),
    count: |count, most| match count {
        1 => "1 animal".to_owned(),
        _ if count > most => format!("More than {} animals", in_digits(most)),
        _ => format!("{} animals", in_digits(count)),
    },
    age_range: |age| match age {
        Age::UnderOne => "Under 1 year",
        Age::UnderThree => "Under 3 years",
        Age::OneToThree => "1–2 years",
        Age::ThreeToEight => "3–7 years",
        Age::EightOrMore => "8 years or older",
    },
    about_list: |store| match store {
        Some(store) => format!("Animals at {store} that are looking for a home, newest first"),
        None => "Animals that are looking for a home, newest first".to_owned(),
    },
    about_animal: |name, kind, store| {
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!(" ({})", kind.join(", "))
        };
        let at = store
            .map(|store| format!(" at {store}"))
            .unwrap_or_default();
        format!("{}{kind}{at} is looking for a home", called_first(name))
    },
    words: crate::join_in_sentence_case,
    problem: |problem| match problem {
        Problem::NotFound => ("Not found", "See all our animals."),
        Problem::InvalidParameter | Problem::InvalidCursor | Problem::InvalidRequest => {
            ("That address is not valid", "See all our animals.")
        }
        Problem::MethodNotAllowed => ("That is not possible here", "See all our animals."),
        Problem::HeadTooLarge => ("That address is too long", "See all our animals."),
        Problem::OldVersion => ("That needs HTTP/1.1", "See all our animals."),
        _ => (
            "Something went wrong",
            "Wait a moment, then reload the page.",
        ),
    },
    free: "Free",
};

/// The name of an animal within a sentence.
fn called(name: &str) -> &str {
    if name == TEXTS.no_name {
        "this animal"
    } else {
        name
    }
}

/// The name of an animal at the beginning of a sentence.
fn called_first(name: &str) -> &str {
    if name == TEXTS.no_name {
        "This animal"
    } else {
        name
    }
}

/// A number in groups.
pub(crate) fn in_digits(number: usize) -> String {
    NUMBERS.integer(number)
}

fn many(count: i64, what: &str) -> String {
    format!("{count}\u{a0}{what}{}", if count == 1 { "" } else { "s" })
}
