//! Tests of `src/http/store_area/cursor.rs`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn a_cursor_is_valid_only_for_its_own_walk(
        list in PETS..=CATEGORIES,
        filters in proptest::collection::vec(proptest::option::of("[a-c]{0,2}"), 2),
        others in proptest::collection::vec(proptest::option::of("[a-c]{0,2}"), 2),
        key in "[^\0]{0,64}",
        id: i64,
    ) {
        let walk = |list, filters: &[Option<String>]| {
            Walk::new(list, &filters.iter().map(Option::as_deref).collect::<Vec<_>>())
        };
        let cursor = walk(list, &filters).encode(&key, id);
        prop_assert!(cursor.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
        prop_assert!(cursor.len() <= 600);
        let position = walk(list, &filters).decode(&cursor).ok();
        prop_assert_eq!(position, Some((key, id)));
        prop_assert_eq!(walk(list, &others).decode(&cursor).is_ok(), filters == others);
        prop_assert!(walk(list % 3 + 2, &filters).decode(&cursor).is_err());
    }
}

#[test]
fn a_key_with_u_0000_is_invalid() {
    let walk = Walk::new(PETS, &[]);
    assert!(walk.decode(&walk.encode("a\0", 7)).is_err());
}
