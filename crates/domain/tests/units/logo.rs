//! The logo of a store.

use petstore_domain::store_area::{Logo, NewLogo};

#[test]
fn the_path_of_a_logo_names_it() {
    let logo = NewLogo::new(b"png".to_vec(), 512, 7).logo;
    assert_eq!(Logo::from_path(&logo.path()), Some(logo));
    assert!(logo.path().ends_with("200007.png"), "{}", logo.path());
    for other in [
        "",
        "x",
        "+000000000000000200007",
        "0000000000000000200007é",
        "A00000000000000f200007",
    ] {
        assert_eq!(Logo::parse(other), None, "{other}");
    }
}

#[test]
fn a_logo_that_nobody_would_see_is_too_flat() {
    for (width, height) in [(16, 16), (192, 16), (512, 43), (16, 48), (2000, 2000)] {
        assert!(!Logo::is_too_flat(width, height), "{width}×{height}");
    }
    for (width, height) in [
        (0, 0),
        (1, 1),
        (15, 16),
        (16, 15),
        (2000, 2),
        (193, 16),
        (16, 49),
    ] {
        assert!(Logo::is_too_flat(width, height), "{width}×{height}");
    }
}
