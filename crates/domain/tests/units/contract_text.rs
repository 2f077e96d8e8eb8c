//! The text of a contract.

use petstore_domain::store_area::{ContractText, unknown_placeholder};

#[test]
fn names_take_the_place_of_the_placeholders_and_are_not_read_again() {
    let text = "{store} gives {animal} away.\n\n{animal}{store}";
    let contract = ContractText::new(text.to_owned()).unwrap();
    assert_eq!(
        contract.with_names("{store}", "Paws"),
        "Paws gives {store} away.\n\n{store}Paws"
    );
    let plain = ContractText::new("No names".to_owned()).unwrap();
    assert_eq!(plain.with_names("Luna", "Paws"), "No names");
}

#[test]
fn each_other_brace_is_refused_and_named() {
    for (text, unknown) in [
        ("{name} moves in", "{name}"),
        ("a {animal} and a {", "{"),
        ("a } b {animal}", "}"),
        ("{ animal }", "{ animal }"),
        ("{ani{store}mal}", "{animal}"),
    ] {
        assert_eq!(
            unknown_placeholder(text).as_deref(),
            Some(unknown),
            "{text}"
        );
        assert_eq!(ContractText::new(text.to_owned()), None, "{text}");
    }
    assert_eq!(unknown_placeholder("{animal} {store}"), None);
}
