//! Header fields for the collector of traces.

use petstore_observe::traces::parse_headers;

#[test]
fn values_are_decoded_and_hidden() {
    let (fields, warnings) = parse_headers(
        "api-key=s3cret, Authorization = Basic%20dXNlcg==,,empty=,a%2Cb=1,tenant=7%2C8",
    );
    assert_eq!(fields["api-key"], "s3cret");
    assert_eq!(fields["authorization"], "Basic dXNlcg==");
    assert_eq!(fields["empty"], "");
    assert_eq!(fields["tenant"], "7,8");
    assert!(!format!("{fields:?}").contains("s3cret"));
    // `%` may be part of a name.
    assert_eq!((fields.len(), warnings.len()), (5, 0));
}

#[test]
fn an_invalid_field_is_ignored_with_a_warning_that_does_not_show_it() {
    for bad in [
        "s3cret",
        "=s3cret",
        "a b=s3cret",
        "key=s3cret%0A",
        "Host=s3cret",
        "content-type=s3cret",
    ] {
        let (fields, warnings) = parse_headers(&format!("good=1,{bad}"));
        assert_eq!((fields.len(), warnings.len()), (1, 1), "{bad}");
        assert!(warnings[0].contains("item 2") && !warnings[0].contains("s3cret"));
    }
}
