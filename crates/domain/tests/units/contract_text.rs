//! The text of a contract.

use petstore_domain::store_area::{ContractText, Placeholder, find_unknown_placeholder};

/// A value for each placeholder. That of the animal looks like a placeholder.
fn value_of(placeholder: Placeholder) -> String {
    match placeholder {
        Placeholder::Animal => "{store}",
        Placeholder::Store => "Paws",
        Placeholder::Microchip => "276",
        Placeholder::Fee => "€95",
        Placeholder::Adopter => "Ann",
        Placeholder::Date => "today",
    }
    .to_owned()
}

fn fill(text: &str) -> String {
    ContractText::new(text.to_owned()).unwrap().fill(value_of)
}

#[test]
fn values_take_the_place_of_the_placeholders_and_are_not_read_again() {
    let text = "{store} gives {animal} away.\n\n{animal}{store}";
    assert_eq!(fill(text), "Paws gives {store} away.\n\n{store}Paws");
    let text = "{microchip}, {fee}, {adopter}, {date}.";
    assert_eq!(fill(text), "276, €95, Ann, today.");
    assert_eq!(fill("No names"), "No names");
}

#[test]
fn each_other_brace_is_refused_and_named() {
    for (text, unknown) in [
        ("{name} moves in", "{name}"),
        ("a {animal} and a {", "{"),
        ("a } b {animal}", "}"),
        ("{ animal }", "{ animal }"),
        ("{ani{store}mal}", "{ani{store}"),
        ("{st{animal}ore}", "{st{animal}"),
    ] {
        assert_eq!(
            find_unknown_placeholder(text).as_deref(),
            Some(unknown),
            "{text}"
        );
        assert_eq!(ContractText::new(text.to_owned()), None, "{text}");
    }
    assert_eq!(find_unknown_placeholder("{animal} {store} {date}"), None);
}
