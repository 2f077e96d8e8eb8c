//! Idempotency keys and fingerprints.

use petstore_domain::{IdempotencyKey, NewPet, PetName, PetStatus, idempotency::fingerprint};

#[test]
fn a_key_has_1_to_255_visible_characters() {
    let longest = "k".repeat(255);
    for valid in [
        "k",
        "8e03978e-40d5-43dd-bc93-6894a57f9324",
        "!\"\\~",
        &longest,
    ] {
        assert_eq!(
            IdempotencyKey::new(valid.to_owned()).unwrap().as_str(),
            valid
        );
    }
    for invalid in [
        "",
        " ",
        "a b",
        "a\tb",
        "a\0",
        "\u{7f}",
        "é",
        &"k".repeat(256),
    ] {
        assert_eq!(IdempotencyKey::new(invalid.to_owned()), None, "{invalid:?}");
    }
}

#[test]
fn each_part_of_an_animal_changes_the_fingerprint() {
    let of = |name: &str, category_id, status| {
        let name = PetName::new(name.to_owned()).unwrap();
        fingerprint(&NewPet {
            name,
            category_id,
            status,
            is_listed: true,
        })
    };
    let animal = of("sold", 1, PetStatus::Sold);
    assert_eq!(animal, of("sold", 1, PetStatus::Sold));
    for other in [
        of("Sold", 1, PetStatus::Sold),
        of("", 1, PetStatus::Sold),
        of("sold", -1, PetStatus::Sold),
        of("sold", 1, PetStatus::Pending),
    ] {
        assert_ne!(animal, other);
    }
}
