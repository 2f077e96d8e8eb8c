//! The texts of an order.

use petstore_domain::store_area::Text;

#[test]
fn a_text_has_a_maximum_length_in_characters_and_no_u_0000() {
    assert_eq!(Text::<3>::new("äöü".to_owned()).unwrap().as_str(), "äöü");
    assert!(Text::<3>::new(String::new()).is_some());
    assert_eq!(Text::<3>::new("äöüa".to_owned()), None);
    assert_eq!(Text::<3>::new("a\0".to_owned()), None);
}
