//! Tests of `src/edge/trace.rs`.

use super::*;

#[test]
fn only_a_valid_traceparent_names_a_parent() {
    let trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    let span_id = "00f067aa0ba902b7";
    let is = |text: &str, is_sampled: bool| {
        let value = HeaderValue::from_str(text).unwrap();
        assert_eq!(parse(&value), Some(Parent { trace_id, span_id, is_sampled }), "{text}");
    };
    let valid = format!("00-{trace_id}-{span_id}-01");
    is(&valid, true);
    is(&format!("00-{trace_id}-{span_id}-00"), false);
    is(&format!("cc{}-more", &valid[2..]), true);
    for invalid in [
        "",
        trace_id,
        &valid[..valid.len() - 1],
        &format!("{valid}-more"),
        &format!("ff{}", &valid[2..]),
        &valid.to_uppercase(),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    ] {
        let value = HeaderValue::from_str(invalid).unwrap();
        assert_eq!(parse(&value), None, "{invalid}");
    }
}

#[test]
fn two_parents_are_both_ignored() {
    let mut headers = HeaderMap::new();
    assert_eq!(parent(&headers), None);
    for (trace, is_taken) in ["4", "5"].into_iter().zip([true, false]) {
        let text = format!("00-{}-00f067aa0ba902b7-01", trace.repeat(32));
        headers.append("traceparent", text.parse().unwrap());
        assert_eq!(parent(&headers).is_some(), is_taken);
    }
}
