//! The spelling of subjects and actors.

use petstore_domain::{Actor, store_area::JournalSubject};

#[test]
fn a_subject_has_one_spelling() {
    for text in [
        "pet:7",
        "pet:-7",
        "order:9223372036854775807",
        "key:0",
        "pets",
        "database",
    ] {
        assert_eq!(JournalSubject::parse(text).unwrap().to_string(), text);
    }
    for text in [
        "",
        "pet",
        "pet:",
        "pet:07",
        "pet:+7",
        "pet:x",
        "pets:7",
        "database:1",
        "dog:7",
    ] {
        assert_eq!(JournalSubject::parse(text), None, "{text}");
    }
}

#[test]
fn the_type_of_any_release_names_its_subject() {
    let of = |text| JournalSubject::from_type(text, Some(1)).map(|subject| subject.to_string());
    assert_eq!(of("pet.added"), Some("pet:1".to_owned()));
    assert_eq!(of("photo.taken_down"), Some("photo:1".to_owned()));
    for text in [
        "",
        "photo",
        "photo.",
        ".taken",
        "a photo.taken",
        "photo.t\"",
        "a_b.c",
        "a.b.c",
    ] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn an_actor_has_one_spelling() {
    for text in ["key:3", "staff:1", "clock", "command", "database"] {
        assert_eq!(Actor::parse(text).unwrap().to_string(), text);
    }
    for text in ["", "key", "key:", "key:03", "clock:1", "Clock"] {
        assert_eq!(Actor::parse(text), None, "{text}");
    }
}
