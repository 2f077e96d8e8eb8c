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
