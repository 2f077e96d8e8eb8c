//! Passwords of staff.

use petstore_domain::staff::{Password, PasswordHash, StaffName, WeakPassword};
use rand::{SeedableRng, rngs::StdRng};

#[test]
fn a_password_has_at_least_12_characters_and_is_not_common_and_has_no_other_rules() {
    let name = StaffName::new("Maria Magdalena").unwrap();
    let chosen = |text: &str| Password::new(text, &name, Some("Tierschutzverein Köln e.V.")).err();
    for good in [
        "correct horse battery",
        "aaaaaaaaaaab",
        "            x",
        "ééééééééééèé",
    ] {
        assert_eq!(chosen(good), None, "{good}");
    }
    let common = include_str!("../../src/staff/common-passwords.txt");
    assert!(common.lines().count() > 200 && common.lines().all(|known| known.len() >= 12));
    assert_eq!(chosen("elevenchars"), Some(WeakPassword::Short));
    assert_eq!(chosen(&"ab".repeat(128)), None);
    assert_eq!(chosen(&"ab".repeat(129)), Some(WeakPassword::Long));
    for common in [
        "1qaz2wsx3edc",
        "QWERTY123456",
        "aaaaaaaaaaaa",
        "maria magdalena",
        "Maria Magdalena1",
        "petstore-2026",
        "petstorepetstore",
    ] {
        assert_eq!(chosen(common), Some(WeakPassword::Common), "{common}");
    }
}

#[test]
fn common_words_of_each_language_with_digits_are_refused_and_phrases_are_not() {
    let name = StaffName::new("Ana").unwrap();
    let store = Some("Tierschutzverein Köln e.V.");
    let chosen = |text: &str| Password::new(text, &name, store).err();
    for common in [
        "passwort12345",
        "Passwort!2026",
        "P4ssw0rt1234567890",
        "pa$$word2026!",
        "password1password",
        "motdepasse123",
        "Motdepasse2026!",
        "contraseña123",
        "contrasena2026",
        "geheimgeheim1",
        "Willkommen2026",
        "bienvenue2026",
        "qwertz1234567",
        "azertyuiop123",
        "Sommer2026Sommer",
        "ichliebedich1",
        "tierschutzverein1",
        "Tierschutzverein-Koeln",
        "KÖLN2026köln",
        "ana123456789",
        "we1come12345",
        "Marzo2026Marzo",
        "febrero12345",
        "Otoño2026!!!",
        "März2026März",
        "herbst-2026-herbst",
        "minou2026minou",
        "perro12345678",
        "teamo-teamo-1",
        "hund2026hund!",
    ] {
        assert_eq!(chosen(common), Some(WeakPassword::Common), "{common}");
    }
    for good in [
        "four quiet otters swim",
        "correct horse battery",
        "Katze tanzt im Regen",
        "vier leise Otter baden",
        "mi perro come tres peras",
        "le chat dort sur la lune",
        "928374650192",
        "kW7fQz2pLx9v",
        "banana-mandarin-8",
    ] {
        assert_eq!(chosen(good), None, "{good}");
    }
}

#[test]
fn a_hash_is_that_of_one_password_however_it_was_typed() {
    let random = &mut StdRng::seed_from_u64(1);
    let password = |text| Password::from_input(text).unwrap();
    let hash = password("caf\u{e9} on the corner").hash(random);
    assert!(hash.matches(&password("cafe\u{301} on the corner")));
    assert!(!hash.matches(&password("Caf\u{e9} on the corner")));
    // With another salt each time.
    let again = password("caf\u{e9} on the corner").hash(random);
    assert_ne!(hash.as_bytes()[16..], again.as_bytes()[16..]);
    assert_eq!(PasswordHash::from_bytes(hash.as_bytes()), Some(hash));
    assert!(!PasswordHash::unmatchable().matches(&password("")));
}
