//! The texts of the pages for the public, and the texts about animals that the pages for the staff have, too.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::{Problem, store_area::Age};

use super::declaration::texts;

texts! {
    // The texts about an animal that the pages for the public and those for the staff have.
    no_name;
    yes;
    days(count: i64) -> String;
    weeks(count: i64) -> String;
    months(count: i64) -> String;
    years(count: i64) -> String;
    /// An estimated age.
    about(age: &str) -> String;
    /// An estimated year of birth.
    around_year(year: &str) -> String;
    /// An estimated day of birth.
    around_day(day: &str) -> String;
    /// The label of the mark of an estimated birth.
    birth_estimated;
    no;
    /// The alt text of a photo without one of its own.
    photo(number: usize, name: &str, species: Option<&str>) -> String;

    // The texts of the pages.
    /// The tag of the language (BCP 47).
    language;
    /// The tag of the language and of a country (Open Graph).
    locale;
    /// Between a label and a value.
    colon;
    /// The quotation marks before and after a text.
    quotes: [&'static str; 2];
    /// The name of the language in itself.
    language_name;
    no_store;
    skip;
    list;
    pages;
    back;
    reserved;
    filter;
    kinds;
    search;
    more;
    without;
    name;
    age;
    kind;
    newest_first;
    longest_first;
    chosen;
    take_off;
    any;
    show;
    clear;
    next;
    first;
    /// Above the list of a link with parameters that the page does not know.
    link_not_understood;
    none_found;
    none_here_yet;
    none_at_all;
    contact;
    feed;
    /// The label of the opening hours.
    hours;
    gone;
    gone_next;
    photos;
    close;
    previous_photo;
    next_photo;
    similar;
    /// Above other animals, where a search finds none.
    perhaps;
    newest;
    new;
    one_year;
    request;
    found_a_home(name: &str) -> String;
    ask(name: &str) -> String;
    /// The sentence that says how somebody asks without an address.
    ask_here(name: &str, number: i64) -> String;
    /// The number of an animal, by which the store knows which one somebody means.
    number(number: i64) -> String;
    is_reserved(name: &str) -> String;
    photo_of(number: usize, count: usize) -> String;
    /// How many animals there are, if at most `most`.
    count(count: usize, most: usize) -> String;
    age_range(age: Age) -> &'static str;
    /// The description of the list in a search engine.
    about_list(store: Option<&str>) -> String;
    /// The description in a search engine of an animal that has none.
    about_animal(name: &str, kind: &[String], store: Option<&str>) -> String;
    /// The list of what a search looks through. The words after the first one are within the list.
    words(all: &[String]) -> String;
    /// The title of the page about a problem, and what to do next.
    problem(problem: Problem) -> (&'static str, &'static str);
    /// A price of 0.
    free;
}
