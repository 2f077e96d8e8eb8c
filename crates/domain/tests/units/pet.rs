//! Identifiers, statuses and names of animals.

use petstore_domain::{PetId, PetName, PetStatus};

#[test]
fn an_id_is_between_1_and_2_to_the_53_minus_1() {
    for outside in [i64::MIN, -1, 0, PetId::MAX + 1, i64::MAX] {
        assert_eq!(PetId::new(outside), None, "{outside}");
    }
    for inside in [1, 2, 9_007_199_254_740_991] {
        assert_eq!(PetId::new(inside).map(PetId::get), Some(inside));
    }
}

#[test]
fn a_status_is_parsed_only_from_its_own_text() {
    for status in PetStatus::ALL {
        assert_eq!(status.as_str().parse(), Ok(status));
    }
    for other in ["", "Available", "available ", "adopted"] {
        let unknown = other.parse::<PetStatus>().unwrap_err().to_string();
        assert_eq!(unknown, "not one of available, pending and sold");
    }
}

#[test]
fn any_name_without_u_0000_and_up_to_64_kib_is_stored_unchanged() {
    let longest = "n".repeat(64 << 10);
    for valid in ["", " ", "*Seth", "Zoë", "\u{1}\u{10FFFF}", &longest] {
        assert_eq!(PetName::new(valid.to_owned()).unwrap().as_str(), valid);
    }
    assert_eq!(PetName::new("a\0b".to_owned()), None);
    assert_eq!(PetName::new(longest + "n"), None);
}
