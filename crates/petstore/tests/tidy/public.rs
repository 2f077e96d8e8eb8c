//! What the pages for the public are made of.

use super::files;

/// What the window reads of the row of an animal: whether its page is there, where it is in lists and files, and what a
/// filter compares. It shows nothing of it other than the name of an animal that has found a home.
const READ: [(&str, &[&str]); 8] = [
    ("animal_page.rs", &["name", "status", "withdrawal"]),
    ("arrival_order.rs", &["id"]),
    ("csv.rs", &["category_id"]),
    ("feed.rs", &["created_at"]),
    ("list_page.rs", &["category_id"]),
    ("returned_pets.rs", &["status", "withdrawal"]),
    (
        "selection.rs",
        &["category_id", "fields", "id", "name", "status"],
    ),
    (
        "sitemap.rs",
        &["and_then", "created_at", "id", "updated_at"],
    ),
];

#[test]
fn the_window_makes_its_pages_of_what_is_public_of_an_animal() {
    for (path, text) in files(&["crates/window/src"], ".rs") {
        assert!(!text.contains("Animal::whole"), "{}", path.display());
        let name = path.file_name().unwrap().to_str().unwrap();
        let allowed = READ
            .iter()
            .find(|(file, _)| *file == name)
            .map_or(&[][..], |(_, read)| read);
        let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
        for (at, _) in text.match_indices("pet.") {
            if text[..at].ends_with(is_in_word) {
                continue;
            }
            let member = text[at + 4..].split(|c| !is_in_word(c)).next().unwrap();
            assert!(allowed.contains(&member), "{name} reads pet.{member}");
        }
    }
}

/// The types through which the window could write to a store or to the files of photos.
const WRITERS: [&str; 3] = ["App", "Photos", "Store"];

#[test]
fn the_window_names_no_type_through_which_it_could_write() {
    for (path, text) in files(&["crates/window/src"], ".rs") {
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(
                !words.any(|word| WRITERS.contains(&word)),
                "{}: {line}",
                path.display()
            );
        }
    }
}
