//! Tests of `src/store/admin/audit.rs`.

use super::*;

#[test]
fn an_order_that_was_logged_before_it_had_a_price_or_a_contact_has_null() {
    let complete = |order: &str| {
        let mut order = order.to_owned();
        complete_order(&mut order);
        order
    };
    let older = r#"{"id":1,"note":"{\"price\":\"1\"}","version":1}"#;
    let shown = r#"{"id":1,"note":"{\"price\":\"1\"}","version":1,"price":null,"contact":null}"#;
    assert_eq!(complete(older), shown);
    assert_eq!(complete(shown), shown);
}
