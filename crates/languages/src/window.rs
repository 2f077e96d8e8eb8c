//! The texts of the pages for the public, including those about animals that the pages for the staff share.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use petstore_domain::{Problem, store_area::Age};

use super::declaration::texts;

texts! {
    // Texts about an animal that the pages for the public and for the staff share.
    no_name;
    yes;
    days(count: i64) -> String;
    weeks(count: i64) -> String;
    months(count: i64) -> String;
    years(count: i64) -> String;
    /// An estimated age, such as `about 3 years`.
    about(age: &str) -> String;
    /// An estimated birth of which only the year is known.
    around_year(year: &str) -> String;
    /// An estimated date of birth.
    around_day(day: &str) -> String;
    /// The label of the checkbox that marks a birth as estimated.
    birth_estimated;
    no;
    /// The alt text of a photo for which none was entered.
    photo(number: usize, name: &str, species: Option<&str>) -> String;

    // Texts of the pages for the public only.
    /// The language tag (BCP 47), such as `en-GB`.
    language;
    /// The locale for Open Graph, such as `en_GB`.
    locale;
    /// The separator between a label and its value. French has a space before the colon.
    colon;
    /// The opening and closing quotation marks.
    quotes: [&'static str; 2];
    /// The name of the language in that language.
    language_name;
    no_store;
    skip;
    list;
    pages;
    back;
    reserved;
    filter;
    kinds;
    /// The plural of the label that a species has in this language, such as `Dogs` for `Dog`. `None`
    /// for another label, and for one whose plural is the same.
    plural_of_species(species: &str) -> Option<&'static str>;
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
    /// Shown above the list if the link has unknown query parameters, which were ignored.
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
    /// The heading of the suggestions that are shown if a search finds nothing.
    perhaps;
    newest;
    new;
    one_year;
    request;
    found_a_home(name: &str) -> String;
    ask(name: &str) -> String;
    /// Shown in place of a link to the contact address, if the store has none.
    ask_here(name: &str, number: i64) -> String;
    /// The number of an animal, which people quote when they ask the store about it.
    number(number: i64) -> String;
    is_reserved(name: &str) -> String;
    photo_of(number: usize, count: usize) -> String;
    /// The number of animals. Above `most`, they were not counted exactly, so the text is "More than `most`".
    count(count: usize, most: usize) -> String;
    age_range(age: Age) -> &'static str;
    /// The description of the list for search engines.
    about_list(store: Option<&str>) -> String;
    /// The description for search engines of an animal that has no description of its own.
    about_animal(name: &str, kind: &[String], store: Option<&str>) -> String;
    /// The placeholder of the search field: a list of labels, such as `Name, breed, colour`.
    words(all: &[String]) -> String;
    /// The title of an error page, and what to do next.
    problem(problem: Problem) -> (&'static str, &'static str);
    /// Shown in place of a price of 0.
    free;
}
