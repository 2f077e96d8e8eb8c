//! Header fields for the collector, which usually hold a secret.

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
};
use percent_encoding::percent_decode_str;

/// The header fields that the exporter sets.
const OWN: [HeaderName; 5] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TRANSFER_ENCODING,
];

/// The fields in the value of `OTEL_EXPORTER_OTLP_HEADERS`, such as `api-key=secret,tenant=7`, and
/// a warning for each that is ignored because it is invalid. No warning contains a part of the
/// value, because any part may be a secret.
pub fn headers(text: &str) -> (HeaderMap, Vec<String>) {
    let (mut headers, mut warnings) = (HeaderMap::new(), Vec::new());
    let pairs = text.split(',').zip(1..).filter(|(pair, _)| !pair.trim().is_empty());
    for (pair, number) in pairs {
        if let Some((name, value)) = field(pair) {
            headers.append(name, value);
        } else {
            warnings.push(format!(
                "OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,name=value, with \
                 values in percent-encoding and without fields that the service sets itself; \
                 item {number} is ignored"
            ));
        }
    }
    (headers, warnings)
}

fn field(pair: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = pair.split_once('=')?;
    let name: HeaderName = name.trim().parse().ok()?;
    let value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut value = HeaderValue::from_bytes(&value).ok()?;
    value.set_sensitive(true);
    (!OWN.contains(&name)).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_hidden() {
        let (fields, warnings) = headers(
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
            let (fields, warnings) = headers(&format!("good=1,{bad}"));
            assert_eq!((fields.len(), warnings.len()), (1, 1), "{bad}");
            assert!(warnings[0].contains("item 2") && !warnings[0].contains("s3cret"));
        }
    }
}
