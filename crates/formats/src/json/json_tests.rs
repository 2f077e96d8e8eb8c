//! Texts that the parser accepts, and texts that it rejects.

use proptest::prelude::*;

use super::*;

fn read_integer(text: &str) -> Option<i64> {
    as_integer(&serde_json::from_str::<Box<RawValue>>(text).unwrap())
}

#[test]
fn an_integer_is_a_number_without_a_fraction_within_int64() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("0e999999999999999999999", 0),
        ("1", 1),
        ("1.0", 1),
        ("-1.000", -1),
        ("1e2", 100),
        ("1.5e1", 15),
        ("1200E-2", 12),
        ("9007199254740993.0", 9_007_199_254_740_993),
        ("9223372036854775807", i64::MAX),
        ("922337203685477580.7e1", i64::MAX),
        ("-9223372036854775808.0", i64::MIN),
    ] {
        assert_eq!(read_integer(text), Some(value), "{text}");
    }
    for text in [
        "1.5",
        "1e-1",
        "9223372036854775808",
        "-9223372036854775809",
        "1e19",
        "1e400",
        "1e99999999999999999999",
        "\"1\"",
        "true",
        "null",
        "[1]",
        "{}",
    ] {
        assert_eq!(read_integer(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn every_int64_is_parsed_in_every_spelling(value: i64, zeros in 0..5_usize) {
        let padded = format!("{value}{}", "0".repeat(zeros));
        prop_assert_eq!(read_integer(&value.to_string()), Some(value));
        prop_assert_eq!(read_integer(&format!("{value}.{}", "0".repeat(zeros + 1))), Some(value));
        prop_assert_eq!(read_integer(&format!("{padded}e-{zeros}")), Some(value));
    }
}

#[test]
fn all_members_come_in_their_order_and_none_twice() {
    let member_names = |text: &str| -> Vec<String> {
        parse_members(text.as_bytes(), "It")
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    assert_eq!(member_names(r#"{"b": 1, "\u0061": [{}]}"#), ["b", "a"]);
    let error_message = |text: &str| {
        parse_members(text.as_bytes(), "It")
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error_message(r#"{"a": 1, "a": 1}"#),
        r#"It has the member "a" twice."#
    );
    assert_eq!(error_message("1"), "It must be a JSON object.");
    assert_eq!(
        error_message("{} x"),
        "It is not valid JSON, at line 1, column 4."
    );
    assert_eq!(
        error_message(&"[".repeat(65)),
        "It nests deeper than 64 levels."
    );
}

#[test]
fn the_elements_of_an_array_come_unparsed() {
    let element_texts = |text: &str| -> Vec<String> {
        parse_elements(text.as_bytes())
            .unwrap()
            .iter()
            .map(|value| value.get().to_owned())
            .collect()
    };
    assert_eq!(
        element_texts(r#"[1, {"a": [ ]},"x" ]"#),
        ["1", r#"{"a": [ ]}"#, "\"x\""]
    );
    for other in ["{}", "1", "null", "[1", "[1,]", "[1]]", ""] {
        assert!(parse_elements(other.as_bytes()).is_err(), "{other}");
    }
}
