//! Decimal numbers.

use petstore_domain::store_area::Decimal;

#[test]
fn a_decimal_has_12_digits_before_the_point_and_4_after_it_and_stays_as_it_was_written() {
    for valid in [
        "0",
        "-0",
        "7",
        "007",
        "249.00",
        "-0.5",
        "999999999999.9999",
        "-999999999999.9999",
    ] {
        assert_eq!(Decimal::new(valid).unwrap().as_str(), valid);
    }
    let invalid = [
        "",
        "-",
        ".",
        ".5",
        "5.",
        "-.5",
        "+5",
        "--5",
        "1,5",
        "1e3",
        " 5",
        "5 ",
        "5.-1",
        "1.2.3",
        "٣",
        "0x1",
        "NaN",
        "1000000000000",
        "0.00001",
        "0000000000001",
    ];
    for invalid in invalid {
        assert_eq!(Decimal::new(invalid), None, "{invalid:?}");
    }
}

#[test]
fn decimals_are_compared_as_numbers() {
    let number = |text: &str| Decimal::new(text).unwrap().ten_thousandths();
    assert_eq!(number("249"), number("249.00"));
    assert_eq!(number("0.5"), 5_000);
    assert_eq!(number("0.0005"), 5);
    assert_eq!(number("-0"), number("0"));
    assert_eq!(number("-999999999999.9999"), -9_999_999_999_999_999);
    assert!(number("-1.5") < number("-1.4999"));
    assert!(number("9.9") < number("10"));
}
