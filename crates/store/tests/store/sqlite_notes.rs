//! SQLite: what remains of deleted and corrected notes in the file.

use std::fs;

use petstore_domain::{PetStatus::Available, store_area::Command};
use petstore_testing::{
    area::{add, change},
    stores::new_pet,
};

use crate::{
    area_notes::{add_note, correct, edit},
    sqlite::fresh,
};

const NOTES: usize = 300;

/// A text with this number, and of any length.
fn content(number: usize, version: usize) -> String {
    let length = number * 7_919 * version % 990;
    format!("<{number:03} {version}>{}", "x".repeat(length))
}

#[tokio::test]
async fn of_a_deleted_or_corrected_note_the_file_has_no_copy() {
    let (store, directory) = fresh();
    let pet = add(&store, new_pet("Rex", 1, Available)).await;
    let mut notes = Vec::new();
    for number in 0..NOTES {
        notes.push(add_note(&store, pet, &content(number, 1)).await);
    }
    // In an order that mixes old and new ones.
    let mixed = || (0..NOTES).map(|number| number * 7 % NOTES);
    for number in mixed().filter(|number| number % 2 == 0) {
        let text = content(number, 2);
        change(&store, correct(edit(&notes[number]), &text)).await;
    }
    for number in mixed().filter(|number| number % 5 != 0) {
        change(&store, Command::DeleteNote(edit(&notes[number]))).await;
    }
    drop(store);

    let file = fs::read(directory.path().join("petstore.db")).unwrap();
    let mut found: Vec<_> = file
        .windows(7)
        .filter(|part| part[0] == b'<' && part[6] == b'>')
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    found.sort();
    let kept = (0..NOTES).filter(|number| number % 5 == 0);
    let expected: Vec<_> = kept
        .map(|number| format!("<{number:03} {}>", if number % 2 == 0 { 2 } else { 1 }))
        .collect();
    assert_eq!(found, expected);
}
