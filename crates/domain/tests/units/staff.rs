//! Names and roles of the staff.

use petstore_domain::{Role, StaffName};

#[test]
fn a_name_is_one_line_of_1_to_64_characters_and_equal_without_case_and_accents() {
    let longest = "é".repeat(64);
    for name in ["Ana", " Zoé Müller ", "李小龍", "O'Neill <b>", &longest] {
        assert_eq!(StaffName::new(name).unwrap().as_str(), name.trim());
    }
    for bad in [
        "",
        "  ",
        "a\nb",
        "a\u{202e}b",
        "a\u{200b}",
        "\u{301}",
        &"a".repeat(65),
    ] {
        assert_eq!(StaffName::new(bad), None, "{bad:?}");
    }
    let key = |name| StaffName::new(name).unwrap().key();
    assert_eq!(key("Zoé"), key("ZOE"));
    assert_ne!(key("Zoe"), key("Zoi"));
}

#[test]
fn each_role_includes_those_before_it() {
    assert!(Role::Viewer < Role::Clerk && Role::Clerk < Role::Manager);
    for role in Role::ALL {
        assert_eq!(role.as_str().parse(), Ok(role));
    }
}
