//! Tests of `src/observe/traces/collector.rs`.

use super::*;

#[test]
fn the_path_for_traces_is_added_to_the_address() {
    for (text, url) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://collector.example/", "https://collector.example/v1/traces"),
        ("http://[::1]:4318/otlp/", "http://[::1]:4318/otlp/v1/traces"),
    ] {
        assert_eq!(text.parse::<Endpoint>().unwrap().0.as_str(), url);
    }
    for bad in [
        "",
        "127.0.0.1:4318",
        "http://",
        "grpc://collector",
        "http://me@collector/",
        "http://:secret@collector/",
        "http://collector/?token=1",
        "http://collector/#traces",
    ] {
        assert!(bad.parse::<Endpoint>().is_err(), "{bad}");
    }
}
