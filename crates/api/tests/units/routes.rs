//! What holds for the table of operations.

use std::collections::BTreeSet;

use petstore_api::routes::{Access, ROUTES};

#[test]
fn no_path_has_more_than_two_parameters() {
    for route in &ROUTES {
        assert!(
            route.label.path.matches('{').count() <= 2,
            "{} has more than two parameters",
            route.label.id
        );
    }
}

#[test]
fn every_path_under_v1_needs_a_key_and_no_other_path_does() {
    for route in &ROUTES {
        let is_under_v1 = route.label.path.starts_with("/v1/");
        assert_eq!(
            route.target.access != Access::Public,
            is_under_v1,
            "{}",
            route.label.id
        );
    }
}

#[test]
fn no_two_operations_have_the_same_id_or_the_same_method_and_path() {
    let ids: BTreeSet<_> = ROUTES.iter().map(|route| route.label.id).collect();
    let places: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| (route.label.path, route.method.as_str()))
        .collect();
    assert_eq!((ids.len(), places.len()), (ROUTES.len(), ROUTES.len()));
}
